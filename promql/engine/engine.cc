#include "promql/engine/engine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/engine/evaluator.h"

namespace flyball::promql {
namespace {

constexpr int64_t kMaxSteps = 11'000;

absl::Status CheckSteps(const Steps& steps) {
  if (steps.step_ms <= 0) {
    return absl::InvalidArgumentError(
        "zero or negative query resolution step widths are not accepted. Try a positive integer");
  }
  if (steps.end_ms < steps.start_ms) {
    return absl::InvalidArgumentError("end timestamp must not be before start time");
  }
  if ((steps.end_ms - steps.start_ms) / steps.step_ms > kMaxSteps) {
    return absl::InvalidArgumentError(
        "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query "
        "resolution (?step=XX)");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Value> EvalInstant(const Expr& expr, const SeriesReader& store, int64_t time_ms,
                                  const EvalOptions& options) {
  // Prometheus 2 fails on a text in parentheses, because of how it computes constants only once.
  if (options.dialect == Dialect::k2 && expr.As<Paren>() != nullptr &&
      expr.Type() == ValueType::kString) {
    return absl::FailedPreconditionError(
        "unexpected result in StepInvariantExpr evaluation: *parser.StepInvariantExpr");
  }
  Evaluator evaluator(options, {time_ms, time_ms, 0});
  RETURN_IF_ERROR(evaluator.Load(expr, store));
  return evaluator.EvalMoment(expr, time_ms);
}

absl::StatusOr<std::vector<Range>> EvalRange(const Expr& expr, const SeriesReader& store,
                                             const Steps& steps, const EvalOptions& options) {
  RETURN_IF_ERROR(CheckSteps(steps));
  const ValueType type = expr.Type();
  if (type != ValueType::kScalar && type != ValueType::kVector) {
    const absl::string_view name = type == ValueType::kMatrix ? "range vector" : "string";
    return absl::InvalidArgumentError(
        absl::StrCat("invalid expression type \"", name,
                     "\" for range query, must be Scalar or instant Vector"));
  }
  Evaluator evaluator(options, steps);
  RETURN_IF_ERROR(evaluator.Load(expr, store));
  RangesInTheMaking result;
  for (int64_t now = steps.start_ms; now <= steps.end_ms; now += steps.step_ms) {
    ASSIGN_OR_RETURN(Value value, evaluator.EvalMoment(expr, now));
    if (const auto* scalar = std::get_if<double>(&value)) value = Vector{{{}, *scalar}};
    RETURN_IF_ERROR(evaluator.Append(now, std::get<Vector>(std::move(value)), result));
  }
  std::sort(result.series.begin(), result.series.end(),
            [](const Range& a, const Range& b) { return a.labels < b.labels; });
  return std::move(result.series);
}

}  // namespace flyball::promql
