// The Envoys that are connected, whether they report their load, and whether they are all the
// Envoys that take requests.
//
// Pure. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "scaler/front/data_path.h"

namespace flyball::front {

// An Envoy that has reported nothing for this long counts as carrying no load.
inline constexpr absl::Duration kSilence = absl::Seconds(3);

class Envoys {
 public:
  struct Envoy {
    bool connected = false;
    bool returning = false;                   // it has resources from an earlier stream or process
    uint64_t reports = 0;                     // how many arrived
    int reports_in_second = 0;                // how many arrived in the present second
    absl::Time heard = absl::InfinitePast();  // time of its last report
  };

  void Connect(const NodeId& node, bool returning) {
    Envoy& envoy = envoys_[node];
    envoy.connected = true;
    envoy.returning = returning;
  }
  void Disconnect(const NodeId& node, absl::Time now) {
    envoys_.erase(node);
    if (IsExpected(node)) SetMissing(node, now);
  }

  // Sets the Envoys to which the cluster leads requests, by the names of their pods. Each of them
  // may serve requests without being connected, so that nobody here sees those. If none of them has
  // ever been connected, the nodes may have other names, and nothing is expected. Returns the
  // Envoys that were expected before.
  std::set<NodeId> Expect(std::set<NodeId> nodes, absl::Time now) {
    expected_.swap(nodes);
    LookForMissing(now);
    return nodes;
  }
  bool IsExpected(const NodeId& node) const { return expected_.contains(node); }
  // An expected Envoy that is not connected or is silent; "": all load is seen.
  const NodeId& missing() const { return missing_; }
  absl::Time missing_since() const { return missing_since_; }

  // Counts a report; returns its number.
  uint64_t Heard(const NodeId& node, absl::Time now) {
    Envoy& envoy = envoys_[node];
    ++envoy.reports_in_second;
    envoy.heard = now;
    return ++envoy.reports;
  }

  void BeginSecond(absl::Time now) {
    for (auto& [node, envoy] : envoys_) envoy.reports_in_second = 0;
    // Forgets Envoys that are not connected and no longer report.
    std::erase_if(envoys_, [&](const auto& each) {
      return !each.second.connected && now - each.second.heard > kSilence;
    });
    LookForMissing(now);
  }

  const Envoy* Find(const NodeId& node) const {
    const auto found = envoys_.find(node);
    return found == envoys_.end() ? nullptr : &found->second;
  }
  const std::map<NodeId, Envoy>& all() const { return envoys_; }

 private:
  void LookForMissing(absl::Time now) {
    NodeId missing;
    for (const NodeId& node : expected_) {
      const Envoy* const envoy = Find(node);
      const bool connected = envoy != nullptr && envoy->connected;
      named_as_pods_ |= connected;
      if (!connected || now - envoy->heard > kSilence) missing = node;
    }
    SetMissing(named_as_pods_ ? missing : "", now);
  }
  void SetMissing(const NodeId& node, absl::Time now) {
    if (missing_.empty()) missing_since_ = now;
    missing_ = node;
  }

  std::map<NodeId, Envoy> envoys_;
  std::set<NodeId> expected_;
  bool named_as_pods_ = false;  // an expected Envoy has been connected, so names match
  NodeId missing_;
  absl::Time missing_since_;  // set if one is missing
};

}  // namespace flyball::front
