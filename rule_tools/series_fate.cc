#include "rule_tools/series_fate.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/go/regexp.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "promql/parser.h"
#include "rules/lint.h"

namespace flyball::rule_tools {
namespace {

using End = RuleVerdict::End;

const kube::GroupResource kNamespaces = {"", "namespaces"};

std::string Shown(const std::string& label, const std::string& value) {
  return absl::StrCat(label, "=", go::Quote(value));
}

std::string NamesOf(const std::map<std::string, std::string>& labels) {
  return absl::StrJoin(
      labels, ", ", [](std::string* out, const auto& label) { absl::StrAppend(out, label.first); });
}

// Judges one rule for the series.
class Judge {
 public:
  Judge(const GivenSeries& series, const rules::RuleConfig& config, const rules::CompiledRule& rule,
        const kube::RestMapper& mapper)
      : series_(series), config_(config), rule_(rule), mapper_(mapper) {}

  RuleVerdict Custom() {
    if (!IsTaken()) return std::move(verdict_);
    const std::string metric = rule_.naming.ApiName(series_.name);
    for (const auto& [label, value] : series_.labels) {
      const kube::ResourceInfo* const info = rule_.mapping.ResourceOfLabel(label, mapper_);
      if (info != nullptr) AddObjectMetric(*info, value, metric);
    }
    if (!verdict_.metrics.empty()) return std::move(verdict_);
    if (series_.labels_known) {
      Note(End::kNoResource, NoResource());
    } else {
      Note(End::kLabelsNeeded,
           absl::StrCat("takes it under the name ", metric, "; whose metric it is say its labels"));
    }
    return std::move(verdict_);
  }

  RuleVerdict External() {
    if (!IsTaken()) return std::move(verdict_);
    OfferedMetric& metric = verdict_.metrics.emplace_back();
    metric.name = rule_.naming.ApiName(series_.name);
    std::string ns;
    if (rule_.namespaced) ns = NamespaceOf(metric);
    SetQuery(rule_.ExternalQuery(series_.name, ns, {}, mapper_), metric);
    return std::move(verdict_);
  }

 private:
  void Note(End end, std::string why) {
    verdict_.end = end;
    verdict_.why = std::move(why);
  }

  // Whether the rule finds the series and lets it through; if not, the verdict says why.
  bool IsTaken() {
    const auto selector = promql::ParseSeriesSelector(rule_.series_query);
    if (!selector.ok()) {
      Note(End::kNotFound, absl::StrCat("its seriesQuery fails: ", selector.status().message()));
      return false;
    }
    for (const promql::Matcher& matcher : selector->matchers) {
      if (matcher.label() == "__name__") {
        if (matcher.Matches(series_.name)) continue;
        verdict_.end = End::kOtherName;
        return false;
      }
      const auto label = series_.labels.find(matcher.label());
      const bool there = label != series_.labels.end();
      if (!series_.labels_known || matcher.Matches(there ? label->second : "")) continue;
      Note(End::kNotFound,
           absl::StrCat("its seriesQuery asks for ", matcher.ToString(), ", the series has ",
                        there ? Shown(label->first, label->second) : "no such label"));
      return false;
    }
    if (rule_.naming.Accepts(series_.name)) return true;
    Note(End::kNotAccepted, WhyNotAccepted());
    return false;
  }

  std::string WhyNotAccepted() const {
    const auto matches = [&](const rules::TextField& pattern) {
      const auto regexp = go::Regexp::Compile(pattern.text);
      return regexp.ok() && regexp->Matches(series_.name);
    };
    for (size_t i = 0; i < config_.filters.size(); ++i) {
      const rules::FilterConfig& filter = config_.filters[i];
      if (!filter.is.text.empty() && !matches(filter.is)) {
        return absl::StrCat("seriesFilters[", i, "].is ", go::Quote(filter.is.text),
                            " does not match its name");
      }
      if (!filter.is_not.text.empty() && matches(filter.is_not)) {
        return absl::StrCat("seriesFilters[", i, "].isNot ", go::Quote(filter.is_not.text),
                            " matches its name");
      }
    }
    return absl::StrCat("name.matches ", go::Quote(config_.name.matches.text),
                        " does not match its name");
  }

  // Which labels could name the object of the series.
  std::string NoResource() const {
    std::vector<std::string> wanted;
    if (!config_.resources.label_template.text.empty()) {
      wanted.push_back(
          absl::StrCat("what ", config_.resources.label_template.text, " makes of one"));
    }
    for (const rules::OverrideConfig& item : config_.resources.overrides) {
      const kube::GroupResource resource = {item.group.text, item.resource.text};
      const bool known = mapper_.Find(resource.group, resource.resource) != nullptr;
      wanted.push_back(absl::StrCat(item.label.text, " (", resource.ToString(),
                                    known ? "" : ", which is no resource that is known", ")"));
    }
    return absl::StrCat("no label of it is a resource: it has ",
                        series_.labels.empty() ? "no labels" : NamesOf(series_.labels),
                        ", `resources` names ",
                        wanted.empty() ? "none" : absl::StrJoin(wanted, ", "));
  }

