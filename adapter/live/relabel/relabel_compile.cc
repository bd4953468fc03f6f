// What a rule must be, checked once.
#include <re2/re2.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/relabel/relabel.h"
#include "base/go/text.h"
#include "base/status_macros.h"

namespace flyball::relabel {
namespace {

struct ActionName {
  absl::string_view name;
  Action action;
};

constexpr ActionName kActions[] = {
    {"replace", Action::kReplace},     {"keep", Action::kKeep},
    {"drop", Action::kDrop},           {"keepequal", Action::kKeepEqual},
    {"dropequal", Action::kDropEqual}, {"hashmod", Action::kHashMod},
    {"labelmap", Action::kLabelMap},   {"labeldrop", Action::kLabelDrop},
    {"labelkeep", Action::kLabelKeep}, {"lowercase", Action::kLowercase},
    {"uppercase", Action::kUppercase},
};

absl::Status Refuse(absl::string_view field, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", problem));
}

absl::StatusOr<Action> ActionOf(const RuleText& text) {
  const std::string wanted = absl::AsciiStrToLower(text.action);
  for (const ActionName& known : kActions) {
    if (known.name == wanted) return known.action;
  }
  std::string names;
  for (const ActionName& known : kActions) absl::StrAppend(&names, " ", known.name);
  return Refuse("action",
                absl::StrCat("found ", go::Quote(text.action), ", expected one of", names));
}

// A name that may hold `$1`, `${name}`.
bool IsNameTemplate(absl::string_view text, bool legacy) {
  static const re2::LazyRE2 kLegacy = {R"((?:(?:[a-zA-Z_]|\$(?:\{\w+\}|\w+))+\w*)+)"};
  return legacy ? re2::RE2::FullMatch({text.data(), text.size()}, *kLegacy)
                : IsLabelName(text, legacy);
}

absl::Status CheckTarget(const RuleText& text, Action action) {
  if (text.target_label.empty()) {
    return Refuse("target_label", absl::StrCat("the action ", text.action, " needs one"));
  }
  const bool template_too = action == Action::kReplace && absl::StrContains(text.target_label, '$');
  if (template_too ? IsNameTemplate(text.target_label, text.legacy_names)
                   : IsLabelName(text.target_label, text.legacy_names)) {
    return absl::OkStatus();
  }
  return Refuse("target_label",
                absl::StrCat(go::Quote(text.target_label), " is no label name, as the action ",
                             text.action, " needs one"));
}

// Fields that the action does not read may only have their defaults.
absl::Status CheckUnused(const RuleText& text, Action action) {
  const RuleText unset;
  const bool by_name = action == Action::kLabelDrop || action == Action::kLabelKeep;
  const bool equal = action == Action::kKeepEqual || action == Action::kDropEqual;
  const bool letter_case = action == Action::kLowercase || action == Action::kUppercase;
  absl::string_view field;
  if (by_name && !text.source_labels.empty()) field = "source_labels";
  if (by_name && !text.target_label.empty()) field = "target_label";
  if (equal && text.regex != unset.regex) field = "regex";
  if ((by_name || equal) && text.modulus != unset.modulus) field = "modulus";
  if ((by_name || equal) && text.separator != unset.separator) field = "separator";
  if ((by_name || equal || letter_case) && text.replacement != unset.replacement) {
    field = "replacement";
  }
  if (field.empty()) return absl::OkStatus();
  return Refuse(field, absl::StrCat("the action ", text.action, " has no such field"));
}

absl::Status Check(const RuleText& text, Action action) {
  switch (action) {
    case Action::kHashMod:
      if (text.modulus == 0) return Refuse("modulus", "the action hashmod needs one above 0");
      [[fallthrough]];
    case Action::kReplace:
    case Action::kKeepEqual:
    case Action::kDropEqual:
    case Action::kLowercase:
    case Action::kUppercase: RETURN_IF_ERROR(CheckTarget(text, action)); break;
    case Action::kLabelMap:
      if (!IsNameTemplate(text.replacement, text.legacy_names)) {
        return Refuse("replacement",
                      absl::StrCat(go::Quote(text.replacement), " is no template of a label name"));
      }
      break;
    case Action::kKeep:
    case Action::kDrop:
    case Action::kLabelDrop:
    case Action::kLabelKeep: break;
  }
  return CheckUnused(text, action);
}

}  // namespace

bool IsLabelName(absl::string_view name, bool legacy) {
  if (name.empty()) return false;
  if (!legacy) return go::IsUtf8(name);
  if (absl::ascii_isdigit(static_cast<unsigned char>(name.front()))) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return true;
}

absl::StatusOr<Rule> Rule::Compile(RuleText text) {
  ASSIGN_OR_RETURN(const Action action, ActionOf(text));
  RETURN_IF_ERROR(Check(text, action));
  const auto alone = go::Regexp::Compile(text.regex);
  if (!alone.ok()) return Refuse("regex", alone.status().message());
  auto anchored = go::Regexp::Compile(absl::StrCat("^(?s:", text.regex, ")$"));
  if (!anchored.ok()) return Refuse("regex", anchored.status().message());
  return Rule(std::move(text), action, *std::move(anchored));
}

}  // namespace flyball::relabel
