// Checks that certainly no request of a service is in flight at any Envoy.
//
// Pure. Not thread-safe. The check begins once all Envoys have the gate, so that no request can
// pass unseen. Each of them must then report twice that it has none, since the first report may
// have been made before. An Envoy that does not report is not idle, nor is an expected one that is
// not connected.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "scaler/front/envoys.h"
#include "scaler/front/load_meter.h"

namespace flyball::front {

class IdleCheck {
 public:
  // To be called when the gate changed or another Envoy connected.
  void Reset() { begun_at_.reset(); }

  // To be called when all connected Envoys have the gate.
  void Begin(const Envoys& envoys) {
    if (begun_at_.has_value()) return;
    begun_at_.emplace();
    for (const auto& [node, envoy] : envoys.all()) begun_at_->emplace(node, envoy.reports);
  }

  bool IsIdle(const Envoys& envoys, const LoadMeter& load) const {
    if (!begun_at_.has_value() || !envoys.missing().empty()) return false;
    bool any = false;
    for (const auto& [node, envoy] : envoys.all()) {
      if (!envoy.connected) continue;
      any = true;
      const auto begun = begun_at_->find(node);
      if (begun == begun_at_->end()) return false;
      if (envoy.reports < std::max(begun->second, load.LastBusyReport(node)) + kIdleReports) {
        return false;
      }
    }
    return any;
  }

 private:
  static constexpr uint64_t kIdleReports = 2;
  std::optional<std::map<NodeId, uint64_t>> begun_at_;  // how many reports had arrived by then
};

}  // namespace flyball::front
