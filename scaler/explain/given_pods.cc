#include "scaler/explain/given_pods.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"
#include "scaler/math/pods.h"
#include "scaler/stores/pod_index.h"
#include "scaler/stores/pod_owner.h"

namespace flyball::scaler {
namespace {

const WorkloadScale* FindScale(const ClusterSnapshot& snapshot, const Autoscaler& autoscaler) {
  const ObjectReference& target = autoscaler.scale_target;
  for (const WorkloadScale& scale : snapshot.scales) {
    if (scale.ns == autoscaler.ns && scale.name == target.name &&
        (kube::NamesKind(target.kind, scale.kind) || scale.kind == "Scale")) {
      return &scale;
    }
  }
  return nullptr;
}

// The labels that all pods of the namespace share, as a selector; labels that differ between the
// generations of one workload are left out.
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
  RemoveOwners(*shared);
  for (const char* key : {"pod-template-hash", "controller-revision-hash"}) shared->erase(key);
  return absl::StrJoin(*shared, ",", absl::PairFormatter("="));
}

// An autoscaler that looks for pods, as the index is told.
struct Selecting {
  AutoscalerKey key;
  kube::Selector selector;
  std::string text;
  bool rival = true;
};

// `labels` is the selector of its scale, and `text` that selector as written.
Selecting SelectingOf(const PodSelection& selection, AutoscalerKind kind,
                      const kube::Selector& labels, const std::string& text) {
  const Autoscaler& autoscaler = *selection.autoscaler;
  const ObjectReference& target = autoscaler.scale_target;
  Selecting out = {.key = {kind, autoscaler.ns, autoscaler.name},
                   .selector = labels,
                   .text = text,
                   .rival = !labels.empty()};
  if (!selection.owned_only) return out;
  out.selector = OwnedBy(target.kind, target.name, labels);
  out.text = OwnedByText(target.kind, target.name, text);
  return out;
}

SelectedPods* AddTo(PodIndex& index, const Selecting& one) {
  return index.Select(one.key, one.selector, one.text, one.rival);
}

// The other autoscalers of the same kind that look for pods. One whose scaling is disabled looks
// for none; a controller that has found pods for it before goes on counting it, which nobody sees.
struct Others {
  std::vector<Selecting> scaling, disabled;
};

template <typename Listed>
Others OthersAmong(const std::vector<Listed>& listed, const ClusterSnapshot& snapshot,
                   const PodSelection& of, AutoscalerKind kind) {
  Others out;
  for (const Listed& one : listed) {
    const PodSelection other = SelectionOf(one);
    const WorkloadScale* scale = FindScale(snapshot, *other.autoscaler);
    if (scale == nullptr || other.autoscaler == of.autoscaler) continue;
    const std::string& text = scale->answer.selector;
    const absl::StatusOr<kube::Selector> parsed = kube::Selector::Parse(text);
    if (!parsed.ok() || parsed->empty()) continue;
    const bool is_disabled =
        scale->answer.spec_replicas == 0 && other.autoscaler->min_or_default() != 0;
    (is_disabled ? out.disabled : out.scaling).push_back(SelectingOf(other, kind, *parsed, text));
  }
  return out;
}

}  // namespace

PodSelection SelectionOf(const Autoscaler& hpa) {
  const auto annotation = hpa.annotations.find(std::string(kPodSelectionAnnotation));
  return {
      .autoscaler = &hpa,
      .owned_only = annotation != hpa.annotations.end() && annotation->second == "OwnerReferences"};
}

PodSelection SelectionOf(const GivenOwnAutoscaler& given) {
  return {.autoscaler = &given.autoscaler, .owned_only = given.own.owned_pods_only};
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
  // An empty selector would mean that the scale is unknown. This one matches every pod.
  if (out.scale.selector.empty()) out.scale.selector = "!flyball-matches-every-pod";
}

void TakePods(const ClusterSnapshot& snapshot, const PodSelection& selection, bool own_kind,
              const MathConfig& config, GivenCase& out, PodsAnswer& answer) {
  const Autoscaler& autoscaler = out.autoscaler;
  absl::StatusOr<kube::Selector> selector =
      kube::Selector::Parse(out.scale.selector, config.labels);
  if (!selector.ok()) {
    answer.selector_error = std::string(selector.status().message());
    return;
  }
  const AutoscalerKind kind = own_kind ? AutoscalerKind::kOwn : AutoscalerKind::kHpa;
  const Selecting itself = SelectingOf(selection, kind, *selector, out.scale.selector);
  PodIndex index;
  size_t strangers = 0;
  for (const Pod& pod : snapshot.pods) {
    if (pod.ns != autoscaler.ns) continue;
    index.Put(pod, /*node=*/"", /*list=*/0);
    if (selector->Matches(pod.labels) && !itself.selector.Matches(pod.labels)) ++strangers;
  }
  if (strangers > 0) {
    out.notes.push_back(absl::StrCat(
        strangers, strangers == 1 ? " more pod has" : " more pods have",
        " the labels that the selector wants and ", strangers == 1 ? "is" : "are", " not owned by ",
        autoscaler.scale_target.kind, " ", autoscaler.scale_target.name, ": left out"));
  }
  const Others others = own_kind ? OthersAmong(snapshot.own_autoscalers, snapshot, selection, kind)
                                 : OthersAmong(snapshot.autoscalers, snapshot, selection, kind);
  for (const Selecting& one : others.disabled) AddTo(index, one);
  const RivalsPtr disabled = index.View(*AddTo(index, itself), kind, {}, {}).rivals;
  for (const Selecting& one : others.disabled) index.Forget(one.key);
  for (const std::string& name : disabled->names) {
    if (name == itself.key.ToString()) continue;
    out.notes.push_back(absl::StrCat(
        absl::StripPrefix(name, autoscaler.ns + "/"),
        " selects the same pods and is left out, because its target "
        "has 0 replicas; a controller that has scaled it before counts it until it restarts"));
  }
  for (const Selecting& one : others.scaling) AddTo(index, one);
  PodView view = index.View(*AddTo(index, itself), kind, autoscaler.metrics, config.requests);
  out.table = *view.table;
  answer.table = &out.table;
  answer.rivals = std::move(view.rivals);
}

}  // namespace flyball::scaler
