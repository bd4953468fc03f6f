#include "promql/engine/evaluator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/engine/operators.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

constexpr int64_t kDefaultStepMs = 60'000;  // of subqueries without one

absl::StatusOr<Value> Distinct(Vector vector) {
  RETURN_IF_ERROR(CheckDistinct(vector));
  return Value(std::move(vector));
}

// Smallest multiple of `step` that is at least `from`.
int64_t AlignUp(int64_t from, int64_t step) {
  const int64_t rest = ((from % step) + step) % step;
  return rest == 0 ? from : from + (step - rest);
}

}  // namespace

absl::Status Evaluator::Charge(size_t points) {
  points_ += static_cast<int64_t>(points);
  if (points_ <= max_points_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "query processing would load too many samples into memory in query execution");
}

const Evaluator::SeriesList& Evaluator::SeriesOf(const Selector& selector) {
  const auto [at, inserted] = series_.try_emplace(&selector);
  if (inserted) at->second = store_.Select(selector.matchers);
  return at->second;
}

int64_t Evaluator::BaseTime(const TimeShift& shift, int64_t now_ms) const {
  switch (shift.at) {
    case TimeShift::At::kNone:
      return now_ms;
    case TimeShift::At::kTime:
      return shift.at_ms;
    case TimeShift::At::kStart:
    case TimeShift::At::kEnd:
      return time_ms_;
  }
  return now_ms;
}

absl::StatusOr<Value> Evaluator::Eval(const Expr& expr, int64_t now_ms) {
  RETURN_IF_ERROR(Charge(1));
  if (const auto* number = expr.As<NumberLiteral>()) return Value(number->value);
  if (const auto* literal = expr.As<StringLiteral>()) return Value(literal->value);
  if (const auto* paren = expr.As<Paren>()) return Eval(*paren->expr, now_ms);
  if (const auto* selector = expr.As<Selector>()) {
    if (selector->range_ms == 0) return EvalSelector(*selector, now_ms);
    return EvalWindow(*selector, now_ms);
  }
  if (const auto* subquery = expr.As<Subquery>()) return EvalSubquery(*subquery, now_ms);
  if (const auto* unary = expr.As<Unary>()) return EvalUnary(*unary, now_ms);
  if (const auto* binary = expr.As<Binary>()) return EvalBinary(*binary, now_ms);
  if (const auto* call = expr.As<Call>()) return EvalCall(*call, now_ms);
  return EvalAggregation(std::get<Aggregation>(expr.node), now_ms);
}

std::optional<Point> Evaluator::Current(const Series& series, int64_t at_ms, int64_t oldest_ms) {
  const std::optional<Point> newest = series.Newest(oldest_ms + 1, at_ms);
  return newest && IsStale(newest->value) ? std::nullopt : newest;
}

absl::StatusOr<Vector> Evaluator::EvalSelector(const Selector& selector, int64_t now_ms) {
  const int64_t at_ms = BaseTime(selector.shift, now_ms) - selector.shift.offset_ms;
  const auto& series = SeriesOf(selector);
  RETURN_IF_ERROR(Charge(series.size()));
  Vector vector;
  for (const auto& one : series) {
    const auto point = Current(*one, at_ms, at_ms - kLookbackMs);
    if (point) vector.push_back({one->labels().ToLabelSet(), point->value});
  }
  return vector;
}

absl::StatusOr<Matrix> Evaluator::EvalWindow(const Selector& selector, int64_t now_ms) {
  Matrix matrix;
  matrix.end_ms = BaseTime(selector.shift, now_ms) - selector.shift.offset_ms;
  matrix.start_ms = matrix.end_ms - selector.range_ms;
  for (const auto& one : SeriesOf(selector)) {
    Range range;
    one->Read(matrix.start_ms + 1, matrix.end_ms, range.points);
    std::erase_if(range.points, [](const Point& point) { return IsStale(point.value); });
    RETURN_IF_ERROR(Charge(range.points.size() + 1));
    if (range.points.empty()) continue;
    range.labels = one->labels().ToLabelSet();
    matrix.series.push_back(std::move(range));
  }
  return matrix;
}

absl::StatusOr<Matrix> Evaluator::EvalSubquery(const Subquery& subquery, int64_t now_ms) {
  Matrix matrix;
  matrix.end_ms = BaseTime(subquery.shift, now_ms) - subquery.shift.offset_ms;
  matrix.start_ms = matrix.end_ms - subquery.range_ms;
  const int64_t step = subquery.step_ms > 0 ? subquery.step_ms : kDefaultStepMs;
  absl::flat_hash_map<LabelSet, size_t> index;
  for (int64_t at = AlignUp(matrix.start_ms + 1, step); at <= matrix.end_ms; at += step) {
    ASSIGN_OR_RETURN(Vector vector, EvalAs<Vector>(*subquery.expr, at));
    RETURN_IF_ERROR(Charge(vector.size()));
    for (Element& element : vector) {
      const auto [found, inserted] = index.emplace(element.labels, matrix.series.size());
      if (inserted) matrix.series.push_back({std::move(element.labels), {}});
      matrix.series[found->second].points.push_back({at, element.value});
    }
  }
  return matrix;
}

absl::StatusOr<Value> Evaluator::EvalUnary(const Unary& unary, int64_t now_ms) {
  ASSIGN_OR_RETURN(Value value, Eval(*unary.expr, now_ms));
  if (!unary.negative) return value;
  if (auto* scalar = std::get_if<double>(&value)) return Value(-*scalar);
  Vector vector = std::get<Vector>(std::move(value));
  for (Element& element : vector) {
    element.value = -element.value;
    DropName(&element.labels);
  }
  return Distinct(std::move(vector));
}

absl::StatusOr<Value> Evaluator::EvalBinary(const Binary& binary, int64_t now_ms) {
  ASSIGN_OR_RETURN(Value lhs, Eval(*binary.lhs, now_ms));
  ASSIGN_OR_RETURN(Value rhs, Eval(*binary.rhs, now_ms));
  const auto* left = std::get_if<double>(&lhs);
  const auto* right = std::get_if<double>(&rhs);
  if (left != nullptr && right != nullptr) {
    return Value(ScalarOperation(binary.op, *left, *right));
  }
  if (left != nullptr || right != nullptr) {
    Vector vector = std::get<Vector>(std::move(left != nullptr ? rhs : lhs));
    return Distinct(VectorScalarOperation(binary, std::move(vector),
                                          left != nullptr ? *left : *right, left != nullptr));
  }
  ASSIGN_OR_RETURN(Vector result,
                   VectorOperation(binary, std::get<Vector>(lhs), std::get<Vector>(rhs)));
  return Distinct(std::move(result));
}

absl::StatusOr<Vector> Evaluator::EvalAggregation(const Aggregation& aggregation, int64_t now_ms) {
  AggregationParam param;
  if (aggregation.param) {
    ASSIGN_OR_RETURN(Value value, Eval(*aggregation.param, now_ms));
    if (auto* number = std::get_if<double>(&value)) param.number = *number;
    if (auto* label = std::get_if<std::string>(&value)) param.label = std::move(*label);
  }
  ASSIGN_OR_RETURN(Vector vector, EvalAs<Vector>(*aggregation.expr, now_ms));
  return Aggregate(aggregation, param, std::move(vector));
}

absl::StatusOr<Value> EvalInstant(const Expr& expr, const SeriesReader& store, int64_t time_ms,
                                  int64_t max_points) {
  return Evaluator(store, time_ms, max_points).Eval(expr, time_ms);
}

}  // namespace flyball::promql
