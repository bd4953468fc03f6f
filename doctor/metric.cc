#include "doctor/metric.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"

namespace flyball::doctor {
namespace {

constexpr size_t kShown = 3;  // names in one finding
constexpr absl::Duration kOld = absl::Minutes(5);

// "Pods http_requests_per_second", "Resource cpu".
std::string MetricTitle(const scaler::MetricSpec& spec) {
  switch (spec.type) {
    case scaler::MetricType::kResource: return absl::StrCat("Resource ", spec.resource);
    case scaler::MetricType::kContainerResource:
      return absl::StrCat("ContainerResource ", spec.resource, " of ", spec.container);
    case scaler::MetricType::kObject:
      return absl::StrCat("Object ", spec.metric.name, " of ", spec.described_object.kind, " ",
                          spec.described_object.name);
    default: return absl::StrCat(spec.type_text, " ", spec.metric.name);
  }
}

bool OfPods(const scaler::MetricSpec& spec) {
  return spec.type == scaler::MetricType::kPods || spec.type == scaler::MetricType::kResource ||
         spec.type == scaler::MetricType::kContainerResource;
}

std::string Values(const std::vector<MetricItem>& items) {
  std::vector<std::string> values;
  for (const MetricItem& item : items) {
    values.push_back(item.object.empty() ? item.value : absl::StrCat(item.object, " ", item.value));
  }
  return Shortened(values, kShown);
}

absl::Duration AgeOf(const std::vector<MetricItem>& items, absl::Time now) {
  absl::Time oldest = absl::InfiniteFuture();
  for (const MetricItem& item : items) oldest = std::min(oldest, item.at);
  return std::max(now - oldest, absl::ZeroDuration());
}

// The names of running pods without a value.
std::vector<std::string> Unmeasured(const std::vector<MetricItem>& items,
                                    const MeasuredPods& measured) {
  std::set<std::string> with;
  for (const MetricItem& item : items) with.insert(item.object);
  std::vector<std::string> without;
  for (const scaler::Pod& pod : measured.pods) {
    if (pod.phase == scaler::PodPhase::kRunning && !pod.deleting && !with.contains(pod.name)) {
      without.push_back(pod.name);
    }
  }
  return without;
}

void CheckAnswer(const MetricFacts& facts, const MeasuredPods& measured, absl::Time now,
                 Findings& findings) {
  const std::string title = MetricTitle(facts.spec);
  const std::vector<MetricItem>& items = *facts.answer;
  const absl::Duration age = AgeOf(items, now);
  const std::string seen =
      absl::StrCat(title, " is ", Values(items), ", ", absl::ToInt64Seconds(age), " s old");
  if (age > kOld) {
    findings.push_back(
        Doubt("metric", seen,
              "look at the scrape interval of what exports it, and at the query's range"));
  } else {
    findings.push_back(Good("metric", seen));
  }
  if (!OfPods(facts.spec)) return;
  for (const MetricItem& item : items) {
    if (item.complete) continue;
    findings.push_back(Bad(
        "metric-containers",
        absl::StrCat(title, ": pod ", item.object, " has no ", facts.spec.resource,
                     facts.spec.container.empty() ? " of one of its containers" : " of container ",
                     facts.spec.container),
        facts.spec.container.empty()
            ? "let containerQuery of resourceRules give each container"
            : "correct containerResource.container to the name of a container"));
    break;
  }
  const std::vector<std::string> without = Unmeasured(items, measured);
  if (!without.empty()) {
    findings.push_back(
        Doubt("metric-pods",
              absl::StrCat(title, ": no value of ", Shortened(without, kShown),
                           "; they count as at the target when shrinking, as 0 when growing"),
              "see that these pods are scraped (Prometheus: Status, Targets)"));
  }
}

// The finding for a failed answer of the API that could not be followed to Prometheus.
Finding Failed(const MetricFacts& facts) {
  const std::string title = MetricTitle(facts.spec);
  if (absl::IsPermissionDenied(facts.answer.status())) {
    return Doubt("metric", absl::StrCat(title, ": ", facts.answer.status().message()),
                 "run doctor as someone who may read metrics (the chart's rbac.metricsReader)");
  }
  const std::string text = facts.answer.ok()
                               ? absl::StrCat(title, ": the API answers without a value")
                               : absl::StrCat(title, ": ", facts.answer.status().message());
  if (facts.spec.type == scaler::MetricType::kResource ||
      facts.spec.type == scaler::MetricType::kContainerResource) {
    return Bad("metric", text,
               "see that kubelets are scraped and the containerQuery of resourceRules finds these "
               "pods (kubectl top pods), or that metrics-server runs");
  }
  return Bad(
      "metric", text,
      "first fix what is wrong with the cluster and the rules above; if nothing is, pass the rules "
      "with --config and Prometheus with --prometheus-url, so that doctor can find the cause");
}

Finding NoRule(const std::string& title, const Walk& walk) {
  if (walk.made_for.empty()) {
    const std::string like =
        walk.similar.empty() ? "" : absl::StrCat("; similar: ", Shortened(walk.similar, kShown));
    return Bad("metric-rule", absl::StrCat(title, ": no rule gives that name", like),
               walk.similar.empty()
                   ? "write a rule whose name.as gives it (docs/rules-by-example.md); "
                     "`flyball test rules` tries it"
                   : "correct the metric's name in the autoscaler, or name.as of the rule");
  }
  const std::string labels =
      absl::StrCat(walk.series, " has the labels ", absl::StrJoin(walk.labels, ", "));
  const std::string text = absl::StrCat(title, ": rule ", walk.rule, " gives it for ",
                                        absl::StrJoin(walk.made_for, ", "), " and not for ",
                                        walk.wanted, " in a namespace: ", labels);
  if (!walk.better_label.empty()) {
    return Bad("metric-labels", text,
               absl::StrCat("set honorLabels: true where it is scraped, or resources.overrides.",
                            walk.better_label, " at ", walk.rule));
  }
  return Bad("metric-labels", text,
             absl::StrCat("map a label to ", walk.wanted,
                          " and one to namespace by resources.overrides at ", walk.rule));
}

Finding NotJoined(const std::string& title, const Walk& walk, const MeasuredPods& measured) {
  if (!walk.namespace_label.empty() && !absl::c_linear_search(walk.labels, walk.namespace_label)) {
    return Bad("metric-join",
               absl::StrCat(title, ": ", walk.series, " has no label ", walk.namespace_label,
                            ", only ", absl::StrJoin(walk.labels, ", ")),
               absl::StrCat("set a label ", walk.namespace_label,
                            " where it is scraped (relabeling of a ServiceMonitor), or map another "
                            "to namespace by resources.overrides at ",
                            walk.rule));
  }
  if (!walk.namespace_label.empty() && !walk.namespaces.empty() &&
      !absl::c_linear_search(walk.namespaces, measured.ns)) {
    return Bad("metric-join",
               absl::StrCat(title, ": ", walk.series, " has ", walk.namespace_label, " ",
                            Shortened(walk.namespaces, kShown), " and not ", measured.ns),
               absl::StrCat("set honorLabels: true where it is scraped, or map another label to "
                            "namespace by resources.overrides at ",
                            walk.rule));
  }
  if (!walk.objects.empty() && walk.objects_that_exist == 0) {
    const bool better = !walk.better_label.empty();
    return Bad(
        "metric-join",
        absl::StrCat(title, ": label ", walk.object_label, " of ", walk.series, " is ",
                     Shortened(walk.objects, kShown), ", which is none of the target's ",
                     walk.wanted, better ? absl::StrCat("; label ", walk.better_label, " is") : ""),
        absl::StrCat("set honorLabels: true where it is scraped, or ",
                     better ? absl::StrCat("resources.overrides.", walk.better_label)
                            : "map the label that has their names by resources.overrides",
                     " at ", walk.rule));
  }
  if (walk.objects.empty() && !walk.object_label.empty()) {
    return Bad(
        "metric-join",
        absl::StrCat(title, ": ", walk.series, " has no sample in namespace ", measured.ns, " now"),
        "see that these pods are scraped and export it (Prometheus: Status, Targets)");
  }
  return Bad("metric-query",
             absl::StrCat(title, ": the series are there, and this gives nothing: ", walk.promql),
             absl::StrCat("let metricsQuery at ", walk.rule,
                          " aggregate by (<<.GroupBy>>) over a range of at least two scrapes"));
}

}  // namespace

Finding BrokenLink(const std::string& title, const Walk& walk, const MeasuredPods& measured) {
  if (walk.rule.empty() || !walk.made_for.empty()) return NoRule(title, walk);
  if (!walk.asked.ok()) {
    return Bad("metric-query",
               absl::StrCat(title, ": the query of rule ", walk.rule, " fails: ",
                            walk.asked.message(), walk.promql.empty() ? "" : ": ", walk.promql),
               absl::StrCat("correct metricsQuery at ", walk.rule,
                            "; `flyball check rules` and `flyball test rules` try it"));
  }
  if (walk.samples == 0) {
    if (walk.joined) return NotJoined(title, walk, measured);
    return Bad("metric-query", absl::StrCat(title, ": Prometheus has nothing for ", walk.promql),
               absl::StrCat("ask Prometheus for ", walk.series,
                            " and compare its labels with the metric's selector"));
  }
  return Bad("metric-server",
             absl::StrCat(title, ": Prometheus has ", walk.samples, " samples for ", walk.promql,
                          ", and the API does not return them"),
             "the server works with other rules or another Prometheus, or relists later "
             "(--metrics-relist-interval): look at its /debug/rules and its log");
}

Findings CheckMetric(const MetricFacts& facts, const MeasuredPods& measured, absl::Time now) {
  Findings findings;
  const std::string title = MetricTitle(facts.spec);
  if (!facts.spec.metric.selector_error.empty()) {
    return {Bad("metric", absl::StrCat(title, ": ", facts.spec.metric.selector_error),
                "correct metric.selector in the autoscaler")};
  }
  if (facts.answer.ok() && !facts.answer->empty()) {
    CheckAnswer(facts, measured, now, findings);
  } else if (facts.in_process && facts.walk.ok() && facts.walk->asked.ok() &&
             facts.walk->samples > 0) {
    findings.push_back(
        Good("metric", absl::StrCat(title, ": Prometheus has ", facts.walk->samples,
                                    " samples for the scaler: ", facts.walk->promql)));
  } else if (!facts.walk.ok() || absl::IsPermissionDenied(facts.answer.status())) {
    findings.push_back(Failed(facts));
  } else {
    Finding broken = BrokenLink(title, *facts.walk, measured);
    absl::StrAppend(&broken.text,
                    " (the API: ", facts.answer.ok() ? "no value" : facts.answer.status().message(),
                    facts.listed.value_or(true) ? "" : "; it does not list the metric", ")");
    findings.push_back(std::move(broken));
  }
  Append(CheckRequests(facts.spec, measured), findings);
  return findings;
}

Findings CheckRequests(const scaler::MetricSpec& spec, const MeasuredPods& measured) {
  if (!scaler::MeasuresRequests(spec) || measured.pods.empty()) return {};
  for (const scaler::Pod& pod : measured.pods) {
    const absl::StatusOr<int64_t> request = scaler::PodRequest(
        pod, {.resource = spec.resource, .container = spec.container, .rules = {}});
    if (request.ok() && *request > 0) continue;
    return {Bad("requests",
                request.ok() ? absl::StrCat("pod ", pod.name, " asks for no ", spec.resource)
                             : std::string(request.status().message()),
                absl::StrCat("set resources.requests.", spec.resource,
                             " of each container in the target's pod template"))};
  }
  return {Good("requests", absl::StrCat("all containers state their ", spec.resource, " request"))};
}

}  // namespace flyball::doctor
