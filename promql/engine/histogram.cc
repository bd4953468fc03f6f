// histogram_quantile and histogram_fraction of functions.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "promql/engine/functions.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Bucket {
  double bound = 0;
  double count = 0;  // cumulative
};

// Equal to twelve digits: the noise of summing floats, not a bucket that lost observations.
bool NearlyEqual(double a, double b) {
  if (a == b) return true;
  const double sum = std::fabs(a) + std::fabs(b);
  const double difference = std::fabs(a - b);
  constexpr double kTolerance = 1e-12;
  constexpr double kSmallestNormal = std::numeric_limits<double>::min();
  if (a == 0 || b == 0 || sum < kSmallestNormal) return difference < kTolerance * kSmallestNormal;
  return difference / std::min(sum, std::numeric_limits<double>::max()) < kTolerance;
}

// Sorted by bound; equal bounds added together.
void Merge(std::vector<Bucket>* buckets) {
  std::stable_sort(buckets->begin(), buckets->end(),
                   [](const Bucket& a, const Bucket& b) { return a.bound < b.bound; });
  std::vector<Bucket> merged;
  for (const Bucket& bucket : *buckets) {
    if (!merged.empty() && merged.back().bound == bucket.bound) {
      merged.back().count += bucket.count;
    } else {
      merged.push_back(bucket);
    }
  }
  *buckets = std::move(merged);
}

// The same, and counts never fall.
void Normalize(std::vector<Bucket>* buckets, Dialect dialect) {
  Merge(buckets);
  double highest = buckets->front().count;
  for (Bucket& bucket : *buckets) {
    const bool noise = dialect == Dialect::k3 && NearlyEqual(highest, bucket.count);
    if (noise || bucket.count < highest) bucket.count = highest;
    if (bucket.count > highest) highest = bucket.count;
  }
}

double BucketQuantile(double q, std::vector<Bucket> buckets, Dialect dialect) {
  if (std::isnan(q)) return kNan;
  if (q < 0) return -kInf;
  if (q > 1) return kInf;
  Normalize(&buckets, dialect);
  if (buckets.back().bound != kInf || buckets.size() < 2) return kNan;
  const double total = buckets.back().count;
  if (total == 0) return kNan;

  double rank = q * total;
  const auto at =
      std::partition_point(buckets.begin(), buckets.end() - 1,
                           [rank](const Bucket& bucket) { return !(bucket.count >= rank); });
  if (at == buckets.end() - 1) return (at - 1)->bound;
  const bool first = at == buckets.begin();
  if (first && at->bound <= 0) return at->bound;
  const double start = first ? 0 : (at - 1)->bound;
  const double before = first ? 0 : (at - 1)->count;
  return start + (at->bound - start) * ((rank - before) / (at->count - before));
}

// How many observations lie below `value`. Within a bucket they are spread evenly; in one without a
// lower or an upper bound all lie at the other bound.
double CountBelow(double value, const std::vector<Bucket>& buckets) {
  double before = 0;
  double start = buckets.front().bound <= 0 ? -kInf : 0;
  for (const Bucket& bucket : buckets) {
    if (value <= start) return before;
    if (value < bucket.bound) {
      if (start == -kInf) return bucket.count;
      return before + (bucket.count - before) * (value - start) / (bucket.bound - start);
    }
    before = bucket.count;
    start = bucket.bound;
  }
  return before;
}

double BucketFraction(double lower, double upper, std::vector<Bucket> buckets) {
  Merge(&buckets);
  const double total = buckets.back().count;
  if (buckets.back().bound != kInf || total == 0 || std::isnan(lower) || std::isnan(upper)) {
    return kNan;
  }
  if (lower >= upper) return 0;
  const auto below = [&](double value) { return std::min(CountBelow(value, buckets), total); };
  return (below(upper) - below(lower)) / total;
}

struct Histogram {
  Labels labels;
  std::vector<Bucket> buckets;
};

// First seen first.
std::vector<Histogram> HistogramsOf(const Vector& buckets) {
  std::vector<Histogram> histograms;
  absl::flat_hash_map<Labels, size_t> index;
  for (const Element& element : buckets) {
    const auto bound = ParseBound(element.labels.Get("le"));
    if (!bound || std::isnan(*bound)) continue;
    Labels key = WithoutLabel(element.labels, "le");
    const auto [at, inserted] = index.emplace(key, histograms.size());
    if (inserted) histograms.push_back({std::move(key), {}});
    histograms[at->second].buckets.push_back({*bound, element.value});
  }
  return histograms;
}

}  // namespace

Vector HistogramQuantile(double q, const Vector& buckets, Dialect dialect) {
  Vector result;
  for (Histogram& histogram : HistogramsOf(buckets)) {
    result.push_back(
        {WithoutName(histogram.labels), BucketQuantile(q, std::move(histogram.buckets), dialect)});
  }
  return result;
}

Vector HistogramFraction(double lower, double upper, const Vector& buckets) {
  Vector result;
  for (Histogram& histogram : HistogramsOf(buckets)) {
    result.push_back({WithoutName(histogram.labels),
                      BucketFraction(lower, upper, std::move(histogram.buckets))});
  }
  return result;
}

}  // namespace flyball::promql
