#include "rules/lint.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "rules/go_regexp.h"
#include "rules/go_text.h"
#include "rules/naming.h"
#include "rules/query_template.h"
#include "rules/template_fields.h"

namespace flyball::rules {
namespace {

constexpr absl::string_view kQueryFields[] = {"Series", "LabelMatchers", "LabelValuesByName",
                                              "GroupBy", "GroupBySlice"};

// How a resource is told from another without a cluster: lower case, singular.
std::string GuessResource(const OverrideConfig& item) {
  std::string name = absl::AsciiStrToLower(item.resource.text);
  if (name.size() > 1 && name.back() == 's') name.pop_back();
  return absl::StrCat(name, ".", item.group.text);
}

bool HasLabelFor(const MappingConfig& mapping, absl::string_view resource) {
  if (!mapping.label_template.text.empty()) return true;
  return std::any_of(mapping.overrides.begin(), mapping.overrides.end(), [&](const auto& item) {
    return GuessResource(item) == absl::StrCat(resource, ".");
  });
}

// The one series name that a selector can match; nullopt: it does not show.
std::optional<std::string> SeriesNameOf(const std::string& selector) {
  static const RE2* const kNamed = new RE2(R"(\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{[^{}]*\}\s*)?)");
  static const RE2* const kMatched =
      new RE2(R"re((?:^|.*[{,])\s*__name__\s*=\s*"([a-zA-Z0-9_:]+)"\s*[,}].*)re");
  std::string name;
  if (RE2::FullMatch(selector, *kNamed, &name) || RE2::FullMatch(selector, *kMatched, &name)) {
    return name;
  }
  return std::nullopt;
}

class RuleLinter {
 public:
  RuleLinter(const RuleConfig& rule, bool external, std::string path, Findings& findings)
      : rule_(rule), external_(external), path_(std::move(path)), findings_(findings) {}

  // The API name that all of the rule's series have; nullopt: it does not show.
  std::optional<std::string> Lint() {
    LintSeriesQuery();
    LintMapping();
    LintQuery();
    return LintName();
  }

 private:
  void Warn(Place place, absl::string_view field, std::string message) {
    findings_.Warn(place.known() ? place : rule_.place, absl::StrCat(path_, field),
                   std::move(message));
  }

  void LintSeriesQuery() {
    const TextField& query = rule_.series_query;
    if (absl::StripAsciiWhitespace(query.text).empty()) {
      return Warn(query.place, ".seriesQuery",
                  "is empty: Prometheus refuses it and the rule finds no series, expected a series "
                  "selector such as {__name__=~\"^http_.*\"}");
    }
    static const RE2* const kLiteralPattern =
        new RE2(R"re(__name__\s*!?=\s*"[^"]*(?:\.\*|\.\+|\^|\$)[^"]*")re");
    if (RE2::PartialMatch(query.text, *kLiteralPattern)) {
      Warn(query.place, ".seriesQuery",
           "compares __name__ with a pattern letter by letter, expected =~ or !~");
    }
  }

  void LintMapping() {
    const MappingConfig& mapping = rule_.resources;
    if (!external_ && mapping.label_template.text.empty() && mapping.overrides.empty()) {
      Warn(mapping.place, ".resources",
           "has neither template nor overrides: no series of the rule is ever registered, expected "
           "for example overrides: {namespace: {resource: namespace}, pod: {resource: pod}}");
    }
    if (external_ && mapping.namespaced.value_or(true) && !HasLabelFor(mapping, "namespace")) {
      Warn(mapping.place, ".resources",
           "has no label for namespaces: every request fails, expected an override such as "
           "namespace: {resource: namespace}, or namespaced: false");
    }
    if (!external_ && mapping.namespaced.has_value()) {
      Warn(mapping.place, ".resources.namespaced", "has no effect here, only in externalRules");
    }
    LintMappingParts(mapping, ".resources");
  }

 public:
  // Also of resourceRules.
  void LintMappingParts(const MappingConfig& mapping, absl::string_view field) {
    if (const auto query = QueryTemplate::ParseLabel(mapping.label_template.text); query.ok()) {
      LintLabelTemplate(*query, mapping.label_template.place, absl::StrCat(field, ".template"));
    }
    std::map<std::string, std::string> labels;
    for (const OverrideConfig& item : mapping.overrides) {
      if (item.resource.text.empty()) continue;
      const auto [first, fresh] = labels.emplace(GuessResource(item), item.label.text);
      if (fresh) continue;
      Warn(item.label.place, absl::StrCat(field, ".overrides.", item.label.text),
           absl::StrCat("names the same resource as ", QuoteGo(first->second),
                        ": queries use only the last one"));
    }
  }

 private:
  void LintLabelTemplate(const QueryTemplate& query, Place place, const std::string& field) {
    for (const auto& [name, block] : query.tree().definitions) {
      for (const tmpl::Statement& statement : block) {
        const auto* text = std::get_if<tmpl::Text>(&statement);
        if (text == nullptr || text->text.find_first_of(R"(\.+*?()|[]{}^$)") == std::string::npos) {
          continue;
        }
        return Warn(place, field,
                    "holds characters that are special in a regular expression: labels are matched "
                    "with it as it is, and queries use them literally");
      }
    }
  }

