#include "kube/objects/label_selector.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "base/status_macros.h"

namespace flyball::kube {
namespace {

absl::StatusOr<Operator> ExpressionOperator(absl::string_view text) {
  if (text == "In") return Operator::kIn;
  if (text == "NotIn") return Operator::kNotIn;
  if (text == "Exists") return Operator::kExists;
  if (text == "DoesNotExist") return Operator::kDoesNotExist;
  return absl::InvalidArgumentError(
      absl::StrCat(go::Quote(text), " is not a valid label selector operator"));
}

}  // namespace

absl::StatusOr<Selector> LabelSelector::ToSelector(LabelRules rules) const {
  std::vector<Requirement> requirements;
  for (const auto& [key, value] : match_labels) {
    ASSIGN_OR_RETURN(Requirement requirement,
                     MakeRequirement(key, Operator::kEquals, {value}, rules));
    requirements.push_back(std::move(requirement));
  }
  for (const Expression& expression : match_expressions) {
    ASSIGN_OR_RETURN(const Operator op, ExpressionOperator(expression.op));
    ASSIGN_OR_RETURN(Requirement requirement,
                     MakeRequirement(expression.key, op, expression.values, rules));
    requirements.push_back(std::move(requirement));
  }
  return Selector(std::move(requirements));
}

}  // namespace flyball::kube
