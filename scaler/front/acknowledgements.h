// Records which Envoy has which versions of one service's resources.
//
// Pure. Not thread-safe. Versions grow; 0 is none.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/front/data_path.h"

namespace flyball::front {

class Acknowledgements {
 public:
  // The Envoy's stream begins: it counts as having nothing until it reports what it has.
  void Connect(const NodeId& node, absl::Time now);
  void Disconnect(const NodeId& node) { envoys_.erase(node); }

  // This version is on its way to all Envoys.
  void Sent(ResourceKind kind, uint64_t version, absl::Time now);
  void Acked(const NodeId& node, ResourceKind kind, uint64_t version);
  void Nacked(const NodeId& node, ResourceKind kind, absl::string_view text);

  // The version that a connected Envoy has; 0: none, or it is not connected.
  uint64_t VersionAt(const NodeId& node, ResourceKind kind) const;
  // Whether every connected Envoy has at least this version; true if none is connected.
  bool AllHave(ResourceKind kind, uint64_t version) const;
  // Whether every connected Envoy has the newest version.
  bool AllHaveNewest(ResourceKind kind) const { return AllHave(kind, newest_[Index(kind)]); }

  size_t connected() const { return envoys_.size(); }
  // How many resources are not acknowledged in their newest version.
  int pending() const;

  // The longest wait for an acknowledgement; a resource that the Envoy refused takes precedence.
  struct Wait {
    NodeId node;
    ResourceKind kind = ResourceKind::kCluster;
    absl::Time since;
    std::string refusal;  // the Envoy's error text, if it refused
  };
  std::optional<Wait> LongestWait() const;

 private:
  struct EnvoyVersions {
    std::array<uint64_t, kResourceKinds> acked = {};
    std::array<absl::Time, kResourceKinds> waited_since;  // where acked is not the newest
    std::array<std::string, kResourceKinds> refusals;
  };
  static size_t Index(ResourceKind kind) { return static_cast<size_t>(kind); }

  std::array<uint64_t, kResourceKinds> newest_ = {};
  std::map<NodeId, EnvoyVersions> envoys_;
};

}  // namespace flyball::front
