#include "kube/label_selector.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/label_syntax.h"

namespace flyball::kube {
namespace {

absl::StatusOr<Operator> ExpressionOperator(absl::string_view text) {
  if (text == "In") return Operator::kIn;
  if (text == "NotIn") return Operator::kNotIn;
  if (text == "Exists") return Operator::kExists;
  if (text == "DoesNotExist") return Operator::kDoesNotExist;
  return absl::InvalidArgumentError(
      absl::StrCat(GoQuoted(text), " is not a valid label selector operator"));
}

}  // namespace

absl::StatusOr<Selector> LabelSelector::ToSelector() const {
  std::vector<Requirement> requirements;
  for (const auto& [key, value] : match_labels) {
    ASSIGN_OR_RETURN(Requirement requirement, MakeRequirement(key, Operator::kEquals, {value}));
    requirements.push_back(std::move(requirement));
  }
  for (const Expression& expression : match_expressions) {
    ASSIGN_OR_RETURN(const Operator op, ExpressionOperator(expression.op));
    ASSIGN_OR_RETURN(Requirement requirement,
                     MakeRequirement(expression.key, op, expression.values));
    requirements.push_back(std::move(requirement));
  }
  return Selector(std::move(requirements));
}

absl::StatusOr<LabelSelector> LabelSelector::FromSelector(const Selector& selector) {
  LabelSelector out;
  for (const Requirement& requirement : selector.requirements()) {
    const auto add = [&](absl::string_view op) {
      out.match_expressions.push_back({requirement.key, std::string(op), requirement.values});
    };
    switch (requirement.op) {
      case Operator::kEquals:
      case Operator::kDoubleEquals:
        out.match_labels[requirement.key] =
            requirement.values.empty() ? "" : requirement.values.front();
        break;
      case Operator::kIn:
        add("In");
        break;
      case Operator::kNotIn:
        add("NotIn");
        break;
      case Operator::kExists:
        add("Exists");
        break;
      case Operator::kDoesNotExist:
        add("DoesNotExist");
        break;
      case Operator::kGreaterThan:
      case Operator::kLessThan:
        return absl::InvalidArgumentError(absl::StrCat(GoQuoted(OperatorName(requirement.op)),
                                                       " isn't supported in label selectors"));
      case Operator::kNotEquals:
        return absl::InvalidArgumentError("\"!=\" is not a valid label selector operator");
    }
  }
  return out;
}

}  // namespace flyball::kube
