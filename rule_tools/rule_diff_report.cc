#include "rule_tools/rule_diff.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace flyball::rule_tools {
namespace {

const char* Word(RuleDifference::Kind kind) {
  switch (kind) {
    case RuleDifference::Kind::kGone: return "gone";
    case RuleDifference::Kind::kNew: return "new";
    case RuleDifference::Kind::kChanged: return "changed";
    case RuleDifference::Kind::kMoved: return "moved";
  }
  return "";
}

// "rules[3] config.yaml:12".
std::string Title(const RuleDifference& rule, const RuleDifference::At& at,
                  const std::string& file) {
  const std::string place = absl::StrCat(file, at.line > 0 ? absl::StrCat(":", at.line) : "");
  if (rule.list == "resourceRules") return absl::StrCat(rule.list, " ", place);
  return absl::StrCat(rule.list, "[", at.index, "] ", place);
}

std::string Marked(absl::string_view mark, const std::string& text) {
  const std::string line_end = absl::StrCat("\n    ", mark, " ");
  return absl::StrCat("    ", mark, " ", absl::StrReplaceAll(text, {{"\n", line_end}}), "\n");
}

}  // namespace

std::string DiffText(const RulesDiff& diff, const std::string& was, const std::string& is) {
  std::string out;
  std::map<RuleDifference::Kind, size_t> counts;
  for (const RuleDifference& rule : diff.differences) {
    ++counts[rule.kind];
    absl::StrAppend(&out, Word(rule.kind), ": ", rule.was ? Title(rule, *rule.was, was) : "",
                    rule.was && rule.is ? " -> " : "", rule.is ? Title(rule, *rule.is, is) : "",
                    rule.series.empty() ? "" : ", series ", rule.series, "\n");
    for (const FieldDifference& field : rule.fields) {
      absl::StrAppend(&out, "  ", field.field, "\n", field.before ? Marked("-", *field.before) : "",
                      field.after ? Marked("+", *field.after) : "");
    }
  }
  std::vector<std::string> told;
  for (const auto& [kind, count] : counts) told.push_back(absl::StrCat(count, " ", Word(kind)));
  told.push_back(absl::StrCat(diff.same, " the same"));
  return absl::StrCat(out, absl::StrJoin(told, ", "), "\n");
}

std::string DiffJson(const RulesDiff& diff) {
  using Json = nlohmann::ordered_json;
  const auto at_json = [](const std::optional<RuleDifference::At>& at) {
    return at.has_value() ? Json{{"index", at->index}, {"line", at->line}} : Json(nullptr);
  };
  const auto text_json = [](const std::optional<std::string>& text) {
    return text.has_value() ? Json(*text) : Json(nullptr);
  };
  Json out = {{"differences", Json::array()}, {"same", diff.same}};
  for (const RuleDifference& rule : diff.differences) {
    Json fields = Json::array();
    for (const FieldDifference& field : rule.fields) {
      fields.push_back({{"field", field.field},
                        {"before", text_json(field.before)},
                        {"after", text_json(field.after)}});
    }
    out["differences"].push_back({{"kind", Word(rule.kind)},
                                  {"list", rule.list},
                                  {"before", at_json(rule.was)},
                                  {"after", at_json(rule.is)},
                                  {"seriesQuery", rule.series},
                                  {"fields", std::move(fields)}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flyball::rule_tools
