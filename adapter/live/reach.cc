#include "adapter/live/reach.h"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"

namespace flyball::adapter {
namespace {

using Since = std::optional<int64_t>;

int64_t Minus(int64_t time_ms, int64_t span_ms) {
  int64_t result = 0;
  if (!__builtin_sub_overflow(time_ms, span_ms, &result)) return result;
  return span_ms > 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// The earliest that parts of a query read, each evaluated at `time_ms` or later. What a subquery
// holds is evaluated since the beginning of its range, where it reads furthest back.
struct Walk {
  int64_t time_ms = 0;
  int64_t warmup_ms = 0;

  int64_t Shifted(const promql::TimeShift& shift, int64_t range_ms) const {
    const bool fixed = shift.at == promql::TimeShift::At::kTime;
    return Minus(Minus(fixed ? shift.at_ms : time_ms, shift.offset_ms), range_ms);
  }
  static Since Earlier(Since a, Since b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
  }
  Since Of(const promql::ExprPtr& expr) const {
    return expr == nullptr ? std::nullopt : std::visit(*this, expr->node);
  }

  Since operator()(const promql::NumberLiteral&) const { return std::nullopt; }
  Since operator()(const promql::StringLiteral&) const { return std::nullopt; }
  Since operator()(const promql::Selector& selector) const {
    return Shifted(selector.shift, selector.range_ms > 0 ? selector.range_ms : warmup_ms);
  }
  Since operator()(const promql::Subquery& subquery) const {
    return Walk{Shifted(subquery.shift, subquery.range_ms), warmup_ms}.Of(subquery.expr);
  }
  Since operator()(const promql::Unary& unary) const { return Of(unary.expr); }
  Since operator()(const promql::Paren& paren) const { return Of(paren.expr); }
  Since operator()(const promql::Call& call) const {
    Since since;
    for (const promql::ExprPtr& arg : call.args) since = Earlier(since, Of(arg));
    return since;
  }
  Since operator()(const promql::Aggregation& aggregation) const {
    return Earlier(Of(aggregation.param), Of(aggregation.expr));
  }
  Since operator()(const promql::Binary& binary) const {
    return Earlier(Of(binary.lhs), Of(binary.rhs));
  }
};

std::string Shown(int64_t time_ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", absl::FromUnixMillis(time_ms),
                          absl::UTCTimeZone());
}

}  // namespace

std::optional<int64_t> ReadsSince(const promql::Expr& expr, int64_t time_ms, int64_t warmup_ms) {
  return std::visit(Walk{time_ms, warmup_ms}, expr.node);
}

absl::Status CheckReach(const promql::Expr& expr, int64_t time_ms, const LiveWindow& window) {
  const absl::Time forgotten = absl::FromUnixMillis(time_ms) - window.retention;
  const absl::Time has_since = std::max(window.complete_since, forgotten);
  if (has_since == absl::InfinitePast()) return absl::OkStatus();
  const Since since = ReadsSince(expr, time_ms, absl::ToInt64Milliseconds(window.warmup));
  const int64_t has_since_ms = absl::ToUnixMillis(has_since);
  if (!since.has_value() || *since >= has_since_ms) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the live source has samples since ",
                                             Shown(has_since_ms), ", the query needs them since ",
                                             Shown(*since)));
}

}  // namespace flyball::adapter
