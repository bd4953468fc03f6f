#include "scaler/front/acknowledgements.h"

#include <algorithm>

namespace flyball::front {

void Acknowledgements::Connect(const NodeId& node, absl::Time now) {
  EnvoyVersions& envoy = envoys_[node];
  envoy = {};
  envoy.waited_since.fill(now);
}

void Acknowledgements::Sent(ResourceKind kind, uint64_t version, absl::Time now) {
  const size_t index = Index(kind);
  for (auto& [node, envoy] : envoys_) {
    // An Envoy that is already behind keeps the time since which it has been.
    if (envoy.acked[index] == newest_[index]) envoy.waited_since[index] = now;
    envoy.refusals[index].clear();
  }
  newest_[index] = version;
}

void Acknowledgements::Acked(const NodeId& node, ResourceKind kind, uint64_t version) {
  const auto found = envoys_.find(node);
  const size_t index = Index(kind);
  if (found == envoys_.end() || version > newest_[index]) return;
  uint64_t& acked = found->second.acked[index];
  acked = std::max(acked, version);
  if (acked == newest_[index]) found->second.refusals[index].clear();
}

void Acknowledgements::Nacked(const NodeId& node, ResourceKind kind, absl::string_view text) {
  const auto found = envoys_.find(node);
  if (found == envoys_.end()) return;
  const size_t index = Index(kind);
  if (found->second.acked[index] != newest_[index]) {
    found->second.refusals[index] = std::string(text);
  }
}

uint64_t Acknowledgements::VersionAt(const NodeId& node, ResourceKind kind) const {
  const auto found = envoys_.find(node);
  return found == envoys_.end() ? 0 : found->second.acked[Index(kind)];
}

bool Acknowledgements::AllHave(ResourceKind kind, uint64_t version) const {
  return std::all_of(envoys_.begin(), envoys_.end(),
                     [&](const auto& each) { return each.second.acked[Index(kind)] >= version; });
}

int Acknowledgements::pending() const {
  int count = 0;
  for (const auto& [node, envoy] : envoys_) {
    for (size_t i = 0; i < newest_.size(); ++i) count += envoy.acked[i] != newest_[i] ? 1 : 0;
  }
  return count;
}

std::optional<Acknowledgements::Wait> Acknowledgements::LongestWait() const {
  std::optional<Wait> longest;
  for (const auto& [node, envoy] : envoys_) {
    for (size_t i = 0; i < newest_.size(); ++i) {
      if (envoy.acked[i] == newest_[i]) continue;
      if (longest.has_value() && longest->since <= envoy.waited_since[i]) continue;
      longest = {node, static_cast<ResourceKind>(i), envoy.waited_since[i], envoy.refusals[i]};
    }
  }
  if (!longest.has_value() || !longest->refusal.empty()) return longest;
  // A resource that it refused may be the reason why it never asked for this one: it asks for a
  // route only after it has taken the listener.
  const EnvoyVersions& envoy = envoys_.at(longest->node);
  for (size_t i = 0; i < newest_.size(); ++i) {
    if (envoy.acked[i] == newest_[i] || envoy.refusals[i].empty()) continue;
    longest->kind = static_cast<ResourceKind>(i);
    longest->refusal = envoy.refusals[i];
  }
  return longest;
}

}  // namespace flyball::front
