#include "kube/objects/label_selector.h"

#include <string>
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

// The inverse. Of the text form's operators upstream refuses some, under names of its own.
absl::StatusOr<std::string> ExpressionText(Operator op) {
  switch (op) {
    case Operator::kIn: return "In";
    case Operator::kNotIn: return "NotIn";
    case Operator::kExists: return "Exists";
    case Operator::kDoesNotExist: return "DoesNotExist";
    case Operator::kGreaterThan:
      return absl::InvalidArgumentError("\"gt\" isn't supported in label selectors");
    case Operator::kLessThan:
      return absl::InvalidArgumentError("\"lt\" isn't supported in label selectors");
    default: return absl::InvalidArgumentError("\"!=\" is not a valid label selector operator");
  }
}

}  // namespace

absl::StatusOr<LabelSelector> LabelSelector::Parse(absl::string_view text, LabelRules rules) {
  const absl::StatusOr<Selector> parsed = Selector::Parse(text, rules);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("couldn't parse the selector string \"", text,
                                                   "\": ", parsed.status().message()));
  }
  LabelSelector selector;
  for (const Requirement& one : parsed->requirements()) {
    if (one.op == Operator::kEquals || one.op == Operator::kDoubleEquals) {
      selector.match_labels[one.key] = one.values.front();
      continue;
    }
    ASSIGN_OR_RETURN(std::string op, ExpressionText(one.op));
    selector.match_expressions.push_back({one.key, std::move(op), one.values});
  }
  return selector;
}

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
