#include "promql/functions.h"

#include <algorithm>

namespace flyball::promql {
namespace {

constexpr ValueType kS = ValueType::kScalar;
constexpr ValueType kT = ValueType::kString;
constexpr ValueType kV = ValueType::kVector;
constexpr ValueType kM = ValueType::kMatrix;

std::vector<Function> MakeTable() {
  std::vector<Function> table;
  for (const char* name :
       {"abs", "ceil", "floor", "exp", "ln", "log2", "log10", "sqrt", "sgn", "deg", "rad", "sin",
        "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
        "timestamp",
        // Of native histograms, which are not stored here: plain samples have no such value.
        "histogram_count", "histogram_sum", "histogram_avg", "histogram_stddev",
        "histogram_stdvar"}) {
    table.push_back({.name = name, .args = {kV}, .by_series = true});
  }
  for (const char* name : {"rate", "increase", "delta", "irate", "idelta", "deriv", "resets",
                           "changes", "avg_over_time", "min_over_time", "max_over_time",
                           "sum_over_time", "count_over_time", "last_over_time", "first_over_time",
                           "present_over_time", "stddev_over_time", "stdvar_over_time"}) {
    table.push_back({.name = name, .args = {kM}, .by_series = true});
  }
  for (const char* name : {"minute", "hour", "day_of_week", "day_of_month", "day_of_year",
                           "days_in_month", "month", "year"}) {
    table.push_back({.name = name, .args = {kV}, .optional = 1, .by_series = true});
  }
  const std::vector<Function> others = {
      {.name = "sort", .args = {kV}},
      {.name = "sort_desc", .args = {kV}},
      {.name = "absent", .args = {kV}},
      {.name = "absent_over_time", .args = {kM}},
      {.name = "scalar", .args = {kV}, .returns = kS},
      {.name = "vector", .args = {kS}},
      {.name = "time", .args = {}, .returns = kS},
      {.name = "pi", .args = {}, .returns = kS},
      {.name = "round", .args = {kV, kS}, .optional = 1, .by_series = true},
      {.name = "clamp", .args = {kV, kS, kS}, .by_series = true},
      {.name = "clamp_min", .args = {kV, kS}, .by_series = true},
      {.name = "clamp_max", .args = {kV, kS}, .by_series = true},
      {.name = "quantile_over_time", .args = {kS, kM}, .by_series = true},
      {.name = "predict_linear", .args = {kM, kS}, .by_series = true},
      {.name = "holt_winters", .args = {kM, kS, kS}, .by_series = true},
      {.name = "double_exponential_smoothing", .args = {kM, kS, kS}, .by_series = true},
      {.name = "histogram_quantile", .args = {kS, kV}, .by_series = true},
      {.name = "histogram_fraction", .args = {kS, kS, kV}, .by_series = true},
      {.name = "label_replace", .args = {kV, kT, kT, kT, kT}},
      {.name = "label_join", .args = {kV, kT, kT, kT}, .repeated = true},
  };
  table.insert(table.end(), others.begin(), others.end());
  std::sort(table.begin(), table.end(),
            [](const Function& a, const Function& b) { return a.name < b.name; });
  return table;
}

constexpr absl::string_view kElsewhere[] = {
    "mad_over_time",       "sort_by_label",       "sort_by_label_desc",   "info",
    "ts_of_max_over_time", "ts_of_min_over_time", "ts_of_last_over_time", "ts_of_first_over_time"};

}  // namespace

const Function* FindFunction(absl::string_view name) {
  static const std::vector<Function>& table = *new std::vector<Function>(MakeTable());
  const auto at = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Function& function, absl::string_view wanted) { return function.name < wanted; });
  return at != table.end() && at->name == name ? &*at : nullptr;
}

bool IsKnownElsewhere(absl::string_view name) {
  return std::find(std::begin(kElsewhere), std::end(kElsewhere), name) != std::end(kElsewhere);
}

}  // namespace flyball::promql
