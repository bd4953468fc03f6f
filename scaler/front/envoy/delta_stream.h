// One Envoy's stream of resources (incremental xDS, all kinds on one stream): what it subscribed
// to, which versions it has, and what has to be sent to it next.
//
// Pure. Not thread-safe: its owner locks, together with the table.
//
// Order: what an Envoy lacks is sent in an order in which no request is lost, whatever the order of
// the changes: gates that close before pods that leave, and pods before gates that open.
//   1. listeners that are gone     2. routes with the gate on   3. clusters   4. endpoints
//   5. routes with the gate off    6. listeners                 7. clusters that are gone
// Routes of hosts are one resource beside the services' own, sent at 2 and at 5 (hosts_stream.h).
// If a gate that closes has to wait for answers, everything after it waits too. A resource that
// changes while it waits is sent once, in its state at that time. So a slow Envoy costs only the
// names of what it lacks and the messages that it has not answered (at most kMaxUnanswered of each
// kind; then it is sent nothing more of that kind).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "envoy.pb.h"
#include "scaler/front/envoy/hosts_stream.h"
#include "scaler/front/envoy/resource_table.h"

namespace flyball::front {

class DeltaStream {
 public:
  static constexpr int kMaxUnanswered = 64;
  static constexpr int kMaxResources = 256;  // in one message

  // What a message of the Envoy says about resources that it was sent or already had.
  struct Verdict {
    ResourceKind kind = ResourceKind::kCluster;
    std::vector<std::pair<std::string, uint64_t>> accepted;  // service, version
    std::vector<std::string> refused;                        // services
    std::string why_refused;                                 // the Envoy's error text
  };

  // `ipv6`: the Envoy's machine has IPv6.
  explicit DeltaStream(const ResourceTable& table, bool ipv6 = false)
      : table_(table), ipv6_(ipv6), hosts_(table) {}

  // Handles a message. The stream's first one has to name the node. Messages of kinds that we do
  // not serve are ignored.
  Verdict OnRequest(const envoy::DeltaDiscoveryRequest& request);

  // To be called when the table has a new version of the resource or no longer has it.
  void OnChange(ResourceKind kind, const std::string& service);

  // The next message for the Envoy; nullopt if it lacks nothing, or owes too many answers.
  std::optional<envoy::DeltaDiscoveryResponse> Next();

  const std::string& node() const { return node_; }
  // Whether the Envoy had resources when the stream began.
  bool returning() const { return returning_; }

 private:
  struct SentMessage {
    std::vector<std::pair<std::string, uint64_t>> resources;  // service, version
  };
  struct Subscription {
    bool begun = false;
    bool all = false;
    bool waits = false;  // for its first message, without which an Envoy is never ready
    absl::flat_hash_set<std::string> names;
    absl::flat_hash_map<std::string, uint64_t> versions;  // sent, or already there
    std::set<std::string> due;                            // to be sent, or to be removed there
    std::set<std::string> alone;  // to be sent alone, since a message with others was refused
    std::map<std::string, SentMessage> unanswered;  // by nonce

    bool Wants(const std::string& service) const { return all || names.contains(service); }
  };

  Subscription& Of(ResourceKind kind) { return of_kind_[static_cast<int>(kind)]; }
  void Begin(ResourceKind kind, const envoy::DeltaDiscoveryRequest& request, Verdict& verdict);
  void Subscribe(ResourceKind kind, const envoy::DeltaDiscoveryRequest& request);
  void SubscribeToAll(ResourceKind kind);
  void OnAnswer(Subscription& subscription, const envoy::DeltaDiscoveryRequest& request,
                Verdict& verdict);
  void TellHosts(const Verdict& own_routes);
  // Whether the Envoy has not been sent the newest cluster or endpoints of the service.
  bool Lacks(const std::string& service);
  bool HostsAreDueAt(int place);
  envoy::DeltaDiscoveryResponse HostsTable();
  bool OnHostsAnswer(const envoy::DeltaDiscoveryRequest& request, Verdict& verdict);
  // Whether gates that close were not sent yet because the Envoy owes too many answers.
  bool GatesWait();
  // The resources of `kind` that are due at this place in the order.
  std::vector<std::string> DueAt(int place, ResourceKind kind);
  envoy::DeltaDiscoveryResponse Message(ResourceKind kind, const std::vector<std::string>& due);

  const ResourceTable& table_;
  const bool ipv6_;
  std::string node_;
  bool returning_ = false;
  uint64_t last_nonce_ = 0;
  std::array<Subscription, kResourceKinds> of_kind_;
  HostsStream hosts_;
  uint64_t last_hosts_version_ = 0;
  std::map<std::string, SentMessage> unanswered_hosts_;  // by nonce
  std::map<std::string, uint64_t> accepted_hosts_;       // versions in the last accepted table
};

}  // namespace flyball::front
