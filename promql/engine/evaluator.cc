#include "promql/engine/evaluator.h"

#include <algorithm>

#include "promql/engine/operators.h"
#include "promql/functions.h"

namespace flyball::promql {
namespace {

// How many more points a query may read than it may keep, since they are read again for each step.
constexpr int64_t kWorkPerPoint = 40;

// The steps of a WorkMeter that an operation takes for each element of its result: it makes or
// compares labels.
constexpr size_t kStepsOfElement = 16;

absl::StatusOr<Value> Distinct(Vector vector) {
  RETURN_IF_ERROR(CheckDistinct(vector));
  return Value(std::move(vector));
}

// Smallest multiple of `step` that is at least `from`.
int64_t AlignUp(int64_t from, int64_t step) {
  const int64_t rest = ((from % step) + step) % step;
  return rest == 0 ? from : from + (step - rest);
}

absl::Status TooManyPoints() {
  return absl::ResourceExhaustedError(
      "query processing would load too many samples into memory in query execution");
}

}  // namespace

absl::Status Evaluator::Hold(size_t points) {
  held_ += static_cast<int64_t>(points);
  return held_ <= options_.max_points ? absl::OkStatus() : TooManyPoints();
}

absl::Status Evaluator::HoldLabels(const Labels& labels) {
  constexpr size_t kUsualBytes = 256;
  const size_t bytes = labels.encoded().size();
  return bytes <= kUsualBytes ? absl::OkStatus() : Hold((bytes - kUsualBytes) / sizeof(Point));
}

absl::Status Evaluator::Append(int64_t at_ms, Vector vector, RangesInTheMaking& ranges) {
  constexpr size_t kPlace = sizeof(Range) + 2 * sizeof(std::pair<Labels, size_t>);
  RETURN_IF_ERROR(Hold(vector.size()));
  const size_t before = ranges.bytes;
  for (Element& element : vector) {
    const size_t label_bytes = element.labels.bytes_alone();
    const auto [at, inserted] = ranges.index.try_emplace(element.labels, ranges.series.size());
    if (inserted) {
      RETURN_IF_ERROR(HoldLabels(element.labels));
      ranges.series.push_back({std::move(element.labels), {}});
      ranges.bytes += kPlace + label_bytes;
    }
    std::vector<Point>& points = ranges.series[at->second].points;
    const size_t room = points.capacity();
    points.push_back({at_ms, element.value});
    ranges.bytes += (points.capacity() - room) * sizeof(Point);
  }
  return memory_.Keep(ranges.bytes - before);
}

absl::Status Evaluator::MakeNameless(SelectorSamples& samples) {
  if (samples.series_count() == 0) return absl::OkStatus();
  if (memory_.has_limit()) RETURN_IF_ERROR(memory_.Keep(samples.NamelessBytes()));
  samples.NamelessOf(0);
  return absl::OkStatus();
}

absl::Status Evaluator::Charge(size_t points) {
  constexpr int64_t kBetweenInterruptions = 1 << 16;
  const int64_t before = work_;
  work_ += static_cast<int64_t>(points);
  if (work_ > options_.max_points * kWorkPerPoint) return TooManyPoints();
  if (options_.interrupted && before / kBetweenInterruptions != work_ / kBetweenInterruptions) {
    return options_.interrupted();
  }
  return absl::OkStatus();
}

int64_t Evaluator::BaseTime(const TimeShift& shift, int64_t now_ms) const {
  switch (shift.at) {
    case TimeShift::At::kNone: return now_ms;
    case TimeShift::At::kTime: return shift.at_ms;
    case TimeShift::At::kStart: return steps_.start_ms;
    case TimeShift::At::kEnd: return steps_.end_ms;
  }
  return now_ms;
}

int64_t Evaluator::FirstStep(const Subquery& subquery, int64_t end_ms) const {
  return AlignUp(WindowTo(end_ms, subquery.range_ms).from_ms, StepOf(subquery));
}

absl::Status Evaluator::Load(const Expr& expr, const SeriesReader& store, TimeSpan moments) {
  if (const auto* selector = expr.As<Selector>()) return LoadSelector(*selector, store, moments);
  if (const auto* paren = expr.As<Paren>()) return Load(*paren->expr, store, moments);
  if (const auto* unary = expr.As<Unary>()) return Load(*unary->expr, store, moments);
  if (const auto* subquery = expr.As<Subquery>()) {
    const int64_t offset_ms = subquery->shift.offset_ms;
    const int64_t first_end_ms = BaseTime(subquery->shift, moments.from_ms) - offset_ms;
    const int64_t last_end_ms = BaseTime(subquery->shift, moments.to_ms) - offset_ms;
    const TimeSpan inside = {FirstStep(*subquery, first_end_ms), last_end_ms};
    if (inside.from_ms > inside.to_ms) return absl::OkStatus();  // it is never evaluated
    return Load(*subquery->expr, store, inside);
  }
  if (const auto* call = expr.As<Call>()) return LoadCall(*call, store, moments);
  if (const auto* binary = expr.As<Binary>()) {
    RETURN_IF_ERROR(Load(*binary->lhs, store, moments));
    return Load(*binary->rhs, store, moments);
  }
  if (const auto* aggregation = expr.As<Aggregation>()) {
    if (aggregation->param) RETURN_IF_ERROR(Load(*aggregation->param, store, moments));
    return Load(*aggregation->expr, store, moments);
  }
  return absl::OkStatus();
}

// A function of windows that is evaluated at one moment needs the samples of only one series at a
// time. These stay in the processor's caches; those of ten thousand series would need new pages.
absl::Status Evaluator::LoadCall(const Call& call, const SeriesReader& store, TimeSpan moments) {
  const bool once =
      moments.from_ms == moments.to_ms && FindRangeFunction(call.function->name) != nullptr;
  for (const ExprPtr& arg : call.args) {
    const auto* selector = Unwrap(*arg).As<Selector>();
    if (!once || selector == nullptr || selector->range_ms == 0 ||
        selector->shift.at != TimeShift::At::kNone) {
      RETURN_IF_ERROR(Load(*arg, store, moments));
      continue;
    }
    ASSIGN_OR_RETURN(SeriesList series, SeriesOf(*selector, store));
    SelectorSamples samples(std::move(series), {}, SelectorSamples::Kind::kOneByOne, 0, meter_);
    RETURN_IF_ERROR(memory_.Keep(samples.Bytes()));
    samples_.emplace(selector, std::move(samples));
  }
  return absl::OkStatus();
}

absl::StatusOr<SeriesList> Evaluator::SeriesOf(const Selector& selector,
                                               const SeriesReader& store) {
  if (options_.interrupted) RETURN_IF_ERROR(options_.interrupted());
  ASSIGN_OR_RETURN(SeriesList series, store.SelectUnless(options_.interrupted, selector.matchers));
  series_ += static_cast<int64_t>(series.size());
  if (series_ > options_.max_points) return TooManyPoints();
  return series;
}

absl::Status Evaluator::LoadSelector(const Selector& selector, const SeriesReader& store,
                                     TimeSpan moments) {
  using Kind = SelectorSamples::Kind;
  const bool ranged = selector.range_ms > 0;
  const int64_t length_ms = ranged ? selector.range_ms : options_.lookback_ms;
  const TimeSpan base = {BaseTime(selector.shift, moments.from_ms),
                         BaseTime(selector.shift, moments.to_ms)};
  const int64_t offset_ms = selector.shift.offset_ms;
  TimeSpan span = {WindowTo(base.from_ms - offset_ms, length_ms).from_ms, base.to_ms - offset_ms};
  const bool one_moment = base.from_ms == base.to_ms;
  Kind kind = ranged ? Kind::kWithoutEnd : one_moment ? Kind::kNewest : Kind::kAll;
  // timestamp() looks back from the pinned time itself.
  if (!ranged && selector.shift.at != TimeShift::At::kNone && offset_ms < 0) {
    span.from_ms = WindowTo(base.from_ms, length_ms).from_ms;
    kind = Kind::kAll;
  }
  auto left = static_cast<size_t>(std::max<int64_t>(options_.max_points - held_, 0));
  if (memory_.has_limit()) left = std::min(left, memory_.left() / sizeof(Point));
  ASSIGN_OR_RETURN(SeriesList series, SeriesOf(selector, store));
  SelectorSamples samples(std::move(series), span, kind, left, meter_);
  RETURN_IF_ERROR(samples.status());
  RETURN_IF_ERROR(memory_.Keep(samples.Bytes()));
  RETURN_IF_ERROR(Hold(samples.point_count()));
  samples_.emplace(&selector, std::move(samples));
  return absl::OkStatus();
}

absl::StatusOr<Value> Evaluator::EvalMoment(const Expr& expr, int64_t now_ms) {
  const int64_t before = held_by_labels_;
  const size_t used_before = memory_.used();
  ASSIGN_OR_RETURN(Value value, Eval(expr, now_ms));
  memory_.ReturnTo(used_before);
  held_ -= held_by_labels_ - before;
  held_by_labels_ = before;
  return value;
}

absl::StatusOr<Value> Evaluator::Eval(const Expr& expr, int64_t now_ms) {
  RETURN_IF_ERROR(Charge(1));
  if (const auto* number = expr.As<NumberLiteral>()) return Value(number->value);
  if (const auto* literal = expr.As<StringLiteral>()) return Value(literal->value);
  if (const auto* paren = expr.As<Paren>()) return Eval(*paren->expr, now_ms);
  const size_t used_before = memory_.used();
  ASSIGN_OR_RETURN(Value value, EvalNode(expr, now_ms));
  if (const auto* vector = std::get_if<Vector>(&value)) {
    RETURN_IF_ERROR(meter_.Count(kStepsOfElement * vector->size()));
  }
  if (!memory_.has_limit()) return value;
  // The inputs of the value may have been in memory beside it until now.
  const size_t bytes = BytesOf(value);
  RETURN_IF_ERROR(memory_.Use(bytes));
  memory_.ReturnTo(used_before + bytes);
  return value;
}

absl::StatusOr<Value> Evaluator::EvalNode(const Expr& expr, int64_t now_ms) {
  if (const auto* selector = expr.As<Selector>()) {
    if (selector->range_ms == 0) return EvalSelector(*selector, now_ms);
    return EvalMatrixSelector(*selector, now_ms);
  }
  if (const auto* subquery = expr.As<Subquery>()) return EvalSubquery(*subquery, now_ms);
  if (const auto* unary = expr.As<Unary>()) return EvalUnary(*unary, now_ms);
  if (const auto* binary = expr.As<Binary>()) return EvalBinary(*binary, now_ms);
  if (const auto* call = expr.As<Call>()) return EvalCall(*call, now_ms);
  return EvalAggregation(std::get<Aggregation>(expr.node), now_ms);
}

absl::StatusOr<Vector> Evaluator::EvalSelector(const Selector& selector, int64_t now_ms) {
  const int64_t at_ms = BaseTime(selector.shift, now_ms) - selector.shift.offset_ms;
  const SelectorSamples& samples = samples_[&selector];
  RETURN_IF_ERROR(Charge(samples.series_count()));
  const TimeSpan window = WindowTo(at_ms, options_.lookback_ms);
  Vector vector;
  vector.reserve(samples.series_count());
  for (size_t i = 0; i < samples.series_count(); ++i) {
    const Point* point = samples.Current(i, window);
    if (point != nullptr) vector.push_back({samples.LabelsOf(i), point->value});
  }
  return vector;
}

absl::StatusOr<std::vector<Evaluator::Window>> Evaluator::WindowsOf(const Selector& selector,
                                                                    TimeSpan span, bool keep_name) {
  SelectorSamples& samples = samples_[&selector];
  if (!keep_name) RETURN_IF_ERROR(MakeNameless(samples));
  std::vector<Window> windows;
  windows.reserve(samples.series_count());
  size_t points = samples.series_count();
  for (size_t i = 0; i < samples.series_count(); ++i) {
    const absl::Span<const Point> in = samples.In(i, span);
    if (in.empty()) continue;
    const Labels& source = samples.LabelsOf(i);
    windows.push_back({source, keep_name ? source : samples.NamelessOf(i), in});
    points += in.size();
  }
  RETURN_IF_ERROR(memory_.Use(windows.capacity() * sizeof(Window)));
  RETURN_IF_ERROR(Charge(points));
  return windows;
}

absl::StatusOr<Matrix> Evaluator::EvalMatrixSelector(const Selector& selector, int64_t now_ms) {
  const int64_t end_ms = BaseTime(selector.shift, now_ms) - selector.shift.offset_ms;
  Matrix matrix;
  matrix.start_ms = end_ms - selector.range_ms;
  matrix.end_ms = end_ms;
  ASSIGN_OR_RETURN(const std::vector<Window> windows,
                   WindowsOf(selector, WindowTo(end_ms, selector.range_ms), /*keep_name=*/true));
  size_t points = 0;
  for (const Window& window : windows) points += window.points.size();
  RETURN_IF_ERROR(memory_.Use(points * sizeof(Point)));
  for (const Window& window : windows) {
    matrix.series.push_back({window.labels, {window.points.begin(), window.points.end()}});
  }
  return matrix;
}

absl::StatusOr<Matrix> Evaluator::EvalSubquery(const Subquery& subquery, int64_t now_ms) {
  Matrix matrix;
  matrix.end_ms = BaseTime(subquery.shift, now_ms) - subquery.shift.offset_ms;
  matrix.start_ms = matrix.end_ms - subquery.range_ms;
  const int64_t step = StepOf(subquery);
  const int64_t held_before = held_;
  RangesInTheMaking ranges;
  for (int64_t at = FirstStep(subquery, matrix.end_ms); at <= matrix.end_ms; at += step) {
    ASSIGN_OR_RETURN(Value value, EvalMoment(*subquery.expr, at));
    RETURN_IF_ERROR(Append(at, std::get<Vector>(std::move(value)), ranges));
  }
  held_ = held_before;  // until the moment is over, which keeps one of them
  memory_.Drop(ranges.bytes);
  matrix.series = std::move(ranges.series);
  return matrix;
}

// A function of windows must not make one series of two even if they never occur at the same
// moment; in dialect 2 a sign must not either.
absl::Status Evaluator::CheckOneSource(const void* node, const Labels& result,
                                       const Labels& source) {
  const auto [at, inserted] = sources_[node].try_emplace(result, source);
  if (inserted) {
    constexpr size_t kPlace = 2 * sizeof(std::pair<Labels, Labels>);
    return memory_.Keep(kPlace + result.encoded().size() + source.encoded().size());
  }
  return at->second == source ? absl::OkStatus() : SameLabelSet();
}

absl::StatusOr<Value> Evaluator::EvalUnary(const Unary& unary, int64_t now_ms) {
  ASSIGN_OR_RETURN(Value value, Eval(*unary.expr, now_ms));
  if (!unary.negative) return value;
  if (auto* scalar = std::get_if<double>(&value)) return Value(-*scalar);
  Vector vector = std::get<Vector>(std::move(value));
  for (Element& element : vector) {
    element.value = -element.value;
    Labels nameless = WithoutName(element.labels);
    if (options_.dialect == Dialect::k2) {
      RETURN_IF_ERROR(CheckOneSource(&unary, nameless, element.labels));
    }
    element.labels = std::move(nameless);
  }
  return Distinct(std::move(vector));
}

absl::StatusOr<Value> Evaluator::EvalBinary(const Binary& binary, int64_t now_ms) {
  ASSIGN_OR_RETURN(Value lhs, Eval(*binary.lhs, now_ms));
  ASSIGN_OR_RETURN(Value rhs, Eval(*binary.rhs, now_ms));
  const auto* left = std::get_if<double>(&lhs);
  const auto* right = std::get_if<double>(&rhs);
  if (left != nullptr && right != nullptr) return Value(ScalarOperation(binary.op, *left, *right));
  if (left != nullptr || right != nullptr) {
    Vector vector = std::get<Vector>(std::move(left != nullptr ? rhs : lhs));
    return Distinct(VectorScalarOperation(binary, std::move(vector),
                                          left != nullptr ? *left : *right, left != nullptr,
                                          options_.dialect));
  }
  ASSIGN_OR_RETURN(Vector result,
                   VectorOperation(binary, std::get<Vector>(lhs), std::get<Vector>(rhs),
                                   options_.dialect, meter_, memory_));
  return Distinct(std::move(result));
}

absl::StatusOr<Vector> Evaluator::EvalAggregation(const Aggregation& aggregation, int64_t now_ms) {
  AggregationParam param;
  if (aggregation.param) {
    ASSIGN_OR_RETURN(Value value, Eval(*aggregation.param, now_ms));
    if (auto* number = std::get_if<double>(&value)) param.number = *number;
    if (auto* label = std::get_if<std::string>(&value)) param.label = std::move(*label);
  }
  ASSIGN_OR_RETURN(Vector vector, EvalGrouped(aggregation, now_ms));
  return Aggregate(aggregation, param, options_.dialect, meter_, memory_, std::move(vector));
}

}  // namespace flyball::promql