  void LintQuery() {
    const TextField& field = rule_.metrics_query;
    if (absl::StripAsciiWhitespace(field.text).empty()) {
      return Warn(field.place, ".metricsQuery",
                  "is empty: every request fails, expected a query such as "
                  "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)");
    }
    const auto use = LintTemplate(field, ".metricsQuery");
    if (!use) return;
    if (external_ && (use->known.contains("GroupBy") || use->known.contains("GroupBySlice"))) {
      Warn(field.place, ".metricsQuery", "uses .GroupBy, which is empty in externalRules");
    }
    if (!external_) LintGrouping(*use, field, ".metricsQuery");
  }

  // What concerns every metric query. nullopt: it does not parse.
  std::optional<FieldUse> LintTemplate(const TextField& field, absl::string_view path) {
    const auto query = QueryTemplate::ParseQuery(field.text);
    if (!query.ok()) return std::nullopt;
    FieldUse use = FieldsOf(*query, kQueryFields);
    for (const std::string& name : use.unknown) {
      Warn(field.place, path,
           absl::StrCat("asks for .", name,
                        ", which no query has: requests fail, expected .Series, .LabelMatchers, "
                        ".LabelValuesByName, .GroupBy or .GroupBySlice"));
    }
    if (use.unknown.empty()) LintDryRun(*query, field, path);
    if (!use.whole && !use.known.contains("LabelMatchers") &&
        !use.known.contains("LabelValuesByName")) {
      Warn(field.place, path,
           "ignores .LabelMatchers: namespace, object and selector of a request change nothing, "
           "expected <<.Series>>{<<.LabelMatchers>>}");
    }
    return use;
  }

  void LintDryRun(const QueryTemplate& query, const TextField& field, absl::string_view path) {
    const auto text = query.Execute({.series = "series",
                                     .label_matchers = "namespace=\"n\",pod=\"p\"",
                                     .label_values_by_name = {{"namespace", "n"}, {"pod", "p"}},
                                     .group_by_slice = {"pod"}});
    if (!text.ok()) {
      Warn(field.place, path, absl::StrCat("fails on a request at ", text.status().message()));
    } else if (text->empty()) {
      Warn(field.place, path, "gives an empty query: requests fail");
    }
  }

  void LintGrouping(const FieldUse& use, const TextField& field, absl::string_view path) {
    static const RE2* const kAggregation =
        new RE2(R"((?i)\b(sum|avg|min|max|count|stddev|stdvar|group|topk|bottomk|quantile)\b)");
    if (use.whole || use.known.contains("GroupBy") || use.known.contains("GroupBySlice")) return;
    if (!RE2::PartialMatch(field.text, *kAggregation)) return;
    Warn(field.place, path,
         "aggregates without .GroupBy: an answer is found by the object's label, which the result "
         "may have lost, expected by (<<.GroupBy>>)");
  }

  std::optional<std::string> LintName() {
    Findings unheard("");  // errors of these parts are reported by the compiler
    const auto naming = SeriesNaming::Compile(rule_, "", unheard);
    if (!naming) return std::nullopt;
    LintContradictions();
    LintExpansion();
    const std::string& as = rule_.name.as.text;
    const auto series = SeriesNameOf(rule_.series_query.text);
    if (!series) {
      if (as.empty() || absl::StrContains(as, "$")) return std::nullopt;
      Warn(rule_.name.as.place, ".name.as",
           "gives every series of the rule the same name: the last one found hides the others, "
           "expected a name with a part of the series' such as \"${1}_per_second\"");
      return as;
    }
    if (!naming->Accepts(*series)) {
      Warn(rule_.series_query.place, ".seriesQuery",
           absl::StrCat("finds only the series ", *series,
                        ", which seriesFilters or name.matches refuse: the rule never matches"));
      return std::nullopt;
    }
    const std::string name = naming->ApiName(*series);
    if (name.empty() || absl::StrContains(name, "/")) {
      Warn(rule_.name.as.place, ".name.as",
           absl::StrCat("gives ", *series, " the name ", QuoteGo(name),
                        ", which no path can reach"));
    }
    return name;
  }

  // One pattern both wanted and refused.
  void LintContradictions() {
    std::vector<std::string> wanted;
    if (!rule_.name.matches.text.empty()) wanted.push_back(rule_.name.matches.text);
    for (const FilterConfig& filter : rule_.filters) {
      if (!filter.is.text.empty()) wanted.push_back(filter.is.text);
    }
    for (size_t i = 0; i < rule_.filters.size(); ++i) {
      const TextField& refused = rule_.filters[i].is_not;
      const bool everything = refused.text == ".*" || refused.text == "^.*$";
      if (refused.text.empty() ||
          (!everything && std::find(wanted.begin(), wanted.end(), refused.text) == wanted.end())) {
        continue;
      }
      Warn(refused.place, absl::StrCat(".seriesFilters[", i, "].isNot"),
           "refuses all that the rule's other patterns take: the rule never matches");
    }
  }

