#include <algorithm>
#include <map>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "rules/lint.h"
#include "rules/resource_mapping.h"

namespace flyball::rules {
namespace {

void LintLabelTemplate(const TextField& field, const std::string& path, const Warner& warn) {
  const auto query = QueryTemplate::ParseLabel(field.text);
  if (!query.ok()) return;
  for (const auto& [name, block] : query->tree().definitions) {
    for (const tmpl::Statement& statement : block) {
      const auto* text = std::get_if<tmpl::Text>(&statement);
      if (text == nullptr || text->text.find_first_of(R"(\.+*?()|[]{}^$)") == std::string::npos) {
        continue;
      }
      return warn(field.place, path,
                  "holds characters that are special in a regular expression: labels are matched "
                  "with it as it is, and queries use them literally");
    }
  }
}

}  // namespace

std::string GuessResource(const OverrideConfig& item) {
  return absl::StrCat(GuessSingular(item.resource.text), ".", item.group.text);
}

bool HasLabelFor(const MappingConfig& mapping, absl::string_view singular) {
  if (!mapping.label_template.text.empty()) return true;
  return std::any_of(mapping.overrides.begin(), mapping.overrides.end(),
                     [&](const OverrideConfig& item) {
                       return GuessResource(item) == absl::StrCat(singular, ".");
                     });
}

void LintMapping(const MappingConfig& mapping, absl::string_view field, const Warner& warn) {
  LintLabelTemplate(mapping.label_template, absl::StrCat(field, ".template"), warn);
  std::map<std::string, std::string> labels;
  for (const OverrideConfig& item : mapping.overrides) {
    if (item.resource.text.empty()) continue;
    const auto [first, fresh] = labels.emplace(GuessResource(item), item.label.text);
    if (fresh) continue;
    warn(item.label.place, absl::StrCat(field, ".overrides.", item.label.text),
         absl::StrCat("names the same resource as ", go::Quote(first->second),
                      ": queries use only the last one"));
  }
}

}  // namespace flyball::rules
