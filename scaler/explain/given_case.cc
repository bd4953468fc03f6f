#include "scaler/explain/given_case.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/objects/api_version.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"
#include "scaler/explain/amounts.h"
#include "scaler/explain/given_own.h"
#include "scaler/explain/given_pods.h"
#include "scaler/math/hpa/decider_of.h"
#include "scaler/math/pods.h"
#include "scaler/math/readings.h"
#include "scaler/spec/own/metric_fallback.h"
#include "scaler/spec/scheduled_targets.h"
#include "scaler/spec/schedules_read.h"
#include "scaler/steps/apply_activation.h"
#include "scaler/steps/guard.h"
#include "scaler/steps/reading_maker.h"

namespace flyball::scaler {
namespace {

// If the newest reading is older than this, the files were not taken just now.
constexpr absl::Duration kOldFiles = absl::Minutes(5);

// The answer with the items that were found; without any it has an error.
template <typename Item>
MetricsAnswer<Item> Found(std::vector<Item> items, absl::string_view what) {
  MetricsAnswer<Item> answer;
  if (items.empty()) answer.error = absl::StrCat("the files hold no ", what);
  answer.items = std::move(items);
  GuardAnswer(answer);
  return answer;
}

// The same with the values of those that were found.
template <typename Item, typename Given>
MetricsAnswer<Item> Found(const std::vector<const Given*>& given, absl::string_view what) {
  std::vector<Item> items;
  for (const Given* one : given) items.push_back(one->value);
  return Found(std::move(items), what);
}

MetricsAnswer<PodMetrics> FindPodMetrics(const ClusterSnapshot& snapshot, const GivenCase& given) {
  std::vector<PodMetrics> items;
  for (const GivenPodMetrics& item : snapshot.pod_metrics) {
    // The metrics API answers only for the pods of the selector, some of which may not be listed.
    if (item.ns == given.autoscaler.ns &&
        (item.asked_for || given.table.Find(item.metrics.name, 0) != kStranger)) {
      items.push_back(item.metrics);
    }
  }
  return Found(std::move(items), "PodMetrics of these pods");
}

// The values with exactly the metric's selector. Where there are none, those of files that name no
// selector. Of pods, only of those of the selector, as for PodMetrics.
std::vector<const GivenObjectMetric*> ObjectMetricsOf(const ClusterSnapshot& snapshot,
                                                      const GivenCase& given,
                                                      const MetricSpec& metric) {
  const std::string& ns = given.autoscaler.ns;
  const bool of_pods = metric.type == MetricType::kPods;
  const ObjectReference& object = metric.described_object;
  const std::string& kind = of_pods ? "Pod" : object.kind;
  // A metric of a Namespace is always one of the autoscaler's own namespace.
  const bool of_namespace = !of_pods && object.kind == "Namespace" &&
                            kube::ApiVersion::GroupOf(object.api_version).empty();
  const std::string& name = of_namespace ? ns : object.name;
  std::vector<const GivenObjectMetric*> found;
  std::vector<const GivenObjectMetric*> without_selector;
  for (const GivenObjectMetric& item : snapshot.object_metrics) {
    const bool other_namespace = !item.ns.empty() && item.ns != ns && !of_namespace;
    if (item.metric != metric.metric.name || !kube::NamesKind(kind, item.kind) || other_namespace ||
        (!of_pods && item.value.object_name != name)) {
      continue;
    }
    if (of_pods && !item.asked_by.has_value() &&
        given.table.Find(item.value.object_name, 0) == kStranger) {
      continue;
    }
    if (item.asked_by.value_or(item.selector) == metric.metric.selector_text) {
      found.push_back(&item);
    } else if (!item.asked_by.has_value() && item.selector.empty()) {
      without_selector.push_back(&item);
    }
  }
  return found.empty() ? without_selector : found;
}

MetricsAnswer<ObjectMetric> FindObjectMetrics(const ClusterSnapshot& snapshot,
                                              const GivenCase& given, const MetricSpec& metric) {
  const ObjectReference& object = metric.described_object;
  return Found<ObjectMetric>(
      ObjectMetricsOf(snapshot, given, metric),
      absl::StrCat(
          "value of ", metric.metric.name, " for ",
          metric.type == MetricType::kPods ? "pods" : absl::StrCat(object.kind, " ", object.name)));
}

// Whether the value may be one that was asked for with the selector. Servers leave out labels that
// their query does not group by, so that only a label that is there can tell.
bool MayFit(const GivenExternalMetric& item, const MetricSpec& metric) {
  if (item.asked_by.has_value()) return *item.asked_by == metric.metric.selector_text;
  const absl::StatusOr<kube::Selector> selector =
      metric.metric.selector.value_or(LabelSelector()).ToSelector();
  if (!selector.ok()) return true;
  return std::all_of(selector->requirements().begin(), selector->requirements().end(),
                     [&](const kube::Requirement& requirement) {
                       return !item.labels.contains(requirement.key) ||
                              requirement.Matches(item.labels);
                     });
}

std::vector<const GivenExternalMetric*> ExternalMetricsOf(const ClusterSnapshot& snapshot,
                                                          const MetricSpec& metric) {
  std::vector<const GivenExternalMetric*> found;
  for (const GivenExternalMetric& item : snapshot.external_metrics) {
    if (item.metric == metric.metric.name && MayFit(item, metric)) found.push_back(&item);
  }
  return found;
}

MetricsAnswer<ExternalMetric> FindExternalMetrics(const ClusterSnapshot& snapshot,
                                                  const MetricSpec& metric) {
  return Found<ExternalMetric>(ExternalMetricsOf(snapshot, metric),
                               absl::StrCat("value of ", metric.metric.name));
}

// Whether both metrics, which have one name and different selectors, took a value of the files.
bool ShareValues(const ClusterSnapshot& snapshot, const GivenCase& given, const MetricSpec& a,
                 const MetricSpec& b) {
  if (a.type != b.type || a.metric.name != b.metric.name ||
      a.metric.selector_text == b.metric.selector_text) {
    return false;
  }
  const auto shared = [](const auto& of_a, const auto& of_b) {
    return std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
  };
  if (a.type == MetricType::kExternal) {
    return shared(ExternalMetricsOf(snapshot, a), ExternalMetricsOf(snapshot, b));
  }
  return shared(ObjectMetricsOf(snapshot, given, a), ObjectMetricsOf(snapshot, given, b));
}

void NoteSharedValues(const ClusterSnapshot& snapshot, GivenCase& out) {
  const std::vector<MetricSpec>& metrics = out.autoscaler.metrics;
  const auto with = [](const MetricSpec& metric) {
    const std::string& selector = metric.metric.selector_text;
    return selector.empty() ? "without a selector" : absl::StrCat("with the selector ", selector);
  };
  for (size_t i = 0; i < metrics.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!ShareValues(snapshot, out, metrics[j], metrics[i])) continue;
      out.notes.push_back(absl::StrCat("values of ", metrics[i].metric.name, " count ",
                                       with(metrics[j]), " and ", with(metrics[i]),
                                       ": the files do not say which of them they are for"));
    }
  }
}

