#include "scaler/triggers/value_path.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/quantity.h"

namespace flyball::scaler {
namespace {

const Node* Step(const Node& node, const std::string& step) {
  if (node.is_list()) {
    size_t index = 0;
    const bool digits = !step.empty() && step.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || !absl::SimpleAtoi(step, &index) || index >= node.items.size()) return nullptr;
    return &node.items[index];
  }
  for (const Member& member : node.members) {
    if (member.key == step) return &member.value;
  }
  return nullptr;
}

absl::StatusOr<double> ToNumber(const Node& node, absl::string_view path) {
  double number = 0;
  if (node.kind == Node::Kind::kNumber && absl::SimpleAtod(node.text, &number) &&
      std::isfinite(number)) {
    return number;
  }
  if (node.kind == Node::Kind::kString) {
    const absl::StatusOr<kube::Quantity> quantity = kube::Quantity::Parse(node.text);
    if (quantity.ok()) {
      const auto units = static_cast<double>(quantity->Value());
      // Beyond this, thousandths would not fit.
      if (std::fabs(units) >= 9.0e15) return units;
      return static_cast<double>(quantity->MilliValue()) / 1000;
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat("expected a number or a quantity at ", path, ", found ",
                   node.kind == Node::Kind::kString ? "another string" : KindName(node.kind)));
}

}  // namespace

absl::StatusOr<ValuePath> ValuePath::Parse(absl::string_view text) {
  ValuePath out;
  out.text_ = std::string(text);
  const auto refuse = [](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(
        why, "; what works is names and list indices between dots, and `#` at the end"));
  };
  if (text.empty()) return refuse("is empty");
  if (absl::StartsWith(text, "..")) return refuse("JSON lines are not read");
  std::string step;
  bool escaped = false;  // the step has an escaped character, so it is meant as it stands
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == '.') {
      if (step == "#" && !escaped) {
        if (i != text.size()) return refuse("`#` is not at the end");
        out.length_ = true;
      } else {
        out.steps_.push_back(step);
      }
      step.clear();
      escaped = false;
      continue;
    }
    if (text[i] == '\\') {
      if (++i == text.size()) return refuse("ends with `\\`");
      escaped = true;
    } else if (absl::StrContains("*?|", text.substr(i, 1)) ||
               (step.empty() && absl::StrContains("@!{[", text.substr(i, 1))) ||
               (text[i] == '(' && step == "#")) {
      return refuse(absl::StrCat("`", text.substr(i, 1), "` has a meaning that is left out here"));
    }
    step += text[i];
  }
  return out;
}

absl::StatusOr<double> ValuePath::Read(const Node& document) const {
  const Node* at = &document;
  for (const std::string& step : steps_) {
    at = Step(*at, step);
    if (at == nullptr) return absl::NotFoundError(absl::StrCat("nothing at ", text_));
  }
  if (!length_) return ToNumber(*at, text_);
  if (at->is_list()) return static_cast<double>(at->items.size());
  return absl::FailedPreconditionError(
      absl::StrCat("expected a list before `#` of ", text_, ", found ", KindName(at->kind)));
}

}  // namespace flyball::scaler
