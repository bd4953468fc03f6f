// The Envoys that are connected, and whether their reports of load arrive.
//
// Pure. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>

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
    absl::Time heard = absl::InfinitePast();  // its last report
  };

  void Connect(const NodeId& node, bool returning) {
    Envoy& envoy = envoys_[node];
    envoy.connected = true;
    envoy.returning = returning;
  }
  void Disconnect(const NodeId& node) { envoys_.erase(node); }

  // Counts a report; returns its number.
  uint64_t Heard(const NodeId& node, absl::Time now) {
    Envoy& envoy = envoys_[node];
    ++envoy.reports_in_second;
    envoy.heard = now;
    return ++envoy.reports;
  }

  void BeginSecond(absl::Time now) {
    for (auto& [node, envoy] : envoys_) envoy.reports_in_second = 0;
    // Forgets Envoys that are not connected and do not report any more.
    std::erase_if(envoys_, [&](const auto& each) {
      return !each.second.connected && now - each.second.heard > kSilence;
    });
  }

  const Envoy* Find(const NodeId& node) const {
    const auto found = envoys_.find(node);
    return found == envoys_.end() ? nullptr : &found->second;
  }
  const std::map<NodeId, Envoy>& all() const { return envoys_; }

 private:
  std::map<NodeId, Envoy> envoys_;
};

}  // namespace flyball::front
