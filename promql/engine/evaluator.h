// One query's evaluation: the inside of engine.h. A subquery evaluates its inside at many moments.
//
// Not thread-safe; one for each query.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "promql/ast.h"
#include "promql/engine/engine.h"
#include "promql/engine/series.h"
#include "promql/engine/value.h"

namespace flyball::promql {

inline constexpr int64_t kLookbackMs = 300'000;  // how old a current sample may be

class Evaluator {
 public:
  // `time_ms`: of the whole query.
  Evaluator(const SeriesReader& store, int64_t time_ms, int64_t max_points)
      : store_(store), time_ms_(time_ms), max_points_(max_points) {}

  absl::StatusOr<Value> Eval(const Expr& expr, int64_t now_ms);

 private:
  absl::Status Charge(size_t points);
  using SeriesList = std::vector<std::shared_ptr<const Series>>;
  const SeriesList& SeriesOf(const Selector& selector);
  // The moment that a selector's `@` names, else now; its offset not yet taken off.
  int64_t BaseTime(const TimeShift& shift, int64_t now_ms) const;

  // Of an expression whose type is known to be T's.
  template <typename T>
  absl::StatusOr<T> EvalAs(const Expr& expr, int64_t now_ms) {
    ASSIGN_OR_RETURN(Value value, Eval(expr, now_ms));
    return std::get<T>(std::move(value));
  }

  // The newest sample of a series at `at_ms` that is after `oldest_ms`; nullopt: none or ended.
  static std::optional<Point> Current(const Series& series, int64_t at_ms, int64_t oldest_ms);
  absl::StatusOr<Vector> EvalSelector(const Selector& selector, int64_t now_ms);
  absl::StatusOr<Matrix> EvalWindow(const Selector& selector, int64_t now_ms);
  absl::StatusOr<Matrix> EvalSubquery(const Subquery& subquery, int64_t now_ms);

  absl::StatusOr<Value> EvalUnary(const Unary& unary, int64_t now_ms);
  absl::StatusOr<Value> EvalBinary(const Binary& binary, int64_t now_ms);
  absl::StatusOr<Vector> EvalAggregation(const Aggregation& aggregation, int64_t now_ms);

  absl::StatusOr<Value> EvalCall(const Call& call, int64_t now_ms);
  absl::StatusOr<Vector> EvalVectorCall(const Call& call, int64_t now_ms);
  absl::StatusOr<Vector> EvalRangeCall(const Call& call, int64_t now_ms);
  absl::StatusOr<Vector> EvalTimestamp(const Expr& arg, int64_t now_ms);
  absl::StatusOr<Vector> EvalAbsent(const Call& call, int64_t now_ms);
  absl::StatusOr<Vector> EvalLabelCall(const Call& call, int64_t now_ms);
  absl::StatusOr<Vector> EvalClamp(const Call& call, int64_t now_ms);

  const SeriesReader& store_;
  const int64_t time_ms_;
  const int64_t max_points_;
  int64_t points_ = 0;
  absl::flat_hash_map<const Selector*, SeriesList> series_;
};

}  // namespace flyball::promql
