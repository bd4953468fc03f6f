#include "scaler/explain/given_case.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/objects/selector.h"
#include "scaler/explain/amounts.h"
#include "scaler/explain/given_triggers.h"
#include "scaler/math/hpa/hpa_decider.h"
#include "scaler/math/pods.h"
#include "scaler/math/readings.h"
#include "scaler/spec/scheduled_targets.h"
#include "scaler/spec/schedules_read.h"
#include "scaler/steps/apply_activation.h"
#include "scaler/steps/guard.h"
#include "scaler/steps/reading_maker.h"

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

// What its schedules make of it then.
void FollowSchedules(const Schedules& schedules, absl::string_view whose, absl::Time now,
                     std::vector<TriggerSpec>& triggers, GivenCase& out) {
  if (schedules.empty()) return;
  const ScheduledSpec spec = SpecAt(schedules, out.autoscaler, now);
  out.autoscaler.min_replicas = spec.min_replicas;
  out.autoscaler.max_replicas = spec.max_replicas;
  SetTargets(spec.targets, out.autoscaler.metrics, triggers);
  out.notes.push_back(
      absl::StrCat("of its schedules", whose, " there ",
                   spec.why.empty() ? "is none open" : absl::StrCat("holds ", spec.why),
                   "; minReplicas ", spec.min_replicas.value_or(1), ", maxReplicas ",
                   spec.max_replicas, spec.paused ? ", and nothing is written" : ""));
}

// The same of an HPA, whose schedules stand in its annotations.
void FollowAnnotations(absl::Time now, GivenCase& out) {
  FieldErrors errors;
  const Schedules schedules = ReadScheduleAnnotations(out.autoscaler, errors);
  for (const FieldError& error : std::move(errors).Sorted()) {
    out.notes.push_back(absl::StrCat("its schedules are not followed: ", error.ToString()));
  }
  if (!out.notes.empty()) return;
  std::vector<TriggerSpec> none;
  FollowSchedules(schedules, ", which are followed in the modes act and advise,", now, none, out);
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

// The triggers of one of our own kind, whose metrics stand behind its own.
struct GivenTriggers {
  const GivenOwnAutoscaler& given;
  const std::vector<TriggerReading>& readings;
  int32_t min_replicas = 1;  // as it is written; 0 may be entered
};

Activation ActivationOf(const GivenTriggers& triggers, const GivenCase& given, absl::Time now) {
  return DecideActivation({.readings = triggers.readings,
                           .current = given.scale.spec_replicas,
                           .min_replicas = triggers.min_replicas,
                           .cooldown = triggers.given.own.cooldown,
                           .last_active = triggers.given.last_active,
                           .created = triggers.given.created,
                           .now = now});
}

// `listed` is the autoscaler as it stands in the snapshot.
void Decide(const ClusterSnapshot& snapshot, const Autoscaler& listed, const MathConfig& config,
            const CaseOptions& options, const GivenTriggers* triggers, GivenCase& out) {
  out.now_source = options.now_source;
  TakeScale(snapshot, out);
  PodsAnswer pods;
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
    TakePods(snapshot, listed, config, out, pods);
    TakeReadings(snapshot, out);
    const size_t first = out.readings.size() - (triggers ? triggers->readings.size() : 0);
    for (size_t i = first; i < out.readings.size(); ++i) {
      MakeTriggerReading(triggers->readings[i - first], out.readings[i]);
    }
    input.readings = out.readings;
  }
  Workspace workspace;
  HpaDecider().Decide(input, {.pod_detail = true}, workspace, out.decision);
  if (triggers != nullptr) {
    ApplyActivation(input, ActivationOf(*triggers, out, options.now), out.decision);
  }
  if (out.decision.rescale) RecordScaleWrite(input, "", out.decision);
  GuardStatus(listed.status, out.decision);
  RecordStatusWrite(input, "", out.decision);
  NoteTheInputs(snapshot, options, out);
}

}  // namespace

GivenCase DecideGiven(const ClusterSnapshot& snapshot, const Autoscaler& autoscaler,
                      const CaseOptions& options) {
  GivenCase out;
  out.autoscaler = autoscaler;
  FollowAnnotations(options.now, out);
  Decide(snapshot, autoscaler, MathConfigOf(options.flags, options.dialect), options, nullptr, out);
  return out;
}

GivenCase DecideGiven(const ClusterSnapshot& snapshot, const GivenOwnAutoscaler& given,
                      const CaseOptions& options) {
  GivenCase out;
  out.autoscaler = given.autoscaler;
  OwnSpec own = given.own;
  FollowSchedules(own.schedules, "", options.now, own.triggers, out);
  const int32_t min = out.autoscaler.min_or_default();
  const std::vector<TriggerReading> triggers = ReadGivenTriggers(own, options.now, out.autoscaler);
  if (!triggers.empty()) out.autoscaler.min_replicas = std::max(min, 1);
  const GivenTriggers read{.given = given, .readings = triggers, .min_replicas = min};
  Decide(snapshot, given.autoscaler, ForOwnKind(MathConfigOf(options.flags, options.dialect)),
         options, triggers.empty() ? nullptr : &read, out);
  return out;
}

}  // namespace flyball::scaler
