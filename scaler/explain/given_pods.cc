#include "scaler/explain/given_pods.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"
#include "scaler/math/pods.h"
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

kube::Selector SelectorOf(const PodSelection& selection, const kube::Selector& selector) {
  const ObjectReference& target = selection.autoscaler->scale_target;
  return selection.owned_only ? OwnedBy(target.kind, target.name, selector) : selector;
}

// The autoscalers of the same kind that select one of the pods. One that counts only the pods that
// its target owns and one that counts all pods with the labels are not rivals. Nor is one whose
// scaling is disabled, as it looks for no pods; a controller that has found pods for it before goes
// on counting it, which nobody can see, so a note says that it is left out.
template <typename Listed>
RivalsPtr RivalsAmong(const std::vector<Listed>& listed, const ClusterSnapshot& snapshot,
                      const PodSelection& of, const std::string& selector_text,
                      const std::vector<const Pod*>& pods, std::vector<std::string>& notes) {
  Selectors selectors, disabled;
  for (const Listed& one : listed) {
    const PodSelection other = SelectionOf(one);
    const bool itself = other.autoscaler == of.autoscaler;
    const WorkloadScale* scale = FindScale(snapshot, *other.autoscaler);
    if (scale == nullptr && !itself) continue;
    if (of.owned_only && !other.owned_only) continue;
    absl::StatusOr<kube::Selector> parsed =
        kube::Selector::Parse(scale == nullptr ? selector_text : scale->answer.selector);
    if (!parsed.ok() || parsed->empty()) continue;
    const bool is_disabled =
        !itself && scale->answer.spec_replicas == 0 && other.autoscaler->min_or_default() != 0;
    (is_disabled ? disabled : selectors)[{other.autoscaler->ns, other.autoscaler->name}] =
        SelectorOf(other, *parsed);
  }
  const std::string& ns = of.autoscaler->ns;
  for (const std::string& name : Selecting(disabled, ns, pods)) {
    notes.push_back(absl::StrCat(
        absl::StripPrefix(name, ns + "/"),
        " selects the same pods and is left out, because its target "
        "has 0 replicas; a controller that has scaled it before counts it until it restarts"));
  }
  return MakeRivals(Selecting(selectors, ns, pods));
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
  const kube::Selector taken = SelectorOf(selection, *selector);
  std::vector<const Pod*> pods;
  size_t strangers = 0;
  for (const Pod& pod : snapshot.pods) {
    if (pod.ns != autoscaler.ns || !selector->Matches(pod.labels)) continue;
    if (taken.Matches(pod.labels)) pods.push_back(&pod);
    if (!taken.Matches(pod.labels)) ++strangers;
  }
  if (strangers > 0) {
    out.notes.push_back(absl::StrCat(
        strangers, strangers == 1 ? " more pod has" : " more pods have",
        " the labels that the selector wants and ", strangers == 1 ? "is" : "are", " not owned by ",
        autoscaler.scale_target.kind, " ", autoscaler.scale_target.name, ": left out"));
  }
  out.table = PodTable(pods, autoscaler.metrics, config.requests);
  answer.table = &out.table;
  answer.rivals = own_kind ? RivalsAmong(snapshot.own_autoscalers, snapshot, selection,
                                         out.scale.selector, pods, out.notes)
                           : RivalsAmong(snapshot.autoscalers, snapshot, selection,
                                         out.scale.selector, pods, out.notes);
}

}  // namespace flyball::scaler
