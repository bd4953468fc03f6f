// Function calls of evaluator.h.
#include <algorithm>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/go/arithmetic.h"
#include "base/status_macros.h"
#include "promql/engine/evaluator.h"
#include "promql/engine/functions.h"
#include "promql/functions.h"

namespace flyball::promql {
namespace {

double Seconds(int64_t ms) { return static_cast<double>(ms) / 1000; }

void Apply(ValueFunction function, Vector* vector) {
  for (Element& element : *vector) {
    element.value = function(element.value);
    element.labels = WithoutName(element.labels);
  }
}

// The labels of `absent`'s result: those that the selector pins to one value.
Labels PinnedLabels(const Expr& arg) {
  const auto* selector = Unwrap(arg).As<Selector>();
  if (selector == nullptr) return {};
  LabelsBuilder labels;
  absl::flat_hash_set<std::string> pinned;
  for (const Matcher& matcher : selector->matchers) {
    if (matcher.label() == "__name__") continue;
    if (matcher.op() == Matcher::Op::kEqual && pinned.insert(matcher.label()).second) {
      labels.Set(matcher.label(), matcher.value());
    } else {
      labels.Set(matcher.label(), "");
    }
  }
  return labels.Build();
}

absl::Status CheckSmoothing(absl::string_view which, absl::string_view sign, double factor) {
  if (factor > 0 && factor < 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("invalid %s factor. Expected: 0 < %s < 1, got: %f", which, sign, factor));
}

bool IsSmoothing(absl::string_view name) {
  return name == "holt_winters" || name == "double_exponential_smoothing";
}

bool KeepsName(absl::string_view name) {
  return name == "last_over_time" || name == "first_over_time";
}

// Whether all series of a range selector have the same name. Then they differ without it as well,
// and the result of a function need not be checked for equal label sets.
bool HasOneName(const Expr& ranged) {
  const auto* selector = ranged.As<Selector>();
  if (selector == nullptr) return false;
  return std::any_of(selector->matchers.begin(), selector->matchers.end(), [](const Matcher& one) {
    return one.label() == "__name__" && one.op() == Matcher::Op::kEqual;
  });
}

// Whether a series' metric name can be seen in what the aggregation gives.
bool KeepsNames(const Aggregation& aggregation) {
  const Grouping& grouping = aggregation.grouping;
  return aggregation.op == "topk" || aggregation.op == "bottomk" ||
         (!grouping.without &&
          std::count(grouping.labels.begin(), grouping.labels.end(), "__name__") > 0);
}

bool IsOfDistinctWindows(const Call& call) {
  return FindRangeFunction(call.function->name) != nullptr &&
         std::any_of(call.args.begin(), call.args.end(),
                     [](const ExprPtr& arg) { return HasOneName(Unwrap(*arg)); });
}

}  // namespace

absl::StatusOr<Value> Evaluator::EvalCall(const Call& call, int64_t now_ms) {
  const absl::string_view name = call.function->name;
  if (name == "time") return Value(Seconds(now_ms));
  if (name == "pi") return Value(std::numbers::pi);
  if (name == "scalar") {
    ASSIGN_OR_RETURN(const Vector vector, EvalAs<Vector>(*call.args[0], now_ms));
    return Value(vector.size() == 1 ? vector[0].value : std::numeric_limits<double>::quiet_NaN());
  }
  ASSIGN_OR_RETURN(Vector result, EvalVectorCall(call, now_ms));
  if (!IsOfDistinctWindows(call)) RETURN_IF_ERROR(CheckDistinct(result));
  return Value(std::move(result));
}

absl::StatusOr<Vector> Evaluator::EvalVectorCall(const Call& call, int64_t now_ms) {
  const absl::string_view name = call.function->name;
  if (FindRangeFunction(name) != nullptr) return EvalRangeCall(call, now_ms, KeepsName(name));
  if (name == "absent" || name == "absent_over_time") return EvalAbsent(call, now_ms);
  if (name == "timestamp") return EvalTimestamp(*call.args[0], now_ms);
  if (name == "label_replace" || name == "label_join") return EvalLabelCall(call, now_ms);
  if (name == "vector") {
    ASSIGN_OR_RETURN(const double value, EvalAs<double>(*call.args[0], now_ms));
    return Vector{{{}, value}};
  }
  if (const ValueFunction date = FindDateFunction(name); date != nullptr) {
    if (call.args.empty()) return Vector{{{}, date(Seconds(now_ms))}};
    ASSIGN_OR_RETURN(Vector vector, EvalAs<Vector>(*call.args[0], now_ms));
    Apply(date, &vector);
    return vector;
  }
  if (name == "histogram_quantile") {
    ASSIGN_OR_RETURN(const double q, EvalAs<double>(*call.args[0], now_ms));
    ASSIGN_OR_RETURN(const Vector buckets, EvalAs<Vector>(*call.args[1], now_ms));
    if (memory_.has_limit()) RETURN_IF_ERROR(memory_.Use(2 * BytesOfKeys(buckets)));
    return HistogramQuantile(q, buckets, options_.dialect);
  }
  if (name == "histogram_fraction" && options_.dialect == Dialect::k3) {
    ASSIGN_OR_RETURN(const double lower, EvalAs<double>(*call.args[0], now_ms));
    ASSIGN_OR_RETURN(const double upper, EvalAs<double>(*call.args[1], now_ms));
    ASSIGN_OR_RETURN(const Vector buckets, EvalAs<Vector>(*call.args[2], now_ms));
    if (memory_.has_limit()) RETURN_IF_ERROR(memory_.Use(2 * BytesOfKeys(buckets)));
    return HistogramFraction(lower, upper, buckets);
  }
  // The other histogram functions read native histograms, which no series here has.
  if (absl::StartsWith(name, "histogram_")) {
    RETURN_IF_ERROR(Eval(*call.args.back(), now_ms).status());
    return Vector();
  }
  if (name == "round" || absl::StartsWith(name, "clamp")) return EvalClamp(call, now_ms);

  ASSIGN_OR_RETURN(Vector vector, EvalAs<Vector>(*call.args[0], now_ms));
  if (name == "sort" || name == "sort_desc") {
    SortByValue(&vector, name == "sort_desc");
    return vector;
  }
  Apply(FindMathFunction(name), &vector);
  return vector;
}

// If the groups do not use the metric's name, the result of a function of windows may keep it,
// which saves making as many label sets as there are series.
absl::StatusOr<Vector> Evaluator::EvalGrouped(const Aggregation& aggregation, int64_t now_ms) {
  const auto* call = Unwrap(*aggregation.expr).As<Call>();
  if (call == nullptr || !IsOfDistinctWindows(*call) || KeepsNames(aggregation)) {
    return EvalAs<Vector>(*aggregation.expr, now_ms);
  }
  return EvalRangeCall(*call, now_ms, /*keep_name=*/true);
}

Evaluator::WindowFunction::WindowFunction(const Call& its_call)
    : call(its_call),
      function(FindRangeFunction(call.function->name)),
      smooths(IsSmoothing(call.function->name)),
      may_collide(!KeepsName(call.function->name) && !IsOfDistinctWindows(call)) {}

absl::StatusOr<Vector> Evaluator::EvalRangeCall(const Call& call, int64_t now_ms, bool keep_name) {
  const WindowFunction function(call);
  WindowArgs args;
  args.now_ms = now_ms;
  args.dialect = options_.dialect;
  const Expr* ranged = nullptr;
  double* scalars[] = {&args.first, &args.second};
  size_t scalar_count = 0;
  for (const ExprPtr& arg : call.args) {
    if (arg->Type() == ValueType::kMatrix) {
      ranged = &Unwrap(*arg);
    } else {
      ASSIGN_OR_RETURN(*scalars[scalar_count++], EvalAs<double>(*arg, now_ms));
    }
  }
  const auto* selector = ranged->As<Selector>();
  if (selector == nullptr) {
    ASSIGN_OR_RETURN(const Matrix matrix, EvalAs<Matrix>(*ranged, now_ms));
    args.start_ms = matrix.start_ms;
    args.end_ms = matrix.end_ms;
    if (memory_.has_limit()) {
      size_t bytes = matrix.series.size() * (sizeof(Window) + sizeof(Labels));
      for (const Range& range : matrix.series) bytes += range.labels.encoded().size();
      RETURN_IF_ERROR(memory_.Use(bytes));
    }
    std::vector<Labels> nameless;
    nameless.reserve(matrix.series.size());  // windows point into it
    std::vector<Window> windows;
    for (const Range& range : matrix.series) {
      if (!keep_name) nameless.push_back(WithoutName(range.labels));
      windows.push_back({range.labels, keep_name ? range.labels : nameless.back(), range.points});
    }
    return ApplyToWindows(function, args, windows);
  }
  const int64_t pinned_ms = BaseTime(selector->shift, now_ms);
  int64_t base_ms = pinned_ms;
  // Prometheus 2 moves predict_linear's window along with the steps of a range query even where `@`
  // should pin it, over samples that were read up to the pinned time only.
  if (selector->shift.at != TimeShift::At::kNone && options_.dialect == Dialect::k2 &&
      call.function->name == "predict_linear") {
    base_ms += now_ms - steps_.start_ms;
  }
  args.end_ms = base_ms - selector->shift.offset_ms;
  args.start_ms = args.end_ms - selector->range_ms;
  TimeSpan span = WindowTo(args.end_ms, selector->range_ms);
  span.to_ms = std::min(span.to_ms, pinned_ms - selector->shift.offset_ms);
  SelectorSamples& samples = samples_[selector];
  if (samples.read_one_by_one()) return ApplyToSeries(function, args, samples, span, keep_name);
  ASSIGN_OR_RETURN(const std::vector<Window> windows, WindowsOf(*selector, span, keep_name));
  return ApplyToWindows(function, args, windows);
}

absl::StatusOr<Vector> Evaluator::ApplyToWindows(const WindowFunction& function, WindowArgs args,
                                                 const std::vector<Window>& windows) {
  Vector result;
  result.reserve(windows.size());
  for (const Window& window : windows) {
    RETURN_IF_ERROR(ApplyToWindow(function, args, window, result));
  }
  return result;
}

absl::StatusOr<Vector> Evaluator::ApplyToSeries(const WindowFunction& function, WindowArgs args,
                                                SelectorSamples& samples, TimeSpan span,
                                                bool keep_name) {
  if (!keep_name) RETURN_IF_ERROR(MakeNameless(samples));
  Vector result;
  result.reserve(samples.series_count());
  std::vector<Point> points;
  size_t read = 0;
  for (size_t i = 0; i < samples.series_count(); ++i) {
    samples.Read(i, span, points);
    // All of them count, as if they were held together.
    RETURN_IF_ERROR(Hold(points.size()));
    RETURN_IF_ERROR(Charge(points.size() + 1));
    RETURN_IF_ERROR(meter_.Count(kStepsOfSeries));
    read += points.size();
    if (points.empty()) continue;
    const Labels& source = samples.LabelsOf(i);
    const Window window = {source, keep_name ? source : samples.NamelessOf(i), points};
    RETURN_IF_ERROR(ApplyToWindow(function, args, window, result));
  }
  held_ -= static_cast<int64_t>(read);
  return result;
}

absl::Status Evaluator::ApplyToWindow(const WindowFunction& function, WindowArgs& args,
                                      const Window& window, Vector& result) {
  // The factors matter only once there is a series to smooth.
  if (function.smooths) {
    RETURN_IF_ERROR(CheckSmoothing("smoothing", "sf", args.first));
    RETURN_IF_ERROR(CheckSmoothing("trend", "tf", args.second));
  }
  args.points = window.points;
  const auto value = function.function(args);
  if (!value) return absl::OkStatus();
  if (function.may_collide) {
    RETURN_IF_ERROR(CheckOneSource(&function.call, window.labels, window.source));
  }
  result.push_back({window.labels, *value});
  return absl::OkStatus();
}

absl::StatusOr<Vector> Evaluator::EvalTimestamp(const Expr& arg, int64_t now_ms) {
  const auto* selector = Unwrap(arg).As<Selector>();
  if (selector == nullptr) {
    ASSIGN_OR_RETURN(Vector vector, EvalAs<Vector>(arg, now_ms));
    for (Element& element : vector) {
      element.value = Seconds(now_ms);
      element.labels = WithoutName(element.labels);
    }
    return vector;
  }
  const int64_t base = BaseTime(selector->shift, now_ms);
  TimeSpan window = WindowTo(base - selector->shift.offset_ms, options_.lookback_ms);
  // With `@`, the offset only caps: Prometheus looks back from the pinned time itself.
  if (selector->shift.at != TimeShift::At::kNone) {
    window.from_ms = WindowTo(base, options_.lookback_ms).from_ms;
    window.to_ms = std::min(base, window.to_ms);
  }
  SelectorSamples& samples = samples_[selector];
  RETURN_IF_ERROR(Charge(samples.series_count()));
  RETURN_IF_ERROR(MakeNameless(samples));
  Vector result;
  for (size_t i = 0; i < samples.series_count(); ++i) {
    const Point* point = samples.Current(i, window);
    if (point != nullptr) result.push_back({samples.NamelessOf(i), Seconds(point->time_ms)});
  }
  return result;
}

absl::StatusOr<Vector> Evaluator::EvalAbsent(const Call& call, int64_t now_ms) {
  ASSIGN_OR_RETURN(const Value value, Eval(*call.args[0], now_ms));
  const auto* matrix = std::get_if<Matrix>(&value);
  const bool absent = matrix != nullptr ? matrix->series.empty() : std::get<Vector>(value).empty();
  if (!absent) return Vector();
  return Vector{{PinnedLabels(*call.args[0]), 1}};
}

absl::StatusOr<Vector> Evaluator::EvalLabelCall(const Call& call, int64_t now_ms) {
  ASSIGN_OR_RETURN(Vector vector, EvalAs<Vector>(*call.args[0], now_ms));
  std::vector<std::string> texts;
  for (size_t i = 1; i < call.args.size(); ++i) {
    ASSIGN_OR_RETURN(Value text, Eval(*call.args[i], now_ms));
    texts.push_back(std::get<std::string>(std::move(text)));
  }
  size_t grown_by = 0;
  if (call.function->name == "label_replace") {
    ASSIGN_OR_RETURN(const go::Regexp* regex, RegexOf(call, texts[3]));
    RETURN_IF_ERROR(
        LabelReplace(texts, *regex, options_.dialect, meter_, memory_, &vector, &grown_by));
  } else {
    RETURN_IF_ERROR(LabelJoin(texts, options_.dialect, meter_, memory_, &vector, &grown_by));
  }
  const size_t as_points = grown_by / sizeof(Point);
  held_by_labels_ += static_cast<int64_t>(as_points);
  RETURN_IF_ERROR(Hold(as_points));
  return vector;
}

absl::StatusOr<const go::Regexp*> Evaluator::RegexOf(const Call& call, const std::string& pattern) {
  auto found = regexes_.find(&call);
  if (found == regexes_.end()) {
    auto regex = CompileAnchored(pattern, options_.dialect == Dialect::k3, &regex_room_);
    if (absl::IsResourceExhausted(regex.status())) return regex.status();
    if (!regex.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("invalid regular expression in label_replace(): ", pattern));
    }
    found = regexes_.emplace(&call, *std::move(regex)).first;
  }
  return &found->second;
}

// round, clamp, clamp_min and clamp_max: a vector and scalars.
absl::StatusOr<Vector> Evaluator::EvalClamp(const Call& call, int64_t now_ms) {
  const absl::string_view name = call.function->name;
  ASSIGN_OR_RETURN(Vector vector, EvalAs<Vector>(*call.args[0], now_ms));
  double first = 1;  // round's default
  double second = 0;
  if (call.args.size() > 1) {
    ASSIGN_OR_RETURN(first, EvalAs<double>(*call.args[1], now_ms));
  }
  if (call.args.size() > 2) {
    ASSIGN_OR_RETURN(second, EvalAs<double>(*call.args[2], now_ms));
  }
  if (name == "clamp" && second < first) return Vector();
  for (Element& element : vector) {
    const double value = element.value;
    if (name == "round") element.value = Round(value, first);
    if (name == "clamp") element.value = GoMax(first, GoMin(second, value));
    if (name == "clamp_min") element.value = GoMax(first, value);
    if (name == "clamp_max") element.value = GoMin(first, value);
    element.labels = WithoutName(element.labels);
  }
  return vector;
}

}  // namespace flyball::promql
