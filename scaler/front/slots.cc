#include "scaler/front/slots.h"

#include <algorithm>
#include <utility>

namespace flyball::front {
namespace {

// For this time requests of an Envoy that is cut off count as going on.
constexpr absl::Duration kCutOffTime = absl::Minutes(1);

}  // namespace

void Slots::SetPods(const std::vector<PodPlace>& pods) {
  std::vector<PodUse> uses;
  uses.reserve(pods.size());
  auto before = pods_.begin();
  for (const PodPlace& place : pods) {
    while (before != pods_.end() && before->place.uid < place.uid) ++before;
    if (before != pods_.end() && before->place.uid == place.uid) {
      uses.push_back(*before);
      uses.back().place = place;
    } else {
      uses.push_back({.place = place, .before = Awaits()});
    }
  }
  pods_ = std::move(uses);
}

void Slots::Await(const NodeId& node, absl::Time now) {
  envoys_[node].awaited_since = now;
  for (PodUse& pod : pods_) pod.before = true;
}

void Slots::Report(const NodeId& node, int64_t at_pods) {
  const auto found = envoys_.find(node);
  if (found == envoys_.end()) return;
  EnvoyUse& envoy = found->second;
  const int64_t known = std::min(envoy.fewest, envoy.fewest_before);
  const int64_t unknown = std::max<int64_t>(at_pods - known, 0);
  if (envoy.awaited_since.has_value()) {
    envoy.unknown = unknown;
  } else {
    const int64_t lost = std::max<int64_t>(at_pods - std::max(envoy.most, envoy.most_before), 0);
    if (lost > envoy.unknown) {
      for (PodUse& pod : pods_) pod.before = true;
    }
    envoy.unknown = std::max(std::min(envoy.unknown, unknown), lost);
  }
  envoy.awaited_since.reset();
  envoy.cut_off_until.reset();
  envoy.reported = at_pods;
  envoy.fewest_before = std::exchange(envoy.fewest, envoy.given);
  envoy.most_before = std::exchange(envoy.most, envoy.given);
}

void Slots::CutOff(const NodeId& node, absl::Time now, absl::Duration longest) {
  const auto found = envoys_.find(node);
  if (found == envoys_.end()) return;
  EnvoyUse& envoy = found->second;
  envoy.unknown = std::max({envoy.unknown, envoy.reported, envoy.most, envoy.most_before});
  envoy.cut_off_until =
      now + (longest > absl::ZeroDuration() ? std::min(longest, kCutOffTime) : kCutOffTime);
  for (PodUse& pod : pods_) pod.before = true;
}

bool Slots::StopAwaiting(absl::Time now) {
  bool any = false;
  for (auto& [node, envoy] : envoys_) {
    if (envoy.awaited_since.has_value() && now >= *envoy.awaited_since + kSilence) {
      envoy.awaited_since.reset();
      any = true;
    }
    if (envoy.cut_off_until.has_value() && now >= *envoy.cut_off_until) {
      envoy.cut_off_until.reset();
      envoy.unknown = 0;
      any = true;
    }
  }
  return any;
}

bool Slots::Awaits() const {
  return std::any_of(envoys_.begin(), envoys_.end(),
                     [](const auto& each) { return each.second.awaited_since.has_value(); });
}

int64_t Slots::Unknown() const {
  int64_t unknown = 0;
  for (const auto& [node, envoy] : envoys_) unknown += envoy.unknown;
  return unknown;
}

bool Slots::HasRoom(const PodUse& pod, int64_t unknown) const {
  return pod.place.takes_requests && pod.used + (pod.before ? unknown : 0) < limit_;
}

bool Slots::HasRoom() const {
  if (Awaits()) return false;
  const int64_t unknown = Unknown();
  return std::any_of(pods_.begin(), pods_.end(),
                     [&](const PodUse& pod) { return HasRoom(pod, unknown); });
}

std::optional<std::string> Slots::Give(RequestId id, const NodeId& node,
                                       absl::FunctionRef<bool(const std::string&)> reachable) {
  if (Awaits()) return std::nullopt;
  const int64_t unknown = Unknown();
  PodUse* best = nullptr;
  size_t best_at = 0;
  for (size_t i = 0; i < pods_.size(); ++i) {
    const size_t at = (next_ + i) % pods_.size();
    PodUse& pod = pods_[at];
    if (best != nullptr && pod.used >= best->used) continue;
    if (!HasRoom(pod, unknown) || !reachable(pod.place.address)) continue;
    best = &pod;
    best_at = at;
  }
  if (best == nullptr) return std::nullopt;
  ++best->used;
  next_ = best_at + 1;
  EnvoyUse& envoy = envoys_[node];
  ++envoy.given;
  envoy.most = std::max(envoy.most, envoy.given);
  given_[id] = {best->place.uid, node};
  return best->place.address;
}

bool Slots::Return(RequestId id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return false;
  const GivenSlot slot = std::move(found->second);
  given_.erase(found);
  const auto pod = std::lower_bound(
      pods_.begin(), pods_.end(), slot.uid,
      [](const PodUse& each, const std::string& uid) { return each.place.uid < uid; });
  if (pod != pods_.end() && pod->place.uid == slot.uid) --pod->used;
  if (const auto envoy = envoys_.find(slot.node); envoy != envoys_.end()) {
    if (envoy->second.given > 0) --envoy->second.given;
    envoy->second.fewest = std::min(envoy->second.fewest, envoy->second.given);
  }
  return true;
}

int64_t Slots::unknown_by_report() const {
  int64_t unknown = 0;
  for (const auto& [node, envoy] : envoys_) {
    if (!envoy.cut_off_until.has_value()) unknown += envoy.unknown;
  }
  return unknown;
}

int64_t Slots::total() const {
  return limit_ * std::count_if(pods_.begin(), pods_.end(),
                                [](const PodUse& pod) { return pod.place.takes_requests; });
}

int64_t Slots::used() const {
  int64_t used = Unknown();
  for (const PodUse& pod : pods_) used += pod.used;
  return used;
}

}  // namespace flyball::front
