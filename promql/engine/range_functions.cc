#include "promql/engine/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "promql/engine/stats.h"

namespace flyball::promql {
namespace {

using Args = const WindowArgs&;
using Result = std::optional<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double Seconds(int64_t ms) { return static_cast<double>(ms) / 1000; }

enum class Growth { kRate, kIncrease, kDelta };

// rate, increase and delta: the change between the outer samples, extrapolated to the window, but
// by at most half a sample interval if the samples end well inside it, and for counters not beyond
// the time at which they would have been zero.
Result Extrapolate(const WindowArgs& args, Growth growth) {
  const auto& points = args.points;
  if (points.size() < 2) return std::nullopt;
  const bool counter = growth != Growth::kDelta;
  double change = points.back().value - points.front().value;
  if (counter) {
    for (size_t i = 1; i < points.size(); ++i) {
      if (points[i].value < points[i - 1].value) change += points[i - 1].value;
    }
  }
  const double interval = Seconds(points.back().time_ms - points.front().time_ms);
  const double average = interval / static_cast<double>(points.size() - 1);
  const double threshold = average * 1.1;
  double to_start = Seconds(points.front().time_ms - args.start_ms);
  double to_end = Seconds(args.end_ms - points.back().time_ms);

  const auto stop_at_zero = [&] {
    if (!counter || !(change > 0) || !(points.front().value >= 0)) return;
    to_start = std::min(to_start, interval * (points.front().value / change));
  };
  if (args.dialect == Dialect::k2) stop_at_zero();
  if (to_start >= threshold) to_start = average / 2;
  if (args.dialect == Dialect::k3) stop_at_zero();
  if (to_end >= threshold) to_end = average / 2;

  double factor = (interval + to_start + to_end) / interval;
  if (growth == Growth::kRate) factor /= Seconds(args.end_ms - args.start_ms);
  return change * factor;
}

Result LastTwo(const WindowArgs& args, bool rate) {
  if (args.points.size() < 2) return std::nullopt;
  const Point& last = args.points.back();
  const Point& before = args.points[args.points.size() - 2];
  const int64_t elapsed_ms = last.time_ms - before.time_ms;
  if (elapsed_ms == 0) return std::nullopt;
  double change = last.value - before.value;
  if (!rate) return change;
  if (last.value < before.value) change = last.value;  // the counter was reset
  return change / Seconds(elapsed_ms);
}

Result Resets(const WindowArgs& args) {
  int count = 0;
  for (size_t i = 1; i < args.points.size(); ++i) {
    if (args.points[i].value < args.points[i - 1].value) ++count;
  }
  return count;
}

Result Changes(const WindowArgs& args) {
  int count = 0;
  for (size_t i = 1; i < args.points.size(); ++i) {
    const double now = args.points[i].value;
    const double before = args.points[i - 1].value;
    if (now != before && !(std::isnan(now) && std::isnan(before))) ++count;
  }
  return count;
}

struct Line {
  double slope = 0;
  double intercept = 0;
};

// Least squares with x in seconds since `origin_ms`.
Line Regress(const WindowArgs& args, int64_t origin_ms) {
  const double first = args.points.front().value;
  const bool constant = std::all_of(args.points.begin(), args.points.end(),
                                    [first](const Point& point) { return point.value == first; });
  if (constant) return std::isinf(first) ? Line{kNan, kNan} : Line{0, first};

  KahanSum sum_x(args.dialect), sum_y(args.dialect), sum_xy(args.dialect), sum_x2(args.dialect);
  for (const Point& point : args.points) {
    const double x = Seconds(point.time_ms - origin_ms);
    sum_x.Add(x);
    sum_y.Add(point.value);
    sum_xy.Add(x * point.value);
    sum_x2.Add(x * x);
  }
  const double n = static_cast<double>(args.points.size());
  const double x = sum_x.Compensated();
  const double y = sum_y.Compensated();
  const double slope = (sum_xy.Compensated() - x * y / n) / (sum_x2.Compensated() - x * x / n);
  return {slope, y / n - slope * x / n};
}

Result Deriv(const WindowArgs& args) {
  if (args.points.size() < 2) return std::nullopt;
  return Regress(args, args.points.front().time_ms).slope;
}

Result PredictLinear(const WindowArgs& args) {
  if (args.points.size() < 2) return std::nullopt;
  const Line line = Regress(args, args.now_ms);
  return line.slope * args.first + line.intercept;
}

// Holt's double exponential smoothing; the factors were checked by the caller.
Result HoltWinters(const WindowArgs& args) {
  if (args.points.size() < 2) return std::nullopt;
  const double smoothing = args.first;
  const double trend_factor = args.second;
  double before = 0;
  double smooth = args.points[0].value;
  double trend = args.points[1].value - args.points[0].value;
  for (size_t i = 1; i < args.points.size(); ++i) {
    const double scaled = smoothing * args.points[i].value;
    if (i > 1) trend = trend_factor * (smooth - before) + (1 - trend_factor) * trend;
    const double expected = (1 - smoothing) * (smooth + trend);
    before = smooth;
    smooth = scaled + expected;
  }
  return smooth;
}

Result SumOverTime(const WindowArgs& args) {
  KahanSum sum(args.dialect);
  for (const Point& point : args.points) sum.Add(point.value);
  return sum.Total();
}

Result AvgOverTime(const WindowArgs& args) {
  Mean mean(args.dialect);
  for (const Point& point : args.points) mean.Add(point.value);
  return mean.Result();
}

// Welford's method, of the whole population.
double Variance(const WindowArgs& args) {
  double count = 0;
  KahanSum mean(args.dialect), squares(args.dialect);
  for (const Point& point : args.points) {
    count += 1;
    const double delta = point.value - mean.Compensated();
    mean.Add(delta / count);
    squares.Add(delta * (point.value - mean.Compensated()));
  }
  return squares.Compensated() / count;
}

Result Extreme(const WindowArgs& args, bool largest) {
  double best = args.points.front().value;
  for (const Point& point : args.points) {
    const bool better = largest ? point.value > best : point.value < best;
    if (better || std::isnan(best)) best = point.value;
  }
  return best;
}

Result QuantileOverTime(const WindowArgs& args) {
  std::vector<double> values;
  values.reserve(args.points.size());
  for (const Point& point : args.points) values.push_back(point.value);
  return Quantile(args.first, std::move(values));
}

}  // namespace

RangeFunction FindRangeFunction(absl::string_view name) {
  static const auto& table = *new absl::flat_hash_map<absl::string_view, RangeFunction>{
      {"rate", [](Args args) { return Extrapolate(args, Growth::kRate); }},
      {"increase", [](Args args) { return Extrapolate(args, Growth::kIncrease); }},
      {"delta", [](Args args) { return Extrapolate(args, Growth::kDelta); }},
      {"irate", [](Args args) { return LastTwo(args, true); }},
      {"idelta", [](Args args) { return LastTwo(args, false); }},
      {"resets", Resets},
      {"changes", Changes},
      {"deriv", Deriv},
      {"predict_linear", PredictLinear},
      {"holt_winters", HoltWinters},
      {"double_exponential_smoothing", HoltWinters},
      {"sum_over_time", SumOverTime},
      {"avg_over_time", AvgOverTime},
      {"stddev_over_time", [](Args args) { return Result(std::sqrt(Variance(args))); }},
      {"stdvar_over_time", [](Args args) { return Result(Variance(args)); }},
      {"min_over_time", [](Args args) { return Extreme(args, false); }},
      {"max_over_time", [](Args args) { return Extreme(args, true); }},
      {"count_over_time", [](Args args) { return Result(args.points.size()); }},
      {"last_over_time", [](Args args) { return Result(args.points.back().value); }},
      {"first_over_time", [](Args args) { return Result(args.points.front().value); }},
      {"present_over_time", [](Args) { return Result(1); }},
      {"quantile_over_time", QuantileOverTime},
  };
  const auto at = table.find(name);
  return at == table.end() ? nullptr : at->second;
}

}  // namespace flyball::promql