  // The namespace of the series by the rule's labels; without one the metric is marked as in
  // trouble. Even if the rule has no label for it, each request names a namespace, so the message
  // for such a request says what is wrong.
  std::string NamespaceOf(OfferedMetric& metric) const {
    const absl::StatusOr<std::string> label = rule_.mapping.LabelOfResource(kNamespaces, mapper_);
    if (!label.ok()) return "NAMESPACE";
    const auto found = series_.labels.find(*label);
    if (found != series_.labels.end()) return found->second;
    if (series_.labels_known) {
      metric.trouble = absl::StrCat("requests ask for a namespace by the label ", *label,
                                    ", which the series does not have: they find nothing");
    }
    return "NAMESPACE";
  }

  void AddObjectMetric(const kube::ResourceInfo& info, const std::string& object,
                       const std::string& name) {
    OfferedMetric& metric = verdict_.metrics.emplace_back();
    metric.name = absl::StrCat(info.name.ToString(), "/", name);
    rules::ObjectQueryArgs args = {.series = series_.name,
                                   .resource = info.name,
                                   .ns = std::nullopt,
                                   .names = {object},
                                   .selector = {}};
    if (info.namespaced) args.ns = NamespaceOf(metric);
    SetQuery(rule_.ObjectQuery(args, mapper_), metric);
  }

  static void SetQuery(const absl::StatusOr<std::string>& query, OfferedMetric& metric) {
    if (!query.ok()) {
      metric.trouble = std::string(query.status().message());
      return;
    }
    metric.promql = *query;
    rules::Findings findings("");
    rules::LintFilledQuery(*query, {}, "", rules::Warner(findings, "", {}));
    for (const rules::Finding& finding : std::move(findings).Take()) {
      if (finding.severity == rules::Finding::Severity::kWarning) continue;
      metric.trouble = absl::StrCat("Prometheus refuses that: ", finding.message);
    }
  }

  const GivenSeries& series_;
  const rules::RuleConfig& config_;
  const rules::CompiledRule& rule_;
  const kube::RestMapper& mapper_;
  RuleVerdict verdict_;
};

// Of metrics of one name the last rule's counts.
void MarkHidden(std::vector<RuleVerdict>& verdicts) {
  std::map<std::string, std::string> by_later;
  for (auto verdict = verdicts.rbegin(); verdict != verdicts.rend(); ++verdict) {
    for (OfferedMetric& metric : verdict->metrics) {
      if (const auto later = by_later.find(metric.name); later != by_later.end()) {
        metric.hidden_by = later->second;
      }
    }
    for (const OfferedMetric& metric : verdict->metrics) {
      by_later.try_emplace(metric.name, verdict->rule);
    }
  }
}

std::vector<RuleVerdict> VerdictsOf(
    const char* list, const GivenSeries& series, const std::vector<rules::RuleConfig>& configs,
    const std::vector<std::shared_ptr<const rules::CompiledRule>>& rules,
    const kube::RestMapper& mapper) {
  std::vector<RuleVerdict> out;
  for (const auto& rule : rules) {
    Judge judge(series, configs[static_cast<size_t>(rule->index)], *rule, mapper);
    const bool custom = list == absl::string_view("rules");
    out.push_back(custom ? judge.Custom() : judge.External());
    out.back().rule = absl::StrCat(list, "[", rule->index, "] ", rule->where);
  }
  MarkHidden(out);
  return out;
}

}  // namespace

std::string GivenSeries::ToString() const {
  std::vector<std::string> shown;
  for (const auto& [label, value] : labels) shown.push_back(Shown(label, value));
  return labels_known ? absl::StrCat(name, "{", absl::StrJoin(shown, ","), "}") : name;
}

absl::StatusOr<GivenSeries> ParseGivenSeries(absl::string_view text) {
  ASSIGN_OR_RETURN(const promql::Selector selector, promql::ParseSeriesSelector(text));
  GivenSeries series;
  series.labels_known = text.find('{') != absl::string_view::npos;
  for (const promql::Matcher& matcher : selector.matchers) {
    if (matcher.op() != promql::Matcher::Op::kEqual) {
      return absl::InvalidArgumentError(absl::StrCat(
          matcher.ToString(), ": a series has its labels by `=`, as in up{job=\"web\"}"));
    }
    if (matcher.label() == "__name__") {
      series.name = matcher.value();
    } else {
      series.labels[matcher.label()] = matcher.value();
    }
  }
  if (series.name.empty()) return absl::InvalidArgumentError("a series has a name");
  return series;
}

std::vector<RuleVerdict> FateOf(const GivenSeries& series, const rules::Config& config,
                                const rules::CompiledRules& compiled,
                                const kube::RestMapper& mapper) {
  std::vector<RuleVerdict> out = VerdictsOf("rules", series, config.rules, compiled.custom, mapper);
  for (RuleVerdict& verdict :
       VerdictsOf("externalRules", series, config.external_rules, compiled.external, mapper)) {
    out.push_back(std::move(verdict));
  }
  return out;
}

}  // namespace flyball::rule_tools