  // `$1_x` means a group called `1_x`.
  void LintExpansion() {
    const auto pattern = GoRegexp::Compile(rule_.name.matches.text);
    if (!pattern.ok()) return;
    static const RE2* const kReference = new RE2(R"(\$(?:(\$)|\{(\w+)\}|(\w+)))");
    re2::StringPiece rest(rule_.name.as.text);
    std::string dollar, braced, bare;
    while (RE2::FindAndConsume(&rest, *kReference, &dollar, &braced, &bare)) {
      const std::string& group = braced.empty() ? bare : braced;
      if (!dollar.empty() || HasGroup(*pattern, group)) continue;
      Warn(rule_.name.as.place, ".name.as",
           absl::StrCat("names a capture group ", QuoteGo(group),
                        " that name.matches does not have, and is empty there",
                        bare.empty() ? ""
                                     : absl::StrCat(": expected braces, as in ${1}, where "
                                                    "letters or digits follow")));
    }
  }

  static bool HasGroup(const GoRegexp& pattern, const std::string& group) {
    const auto& names = pattern.group_names();
    if (std::find(names.begin() + 1, names.end(), group) != names.end()) return true;
    const bool number = std::all_of(group.begin(), group.end(), absl::ascii_isdigit) &&
                        group.size() < 5 && (group.size() == 1 || group[0] != '0');
    return number && std::stoi(group) <= pattern.groups();
  }

 public:
  void LintResourceQuery(const TextField& field, absl::string_view path) {
    if (absl::StripAsciiWhitespace(field.text).empty()) {
      return Warn(field.place, path, "is empty: there are no metrics of these objects");
    }
    const auto use = LintTemplate(field, path);
    if (use) LintGrouping(*use, field, path);
  }

 private:
  const RuleConfig& rule_;
  const bool external_;
  const std::string path_;
  Findings& findings_;
};

bool MayShareResource(const MappingConfig& a, const MappingConfig& b) {
  if (!a.label_template.text.empty() || !b.label_template.text.empty()) return true;
  return std::any_of(a.overrides.begin(), a.overrides.end(), [&](const OverrideConfig& x) {
    return std::any_of(b.overrides.begin(), b.overrides.end(), [&](const OverrideConfig& y) {
      return GuessResource(x) == GuessResource(y);
    });
  });
}

void LintRules(const std::vector<RuleConfig>& rules, bool external, Findings& findings) {
  const absl::string_view list = external ? "externalRules" : "rules";
  std::multimap<std::string, size_t> named;
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string path = absl::StrCat(list, "[", i, "]");
    const auto name = RuleLinter(rules[i], external, path, findings).Lint();
    if (!name || name->empty()) continue;
    const auto [begin, end] = named.equal_range(*name);
    const auto earlier = std::find_if(begin, end, [&](const auto& entry) {
      return external || MayShareResource(rules[entry.second].resources, rules[i].resources);
    });
    if (earlier != end) {
      findings.Warn(rules[i].place, path,
                    absl::StrCat("makes the metric ", QuoteGo(*name), " as ", list, "[",
                                 earlier->second, "] does: where both find series, this one wins"));
    }
    named.emplace(*name, i);
  }
}

void LintResourceRule(const ResourceRuleConfig& rule, const std::string& path, Findings& findings) {
  RuleConfig stand_in;  // for the place
  stand_in.place = rule.place;
  RuleLinter linter(stand_in, /*external=*/false, path, findings);
  linter.LintResourceQuery(rule.container_query, ".containerQuery");
  linter.LintResourceQuery(rule.node_query, ".nodeQuery");
  linter.LintMappingParts(rule.resources, ".resources");
  for (const char* resource : {"namespace", "pod", "node"}) {
    if (HasLabelFor(rule.resources, resource)) continue;
    findings.Warn(rule.place, path + ".resources",
                  absl::StrCat("has no label for ", resource,
                               "s: ", absl::string_view(resource) == "node" ? "nodes" : "pods",
                               " have no metrics, expected an override to resource: ", resource));
  }
  if (rule.container_label.text.empty()) {
    findings.Warn(rule.place, path + ".containerLabel",
                  "is missing: all containers of a pod count as one without a name, expected the "
                  "label of container names such as \"container\"");
  }
}

}  // namespace

void LintConfig(const Config& config, Findings& findings) {
  LintRules(config.rules, /*external=*/false, findings);
  LintRules(config.external_rules, /*external=*/true, findings);
  if (!config.resource_rules) return;
  const ResourceRulesConfig& resource = *config.resource_rules;
  for (const auto& [rule, name] : {std::pair(&resource.cpu, "resourceRules.cpu"),
                                   std::pair(&resource.memory, "resourceRules.memory")}) {
    if (rule->place.known()) {
      LintResourceRule(*rule, name, findings);
    } else {
      findings.Warn(resource.place, name,
                    "is missing: no pod and no node has metrics without both cpu and memory");
    }
  }
  if (resource.window == absl::ZeroDuration()) {
    findings.Warn(resource.place, "resourceRules.window",
                  "is missing or 0, expected the range that the queries look back, such as 5m");
  }
}

}  // namespace flyball::rules
