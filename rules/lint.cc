#include "rules/lint.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "promql/lexer.h"
#include "rules/resource_mapping.h"

namespace flyball::rules {

void Warner::operator()(Place place, absl::string_view field, std::string message) const {
  findings_.Warn(place.known() ? place : place_, absl::StrCat(path_, field), std::move(message));
}

void Warner::Refuse(Place place, absl::string_view field, std::string message) const {
  findings_.Refuse(place.known() ? place : place_, absl::StrCat(path_, field), std::move(message));
}

namespace {

bool LooksLikePattern(absl::string_view text) {
  return absl::StrContains(text, ".*") || absl::StrContains(text, ".+") ||
         text.find_first_of("^$") != text.npos;
}

void LintSeriesQuery(const TextField& query, const Warner& warn) {
  if (absl::StripAsciiWhitespace(query.text).empty()) {
    return warn(query.place, ".seriesQuery",
                "is empty: Prometheus refuses it and the rule finds no series, expected a series "
                "selector such as {__name__=~\"^http_.*\"}");
  }
  // Read token by token, since the text may not be a valid selector.
  const std::vector<promql::Token> tokens = promql::Lex(query.text);
  for (size_t i = 2; i < tokens.size(); ++i) {
    const promql::Token& op = tokens[i - 1];
    const bool literal =
        op.kind == promql::TokenKind::kAssign || op.Is(promql::TokenKind::kOperator, "!=");
    if (tokens[i - 2].text == "__name__" && literal && LooksLikePattern(tokens[i].text)) {
      return warn(query.place, ".seriesQuery",
                  "compares __name__ with a pattern letter by letter, expected =~ or !~");
    }
  }
  LintSelector(query, ".seriesQuery", warn);
}

void LintResources(const MappingConfig& mapping, bool external, const Warner& warn) {
  if (external) {
    if (mapping.namespaced.value_or(true) && !HasLabelFor(mapping, "namespace")) {
      warn(mapping.place, ".resources",
           "has no label for namespaces: every request fails, expected an override such as "
           "namespace: {resource: namespace}, or namespaced: false");
    }
  } else {
    if (mapping.label_template.text.empty() && mapping.overrides.empty()) {
      warn(mapping.place, ".resources",
           "has neither template nor overrides: no series of the rule is ever registered, expected "
           "for example overrides: {namespace: {resource: namespace}, pod: {resource: pod}}");
    }
    const auto in_namespaces = [](const OverrideConfig& item) {
      return IsKnownInNamespaces(item.group.text, item.resource.text);
    };
    const auto first =
        std::find_if(mapping.overrides.begin(), mapping.overrides.end(), in_namespaces);
    if (first != mapping.overrides.end() && !HasLabelFor(mapping, "namespace")) {
      warn(mapping.place, ".resources",
           absl::StrCat("has no label for namespaces: every request for a ", first->resource.text,
                        " fails, expected an override such as namespace: {resource: namespace}"));
    }
    if (mapping.namespaced.has_value()) {
      warn(mapping.place, ".resources.namespaced", "has no effect here, only in externalRules");
    }
  }
  LintMapping(mapping, ".resources", warn);
}

// Returns the API name of all the rule's series, if it can be inferred.
std::optional<std::string> LintRule(const RuleConfig& rule, bool external, const Warner& warn) {
  LintSeriesQuery(rule.series_query, warn);
  LintResources(rule.resources, external, warn);
  LintQuery(rule.metrics_query, ".metricsQuery", external ? QueryUse::kExternal : QueryUse::kCustom,
            warn);
  return LintName(rule, warn);
}

bool MayShareResource(const MappingConfig& a, const MappingConfig& b) {
  if (!a.label_template.text.empty() || !b.label_template.text.empty()) return true;
  return std::any_of(a.overrides.begin(), a.overrides.end(), [&](const OverrideConfig& x) {
    return std::any_of(b.overrides.begin(), b.overrides.end(), [&](const OverrideConfig& y) {
      return GuessResource(x) == GuessResource(y);
    });
  });
}

void LintRules(const std::vector<RuleConfig>& rules, absl::string_view list, bool external,
               Findings& findings) {
  std::multimap<std::string, size_t> named;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Warner warn(findings, absl::StrCat(list, "[", i, "]"), rules[i].place);
    const auto name = LintRule(rules[i], external, warn);
    if (!name || name->empty()) continue;
    const auto [begin, end] = named.equal_range(*name);
    const auto earlier = std::find_if(begin, end, [&](const auto& entry) {
      return external || MayShareResource(rules[entry.second].resources, rules[i].resources);
    });
    if (earlier != end) {
      warn(rules[i].place, "",
           absl::StrCat("makes the metric ", go::Quote(*name), " as ", list, "[", earlier->second,
                        "] does: where both find series, this one wins"));
    }
    named.emplace(*name, i);
  }
}

void LintResourceRule(const ResourceRuleConfig& rule, const Warner& warn) {
  LintQuery(rule.container_query, ".containerQuery", QueryUse::kContainer, warn);
  LintQuery(rule.node_query, ".nodeQuery", QueryUse::kNode, warn);
  LintMapping(rule.resources, ".resources", warn);
  for (const absl::string_view resource : {"namespace", "pod", "node"}) {
    if (HasLabelFor(rule.resources, resource)) continue;
    warn(rule.resources.place, ".resources",
         absl::StrCat("has no label for ", resource, "s: ", resource == "node" ? "nodes" : "pods",
                      " have no metrics, expected an override to resource: ", resource));
  }
  if (rule.container_label.text.empty()) {
    warn(rule.container_label.place, ".containerLabel",
         "is missing: all containers of a pod count as one without a name, expected the label of "
         "container names such as \"container\"");
  }
}

void LintResourceRules(const ResourceRulesConfig& config, const std::string& name,
                       Findings& findings) {
  const Warner warn(findings, name, config.place);
  for (const auto& [rule, field] :
       {std::pair(&config.cpu, ".cpu"), std::pair(&config.memory, ".memory")}) {
    if (rule->place.known()) {
      LintResourceRule(*rule, Warner(findings, absl::StrCat(name, field), rule->place));
    } else {
      warn({}, field, "is missing: no pod and no node has metrics without both cpu and memory");
    }
  }
  if (config.window == absl::ZeroDuration()) {
    warn({}, ".window",
         "is missing or 0, expected the range that the queries look back, such as 5m");
  }
}

}  // namespace

void LintConfig(const Config& config, Findings& findings) {
  LintRules(config.rules, config.rules_field, /*external=*/false, findings);
  LintRules(config.external_rules, config.external_field, /*external=*/true, findings);
  if (config.resource_rules) {
    LintResourceRules(*config.resource_rules, config.resource_field, findings);
  }
  if (config.rules.empty() && config.external_rules.empty() && !config.resource_rules &&
      !findings.has_errors()) {
    findings.Warn({}, "", "no rules: nothing is served");
  }
}

}  // namespace flyball::rules
