#include "promql/engine/operators.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/engine/functions.h"
#include "promql/engine/stats.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

struct LabelGroup {
  Labels labels;
  std::vector<double> values;
};

double Sum(const std::vector<double>& values, Dialect dialect) {
  if (dialect == Dialect::k3) {
    KahanSum sum(dialect, values.front());
    for (size_t i = 1; i < values.size(); ++i) sum.Add(values[i]);
    return sum.Total();
  }
  double sum = values.front();
  for (size_t i = 1; i < values.size(); ++i) sum += values[i];
  return sum;
}

double Average(const std::vector<double>& values, Dialect dialect) {
  if (dialect == Dialect::k3) {
    Mean mean(dialect);
    for (const double value : values) mean.Add(value);
    return mean.Result();
  }
  double mean = values.front();
  for (size_t i = 1; i < values.size(); ++i) {
    if (InfiniteMeanStays(mean, values[i])) continue;
    const double count = static_cast<double>(i + 1);
    mean += values[i] / count - mean / count;
  }
  return mean;
}

// Welford's method without compensation, of the whole population.
double Variance(const std::vector<double>& values, Dialect dialect) {
  double mean = values.front();
  double squares = 0;
  // Dialect 2 treats a single infinity as a value without spread.
  if (dialect == Dialect::k3 && !std::isfinite(mean)) {
    squares = std::numeric_limits<double>::quiet_NaN();
  }
  for (size_t i = 1; i < values.size(); ++i) {
    const double delta = values[i] - mean;
    mean += delta / static_cast<double>(i + 1);
    squares += delta * (values[i] - mean);
  }
  return squares / static_cast<double>(values.size());
}

double Extreme(const std::vector<double>& values, bool largest) {
  double best = values.front();
  for (const double value : values) {
    if (std::isnan(best) || (largest ? value > best : value < best)) best = value;
  }
  return best;
}

double Reduce(const std::string& op, LabelGroup group, double param, Dialect dialect) {
  if (op == "sum") return Sum(group.values, dialect);
  if (op == "avg") return Average(group.values, dialect);
  if (op == "min") return Extreme(group.values, false);
  if (op == "max") return Extreme(group.values, true);
  if (op == "stdvar") return Variance(group.values, dialect);
  if (op == "stddev") return std::sqrt(Variance(group.values, dialect));
  if (op == "quantile") return Quantile(param, std::move(group.values));
  if (op == "group") return 1;
  return static_cast<double>(group.values.size());  // count, count_values
}

// The group of count_values to which an element belongs. `without` may take the counted label away
// again, and takes a name.
void CountValuesKey(const Element& element, const std::string& label, const LabelChoice& choice,
                    std::string* key) {
  const std::string value = FormatPlain(element.value);
  if (choice.without) {
    ChooseLabels(WithLabel(element.labels, label, value), choice, key);
    return;
  }
  ChooseLabels(element.labels, choice, key);
  *key = std::string(WithLabel(Labels::FromEncoded(*key), label, value).encoded());
}

// The k largest or smallest of each group, with all their labels.
absl::StatusOr<Vector> PickBest(const Aggregation& aggregation, double k, Dialect dialect,
                                WorkMeter& work, Vector vector) {
  if (dialect == Dialect::k3 && k < 1) return Vector();
  constexpr double kLargest = 9223372036854774784.0;  // the largest double below 2^63
  if (!(k <= kLargest && k >= -9223372036854775808.0)) {
    return absl::FailedPreconditionError(
        absl::StrCat("Scalar value ", FormatShort(k), " overflows int64"));
  }
  Vector result;
  if (k < 1) return result;
  const size_t most =
      k < static_cast<double>(vector.size()) ? static_cast<size_t>(k) : vector.size();
  std::vector<Vector> groups;
  absl::flat_hash_map<std::string, size_t> index;
  const LabelChoice choice{aggregation.grouping.labels, aggregation.grouping.without};
  std::string key;
  for (Element& element : vector) {
    RETURN_IF_ERROR(work.Count(StepsOfNames(element.labels, choice.names.size())));
    ChooseLabels(element.labels, choice, &key);
    const auto [at, inserted] = index.try_emplace(key, groups.size());
    if (inserted) groups.emplace_back();
    groups[at->second].push_back(std::move(element));
  }
  for (Vector& group : groups) {
    SortByValue(&group, aggregation.op == "topk");
    if (group.size() > most) group.resize(most);
    std::move(group.begin(), group.end(), std::back_inserter(result));
  }
  return result;
}

}  // namespace

absl::StatusOr<Vector> Aggregate(const Aggregation& aggregation, const AggregationParam& param,
                                 Dialect dialect, WorkMeter& work, QueryMemory& memory,
                                 Vector vector) {
  const std::string& op = aggregation.op;
  const bool one_group = !aggregation.grouping.without && aggregation.grouping.labels.empty();
  if (memory.has_limit() && !one_group) {
    // Keys and label sets of the groups.
    RETURN_IF_ERROR(memory.Use(2 * BytesOfKeys(vector)));
  }
  if (op == "topk" || op == "bottomk") {
    return PickBest(aggregation, param.number, dialect, work, std::move(vector));
  }
  const bool count_values = op == "count_values";
  if (count_values && !IsLabelName(param.label, dialect)) {
    return absl::FailedPreconditionError(absl::StrCat("invalid label name ", Quote(param.label)));
  }

  std::vector<LabelGroup> groups;
  absl::flat_hash_map<std::string, size_t> index;
  const LabelChoice choice{aggregation.grouping.labels, aggregation.grouping.without};
  std::string key;
  for (const Element& element : vector) {
    RETURN_IF_ERROR(work.Count(StepsOfNames(element.labels, choice.names.size())));
    if (!count_values) {
      ChooseLabels(element.labels, choice, &key);
    } else {
      CountValuesKey(element, param.label, choice, &key);
    }
    const auto [at, inserted] = index.try_emplace(key, groups.size());
    if (inserted) {
      // A value as text has up to 300 characters, which are in none of the labels so far.
      if (count_values) RETURN_IF_ERROR(memory.Use(2 * key.size() + sizeof(LabelGroup)));
      groups.push_back({Labels::FromEncoded(key), {}});
    }
    groups[at->second].values.push_back(element.value);
  }
  Vector result;
  result.reserve(groups.size());
  for (LabelGroup& group : groups) {
    Labels labels = group.labels;
    result.push_back({std::move(labels), Reduce(op, std::move(group), param.number, dialect)});
  }
  return result;
}

}  // namespace flyball::promql