void TakeReadings(const ClusterSnapshot& snapshot, bool owned_only, GivenCase& out) {
  const std::vector<MetricSpec>& metrics = out.autoscaler.metrics;
  out.readings.resize(metrics.size());
  for (size_t i = 0; i < metrics.size(); ++i) {
    ReadMetric(
        metrics[i], out.table, [&] { return FindPodMetrics(snapshot, out); },
        [&] { return FindObjectMetrics(snapshot, out, metrics[i]); },
        [&] { return FindExternalMetrics(snapshot, metrics[i]); }, out.readings[i]);
    GuardReading(out.readings[i]);
    if (owned_only) DropStrangers(out.readings[i]);
  }
  NoteSharedValues(snapshot, out);
}

// Puts the bounds and targets that its schedules set at that time into the autoscaler, its triggers
// and its fallbacks.
void FollowSchedules(absl::string_view what, absl::Time now, OwnSpec& own, GivenCase& out) {
  if (own.schedules.empty()) return;
  const ScheduledSpec spec = SpecAt(own.schedules, out.autoscaler, now);
  out.autoscaler.min_replicas = spec.min_replicas;
  out.autoscaler.max_replicas = spec.max_replicas;
  SetTargets(spec.targets, out.autoscaler.metrics, own.triggers);
  FollowTargets(out.autoscaler.metrics, own.metric_fallbacks);
  out.notes.push_back(absl::StrCat(what, ": ", spec.why.empty() ? "none is open" : spec.why,
                                   "; minReplicas ", spec.min_replicas.value_or(1),
                                   ", maxReplicas ", spec.max_replicas,
                                   spec.paused ? ", and nothing is written" : ""));
}

// The same for an HPA, whose schedules are in its annotations.
void FollowAnnotations(absl::Time now, GivenCase& out) {
  FieldErrors errors;
  OwnSpec own;
  own.schedules = ReadScheduleAnnotations(out.autoscaler, errors);
  const std::vector<FieldError> found = std::move(errors).Sorted();
  for (const FieldError& error : found) {
    out.notes.push_back(
        absl::StrCat("of its schedules only pauses are followed: ", error.ToString()));
  }
  FollowSchedules(absl::StrCat(found.empty() ? "schedules" : "pauses",
                               " (followed in the modes act and advise)"),
                  now, own, out);
}

void NotePodSelection(const PodSelection& selection, GivenCase& out) {
  const std::string key(kPodSelectionAnnotation);
  const auto annotation = out.autoscaler.annotations.find(key);
  if (selection.owned_only) {
    out.notes.push_back(absl::StrCat(
        "by its annotation ", key,
        ", which is followed in the modes act and advise, only pods that ",
        out.autoscaler.scale_target.kind, " ", out.autoscaler.scale_target.name, " owns count"));
  } else if (annotation != out.autoscaler.annotations.end() &&
             annotation->second != "LabelSelector") {
    out.notes.push_back(
        absl::StrCat(key, ": expected LabelSelector or OwnerReferences, got ", annotation->second));
  }
}

