#include "promql/selectors.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace flyball::promql {
namespace {

struct Walk {
  absl::FunctionRef<void(const Selector&)> see;

  void Into(const ExprPtr& expr) const {
    if (expr != nullptr) std::visit(*this, expr->node);
  }

  void operator()(const NumberLiteral&) const {}
  void operator()(const StringLiteral&) const {}
  void operator()(const Selector& selector) const { see(selector); }
  void operator()(const Subquery& subquery) const { Into(subquery.expr); }
  void operator()(const Unary& unary) const { Into(unary.expr); }
  void operator()(const Paren& paren) const { Into(paren.expr); }
  void operator()(const Call& call) const {
    for (const ExprPtr& arg : call.args) Into(arg);
  }
  void operator()(const Aggregation& aggregation) const {
    Into(aggregation.param);
    Into(aggregation.expr);
  }
  void operator()(const Binary& binary) const {
    Into(binary.lhs);
    Into(binary.rhs);
  }
};

}  // namespace

void ForEachSelector(const Expr& expr, absl::FunctionRef<void(const Selector&)> see) {
  std::visit(Walk{see}, expr.node);
}

std::string SelectorText(const std::vector<Matcher>& matchers) {
  return absl::StrCat("{",
                      absl::StrJoin(matchers, ",",
                                    [](std::string* text, const Matcher& matcher) {
                                      absl::StrAppend(text, matcher.ToString());
                                    }),
                      "}");
}

}  // namespace flyball::promql
