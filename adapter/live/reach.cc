#include "adapter/live/reach.h"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "promql/selectors.h"

namespace flyball::adapter {
namespace {

int64_t Minus(int64_t time_ms, int64_t span_ms) {
  int64_t result = 0;
  if (!__builtin_sub_overflow(time_ms, span_ms, &result)) return result;
  return span_ms > 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

using SeeRead = absl::FunctionRef<void(const promql::Selector&, int64_t)>;

// Walks over the parts of a query, each of which is evaluated at `time_ms` or later. The inside of
// a subquery is first evaluated at the beginning of its range, where it reads furthest back.
struct Walk {
  int64_t time_ms = 0;
  int64_t warmup_ms = 0;
  SeeRead see;

  int64_t Shifted(const promql::TimeShift& shift, int64_t range_ms) const {
    const bool fixed = shift.at == promql::TimeShift::At::kTime;
    return Minus(Minus(fixed ? shift.at_ms : time_ms, shift.offset_ms), range_ms);
  }
  void Of(const promql::ExprPtr& expr) const {
    if (expr != nullptr) std::visit(*this, expr->node);
  }

  void operator()(const promql::NumberLiteral&) const {}
  void operator()(const promql::StringLiteral&) const {}
  void operator()(const promql::Selector& selector) const {
    see(selector, Shifted(selector.shift, selector.range_ms > 0 ? selector.range_ms : warmup_ms));
  }
  void operator()(const promql::Subquery& subquery) const {
    Walk{Shifted(subquery.shift, subquery.range_ms), warmup_ms, see}.Of(subquery.expr);
  }
  void operator()(const promql::Unary& unary) const { Of(unary.expr); }
  void operator()(const promql::Paren& paren) const { Of(paren.expr); }
  void operator()(const promql::Call& call) const {
    for (const promql::ExprPtr& arg : call.args) Of(arg);
  }
  void operator()(const promql::Aggregation& aggregation) const {
    Of(aggregation.param);
    Of(aggregation.expr);
  }
  void operator()(const promql::Binary& binary) const {
    Of(binary.lhs);
    Of(binary.rhs);
  }
};

std::string Shown(int64_t time_ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", absl::FromUnixMillis(time_ms),
                          absl::UTCTimeZone());
}

}  // namespace

void ForEachRead(const promql::Expr& expr, int64_t time_ms, int64_t warmup_ms, SeeRead see) {
  std::visit(Walk{time_ms, warmup_ms, see}, expr.node);
}

absl::Status CheckReach(const promql::Expr& expr, int64_t time_ms, const LiveWindow& window) {
  const int64_t forgotten_ms = absl::ToUnixMillis(absl::FromUnixMillis(time_ms) - window.retention);
  absl::Status status;
  const auto check = [&](const promql::Selector& selector, int64_t since_ms) {
    const int64_t kept_ms =
        window.kept == nullptr ? forgotten_ms : window.kept->Of(selector.matchers);
    const int64_t has_since_ms = std::max(kept_ms, forgotten_ms);
    if (!status.ok() || since_ms >= has_since_ms) return;
    if (kept_ms == std::numeric_limits<int64_t>::max()) {
      status = absl::UnavailableError(absl::StrCat("the live source keeps no samples of ",
                                                   promql::SelectorText(selector.matchers),
                                                   ", which no rule in force reads or a "
                                                   "reload has only begun to keep"));
      return;
    }
    status = absl::UnavailableError(absl::StrCat("the live source has samples since ",
                                                 Shown(has_since_ms),
                                                 ", the query needs them since ", Shown(since_ms)));
  };
  ForEachRead(expr, time_ms, absl::ToInt64Milliseconds(window.warmup), check);
  return status;
}

}  // namespace flyball::adapter