void NoteTheInputs(const ClusterSnapshot& snapshot, const CaseOptions& options, bool own_kind,
                   GivenCase& out) {
  if (snapshot.newest_reading.has_value() && options.now - *snapshot.newest_reading > kOldFiles) {
    out.notes.push_back(absl::StrCat(
        "the newest reading is ", ShowAge(options.now - *snapshot.newest_reading),
        " old; to decide as of that time, add --at ", ShowTime(*snapshot.newest_reading)));
  }
  if (out.decision.outcome == Outcome::kDecided) {
    out.notes.push_back(
        "no file has the recommendations and changes that a controller remembers: this is its "
        "first decision after a start, when the current count is all that was recommended before");
  }
  const std::optional<Behavior>& behavior = out.autoscaler.behavior;
  if (!own_kind && behavior.has_value() &&
      (behavior->scale_up.tolerance.has_value() || behavior->scale_down.tolerance.has_value())) {
    out.notes.push_back(
        absl::StrCat("the tolerance under spec.behavior is ",
                     options.dialect.gates.configurable_tolerance ? "" : "not ",
                     "followed, as the controller of Kubernetes ", DialectText(options.dialect),
                     " does; for another one set --kubernetes-version and --feature-gates"));
  }
}

// An autoscaler of either kind, with what an HPA has not.
struct Subject {
  PodSelection selection;
  const GivenOwnAutoscaler* own = nullptr;  // nullptr: it is an HPA
  std::vector<TriggerReading> triggers;     // their metrics follow those of the spec
  int32_t min_replicas = 1;                 // of the spec; with triggers it may be 0
};

void DecideActivity(const DecisionInput& input, const Subject& subject, GivenCase& out) {
  if (subject.triggers.empty()) return;
  ApplyActivation(input,
                  DecideActivation({.readings = subject.triggers,
                                    .current = out.scale.spec_replicas,
                                    .min_replicas = subject.min_replicas,
                                    .cooldown = subject.own->own.cooldown,
                                    .last_active = subject.own->last_active,
                                    .created = subject.own->created,
                                    .now = input.now}),
                  out.decision);
}

void Decide(const ClusterSnapshot& snapshot, const MathConfig& config, const CaseOptions& options,
            Subject subject, GivenCase& out) {
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
  const Decider& decider = DeciderOf(out.autoscaler);
  const bool reads_metrics = decider.ReadsMetrics(input);
  if (reads_metrics) {
    TakePods(snapshot, subject.selection, subject.own != nullptr, config, out, pods);
    TakeReadings(snapshot, subject.selection.owned_only, out);
    const size_t first = out.readings.size() - subject.triggers.size();
    for (size_t i = first; i < out.readings.size(); ++i) {
      MakeTriggerReading(subject.triggers[i - first], out.readings[i]);
    }
  }
  if (subject.own != nullptr) {
    FollowFallbacks(subject.own->own, subject.min_replicas, options.now, out, subject.triggers);
  }
  if (reads_metrics) input.readings = out.readings;
  Workspace workspace;
  decider.Decide(input, {.pod_detail = true}, workspace, out.decision);
  DecideActivity(input, subject, out);
  if (out.decision.rescale) RecordScaleWrite(input, "", out.decision);
  GuardStatus(subject.selection.autoscaler->status, out.decision);
  RecordStatusWrite(input, "", out.decision);
  NoteTheInputs(snapshot, options, subject.own != nullptr, out);
}

}  // namespace

GivenCase DecideGiven(const ClusterSnapshot& snapshot, const Autoscaler& autoscaler,
                      const CaseOptions& options) {
  GivenCase out;
  out.autoscaler = autoscaler;
  FollowAnnotations(options.now, out);
  const PodSelection selection = SelectionOf(autoscaler);
  NotePodSelection(selection, out);
  Decide(snapshot, MathConfigOf(options.flags, options.dialect), options,
         {.selection = selection, .triggers = {}}, out);
  return out;
}

GivenCase DecideGiven(const ClusterSnapshot& snapshot, const GivenOwnAutoscaler& given,
                      const CaseOptions& options) {
  GivenCase out;
  out.autoscaler = given.autoscaler;
  GivenOwnAutoscaler now = given;  // as its schedules make it
  FollowSchedules("schedules", options.now, now.own, out);
  const int32_t min = out.autoscaler.min_or_default();
  std::vector<TriggerReading> triggers = ReadGivenTriggers(now.own, options.now, out.autoscaler);
  if (!triggers.empty()) out.autoscaler.min_replicas = std::max(min, 1);
  Decide(snapshot, ForOwnKind(MathConfigOf(options.flags, options.dialect)), options,
         {.selection = SelectionOf(given),
          .own = &now,
          .triggers = std::move(triggers),
          .min_replicas = min},
         out);
  return out;
}

}  // namespace flyball::scaler
