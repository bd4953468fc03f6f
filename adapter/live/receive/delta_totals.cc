#include "adapter/live/receive/delta_totals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::live {
namespace {

using formats::OtlpBucket;
using formats::OtlpPoint;

// About how many bytes a series takes beside its key and its buckets.
constexpr size_t kSeriesBytes = 256;

// The sum of two lists of buckets, both with rising bounds.
std::vector<OtlpBucket> SumOf(const std::vector<OtlpBucket>& a, const std::vector<OtlpBucket>& b) {
  std::vector<OtlpBucket> sum;
  sum.reserve(a.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->upper < right->upper)) {
      sum.push_back(*left++);
    } else if (left == a.end() || right->upper < left->upper) {
      sum.push_back(*right++);
    } else {
      sum.push_back({left->upper, left->count + right->count});
      ++left;
      ++right;
    }
  }
  return sum;
}

// Refuses values that are negative or not finite, since they would spoil the total for good.
absl::Status CheckNumbers(const OtlpPoint& point) {
  if (point.value >= 0 && std::isfinite(point.value) && std::isfinite(point.sum.value_or(0))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("a delta is negative or not finite");
}

// A start of 0 means that it is not known.
absl::Status CheckTime(const OtlpPoint& point, int64_t last_ns) {
  const bool overlaps = point.start_ns != 0 && point.start_ns < last_ns;
  if (point.time_ns > last_ns && !overlaps) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a delta of the time from ", point.start_ns, " to ", point.time_ns,
                   " ns begins before the last one has ended, at ", last_ns, " ns"));
}

// Subtracts the bounds that a point gets beyond its own, counting up to as many again.
absl::Status TakeBounds(size_t of_series, size_t of_point, size_t& left) {
  const size_t others = of_series - std::min(of_series, of_point);
  if (others > left) {
    return absl::OutOfRangeError(
        "the deltas of the request have too few of the bounds that their series have had: send "
        "fewer of them at once");
  }
  left -= others;
  return absl::OkStatus();
}

}  // namespace

void DeltaTotals::ForgetIdle(int64_t now_ms, Stripe& stripe) const {
  while (stripe.totals.size() > 0 && now_ms - stripe.totals.oldest().told_ms > retention_ms_) {
    stripe.bytes -= stripe.totals.oldest().bytes;
    stripe.totals.EraseOldest();
  }
}

absl::Status DeltaTotals::Add(absl::string_view key, OtlpPoint& point, Request& request,
                              absl::FunctionRef<Stored()> store) {
  RETURN_IF_ERROR(CheckNumbers(point));
  const auto stripe = stripes_.Lock(absl::HashOf(key));
  ForgetIdle(request.now_ms, *stripe);
  SeriesTotal total;
  const SeriesTotal* const before = stripe->totals.Find(key);
  if (before != nullptr) {
    RETURN_IF_ERROR(CheckTime(point, before->last_ns));
    RETURN_IF_ERROR(TakeBounds(before->buckets.size(), point.buckets.size(), request.bounds_left));
    total = *before;
  }
  const size_t bytes_before = total.bytes;
  total.last_ns = point.time_ns;
  total.told_ms = request.now_ms;
  total.value += point.value;
  total.count += point.count;
  total.sum += point.sum.value_or(0);
  if (point.sum) point.sum = total.sum;
  total.buckets = SumOf(total.buckets, point.buckets);
  if (total.buckets.size() > formats::kMaxBuckets) {
    return absl::InvalidArgumentError(absl::StrCat("the histograms of a series have had more than ",
                                                   formats::kMaxBuckets, " bounds"));
  }
  total.bytes = kSeriesBytes + key.size() + total.buckets.size() * sizeof(OtlpBucket);
  if (stripe->bytes - bytes_before + total.bytes > max_bytes_per_stripe_) {
    return absl::ResourceExhaustedError("no room for the totals of another series with deltas");
  }
  point.value = total.value;
  point.count = total.count;
  point.buckets = total.buckets;
  const Stored stored = store();
  if (!stored.some) return stored.status;
  stripe->bytes += total.bytes - bytes_before;
  stripe->totals[key] = std::move(total);
  return stored.status;
}

}  // namespace flyball::live
