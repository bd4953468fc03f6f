#include "scaler/explain/given_case.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/objects/selector.h"
#include "scaler/explain/amounts.h"
#include "scaler/math/hpa/hpa_decider.h"
#include "scaler/math/pods.h"
#include "scaler/math/readings.h"
#include "scaler/spec/schedules_read.h"
#include "scaler/steps/guard.h"

namespace flyball::scaler {
namespace {

// Readings older than this, seen from "now", mean that the files were not just taken.
constexpr absl::Duration kOldFiles = absl::Minutes(5);

const WorkloadScale* FindScale(const ClusterSnapshot& snapshot, const Autoscaler& autoscaler) {
  const ObjectReference& target = autoscaler.scale_target;
  for (const WorkloadScale& scale : snapshot.scales) {
    if (scale.ns == autoscaler.ns && scale.name == target.name &&
        (scale.kind == target.kind || scale.kind == "Scale")) {
      return &scale;
    }
  }
  return nullptr;
}

// The labels that all pods of the namespace share, as a selector; those that a workload gives to
// one generation or one pod are left out.
std::string SharedLabels(const ClusterSnapshot& snapshot, const std::string& ns) {
  std::optional<kube::Labels> shared;
  for (const Pod& pod : snapshot.pods) {
    if (pod.ns != ns) continue;
    if (!shared.has_value()) shared = pod.labels;
    std::erase_if(*shared, [&](const auto& label) {
      const auto other = pod.labels.find(label.first);
      return other == pod.labels.end() || other->second != label.second;
    });
  }
  if (!shared.has_value()) return "";
  for (const char* key : {"pod-template-hash", "controller-revision-hash"}) shared->erase(key);
  return absl::StrJoin(*shared, ",", absl::PairFormatter("="));
}

void TakeScale(const ClusterSnapshot& snapshot, GivenCase& out) {
  const Autoscaler& autoscaler = out.autoscaler;
  if (const WorkloadScale* scale = FindScale(snapshot, autoscaler)) {
    out.scale = scale->answer;
    out.scale_source = absl::StrCat(scale->kind, " ", scale->name);
    return;
  }
  out.scale.spec_replicas = out.scale.status_replicas = autoscaler.status.current_replicas;
  out.scale.selector = SharedLabels(snapshot, autoscaler.ns);
  out.scale_source = "the autoscaler's status";
  out.notes.push_back(absl::StrCat(
      autoscaler.scale_target.kind, " ", autoscaler.scale_target.name,
      " is not in the files: its replicas are those of the autoscaler's status, and ",
      out.scale.selector.empty() ? "every pod given counts as its pod"
                                 : "its pods are those with the labels that all given pods share"));
  // Any text will do that is not empty: no selector is no answer, but here there is one.
  if (out.scale.selector.empty()) out.scale.selector = "!flyball-matches-every-pod";
}

void TakePods(const ClusterSnapshot& snapshot, const Autoscaler& autoscaler,
              const MathConfig& config, GivenCase& out, PodsAnswer& answer) {
  absl::StatusOr<kube::Selector> selector =
      kube::Selector::Parse(out.scale.selector, config.labels);
  if (!selector.ok()) {
    answer.selector_error = std::string(selector.status().message());
    return;
  }
  std::vector<const Pod*> pods;
  for (const Pod& pod : snapshot.pods) {
    if (pod.ns == autoscaler.ns && selector->Matches(pod.labels)) pods.push_back(&pod);
  }
  out.table = PodTable(pods, autoscaler.metrics, config.requests);
  answer.table = &out.table;

  Selectors selectors;
  for (const Autoscaler& other : snapshot.autoscalers) {
    const WorkloadScale* scale = FindScale(snapshot, other);
    if (scale == nullptr && &other != &autoscaler) continue;
    absl::StatusOr<kube::Selector> parsed =
        kube::Selector::Parse(scale == nullptr ? out.scale.selector : scale->answer.selector);
    if (!parsed.ok() || parsed->empty()) continue;
    selectors[{other.ns, other.name}] = *parsed;
  }
  answer.rivals = Selecting(selectors, autoscaler.ns, pods);
}

// What was found, through the loop's guard.
template <typename Item>
MetricsAnswer<Item> Found(std::vector<Item> items, absl::string_view what) {
  MetricsAnswer<Item> answer;
  if (items.empty()) answer.error = absl::StrCat("the files hold no ", what);
  answer.items = std::move(items);
  GuardAnswer(answer);
  return answer;
}

MetricsAnswer<PodMetrics> FindPodMetrics(const ClusterSnapshot& snapshot, const GivenCase& given) {
  std::vector<PodMetrics> items;
  for (const GivenPodMetrics& item : snapshot.pod_metrics) {
    // The API answers for the selector's pods only.
    if (item.ns == given.autoscaler.ns && given.table.Find(item.metrics.name, 0) != kStranger) {
      items.push_back(item.metrics);
    }
  }
  return Found(std::move(items), "PodMetrics of these pods");
}

MetricsAnswer<ObjectMetric> FindObjectMetrics(const ClusterSnapshot& snapshot,
                                              const GivenCase& given, const MetricSpec& metric) {
  const bool of_pods = metric.type == MetricType::kPods;
  const ObjectReference& object = metric.described_object;
  const std::string& kind = of_pods ? "Pod" : object.kind;
  std::vector<ObjectMetric> items;
  for (const GivenObjectMetric& item : snapshot.object_metrics) {
    const bool other_namespace =
        !item.ns.empty() && item.ns != given.autoscaler.ns && kind != "Namespace";
    const bool other_selector =
        !item.selector.empty() && item.selector != metric.metric.selector_text;
    if (item.metric == metric.metric.name && item.kind == kind && !other_namespace &&
        !other_selector && (of_pods || item.value.object_name == object.name)) {
      items.push_back(item.value);
    }
  }
  return Found(std::move(items),
               absl::StrCat("value of ", metric.metric.name, " for ",
                            of_pods ? "pods" : absl::StrCat(object.kind, " ", object.name)));
}

MetricsAnswer<ExternalMetric> FindExternalMetrics(const ClusterSnapshot& snapshot,
                                                  const MetricSpec& metric) {
  std::vector<ExternalMetric> items;
  absl::StatusOr<kube::Selector> selector =
      metric.metric.selector.value_or(LabelSelector()).ToSelector();
  for (const GivenExternalMetric& item : snapshot.external_metrics) {
    if (item.metric != metric.metric.name) continue;
    // Some servers answer without labels; then the series was selected by them.
    if (selector.ok() && !item.labels.empty() && !selector->Matches(item.labels)) continue;
    items.push_back(item.value);
  }
  return Found(std::move(items), absl::StrCat("value of ", metric.metric.name));
}

void TakeReadings(const ClusterSnapshot& snapshot, GivenCase& out) {
  const std::vector<MetricSpec>& metrics = out.autoscaler.metrics;
  out.readings.resize(metrics.size());
  for (size_t i = 0; i < metrics.size(); ++i) {
    ReadMetric(
        metrics[i], out.table, [&] { return FindPodMetrics(snapshot, out); },
        [&] { return FindObjectMetrics(snapshot, out, metrics[i]); },
        [&] { return FindExternalMetrics(snapshot, metrics[i]); }, out.readings[i]);
    GuardReading(out.readings[i]);
  }
}

// What the schedules in its annotations make of it then.
void FollowSchedules(absl::Time now, GivenCase& out) {
  FieldErrors errors;
  const Schedules schedules = ReadScheduleAnnotations(out.autoscaler, errors);
  for (const FieldError& error : std::move(errors).Sorted()) {
    out.notes.push_back(absl::StrCat("its schedules are not followed: ", error.ToString()));
  }
  if (!out.notes.empty() || schedules.empty()) return;
  const ScheduledSpec spec = SpecAt(schedules, out.autoscaler, now);
  out.autoscaler.min_replicas = spec.min_replicas;
  out.autoscaler.max_replicas = spec.max_replicas;
  out.notes.push_back(
      absl::StrCat("of its schedules, which are followed in the modes act and advise, there ",
                   spec.why.empty() ? "is none open" : absl::StrCat("holds ", spec.why),
                   "; minReplicas ", spec.min_replicas.value_or(1), ", maxReplicas ",
                   spec.max_replicas, spec.paused ? ", and nothing is written" : ""));
}

void NoteTheInputs(const ClusterSnapshot& snapshot, const CaseOptions& options, GivenCase& out) {
  if (snapshot.newest_reading.has_value() && options.now - *snapshot.newest_reading > kOldFiles) {
    out.notes.push_back(
        absl::StrCat("the newest reading is ", ShowAge(options.now - *snapshot.newest_reading),
                     " old; to decide as of then, add --at ", ShowTime(*snapshot.newest_reading)));
  }
  if (out.decision.outcome == Outcome::kDecided) {
    out.notes.push_back(
        "past recommendations and changes are the controller's memory and in no file: decided as "
        "right after its start, the current size standing for what was recommended before");
  }
  const std::optional<Behavior>& behavior = out.autoscaler.behavior;
  if (behavior.has_value() &&
      (behavior->scale_up.tolerance.has_value() || behavior->scale_down.tolerance.has_value())) {
    out.notes.push_back(
        absl::StrCat("the tolerance under spec.behavior is ",
                     options.dialect.gates.configurable_tolerance ? "" : "not ",
                     "followed, as the controller of Kubernetes ", DialectText(options.dialect),
                     " does; --kubernetes-version and --feature-gates say which one it is"));
  }
}

}  // namespace

GivenCase DecideGiven(const ClusterSnapshot& snapshot, const Autoscaler& autoscaler,
                      const CaseOptions& options) {
  GivenCase out;
  out.autoscaler = autoscaler;
  out.now_source = options.now_source;
  FollowSchedules(options.now, out);
  TakeScale(snapshot, out);
  PodsAnswer pods;
  const MathConfig config = MathConfigOf(options.flags, options.dialect);
  const ScalerState state;
  DecisionInput input{.autoscaler = &out.autoscaler,
                      .status = nullptr,
                      .scale = &out.scale,
                      .pods = &pods,
                      .readings = {},
                      .config = &config,
                      .state = &state,
                      .now = options.now};
  if (HpaDecider().ReadsMetrics(input)) {
    TakePods(snapshot, autoscaler, config, out, pods);
    TakeReadings(snapshot, out);
    input.readings = out.readings;
  }
  Workspace workspace;
  HpaDecider().Decide(input, {.pod_detail = true}, workspace, out.decision);
  if (out.decision.rescale) RecordScaleWrite(input, "", out.decision);
  GuardStatus(autoscaler.status, out.decision);
  RecordStatusWrite(input, "", out.decision);
  NoteTheInputs(snapshot, options, out);
  return out;
}

}  // namespace flyball::scaler
