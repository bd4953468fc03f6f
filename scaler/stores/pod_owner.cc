#include "scaler/stores/pod_owner.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace flyball::scaler {
namespace {

constexpr char kMark = '@';
// The label with the hash of a pod's template, and the kind of workload that sets it.
constexpr std::pair<const char*, absl::string_view> kHashes[] = {
    {"pod-template-hash", "Deployment"}, {"rollouts-pod-template-hash", "Rollout"}};

std::string KeyOf(absl::string_view kind) {
  return absl::StrCat(absl::string_view(&kMark, 1), absl::AsciiStrToLower(kind));
}

}  // namespace

void AddOwners(const PodController& controller, kube::Labels& labels) {
  if (controller.kind.empty()) return;
  if (controller.kind == "ReplicaSet") {
    for (const auto& [label, kind] : kHashes) {
      const auto hash = labels.find(label);
      if (hash == labels.end()) continue;
      absl::string_view owner = controller.name;
      if (absl::ConsumeSuffix(&owner, absl::StrCat("-", hash->second))) {
        labels[KeyOf(kind)] = std::string(owner);
        break;
      }
    }
  }
  labels[KeyOf(controller.kind)] = controller.name;
}

void RemoveOwners(kube::Labels& labels) {
  std::erase_if(labels, [](const auto& label) {
    return !label.first.empty() && label.first.front() == kMark;
  });
}

kube::Selector OwnedBy(absl::string_view kind, absl::string_view name,
                       const kube::Selector& selector) {
  std::vector<kube::Requirement> all = selector.requirements();
  all.push_back({.key = KeyOf(kind), .op = kube::Operator::kIn, .values = {std::string(name)}});
  return kube::Selector(std::move(all));
}

std::string OwnedByText(absl::string_view kind, absl::string_view name, absl::string_view text) {
  return absl::StrCat(KeyOf(kind), "=", name, ",", text);
}

bool IsOwnedByText(absl::string_view text) { return !text.empty() && text.front() == kMark; }

}  // namespace flyball::scaler
