// The state of the route table of the listener for hosts at one Envoy.
//
// Pure. Not thread-safe: its owner locks, together with the table.
//
// The table is one resource, so a change of one route sends all of them (about 900 bytes each). One
// message can hold gates that close, which must arrive before pods leave, and gates that open,
// which must arrive after the pods. So a table is sent in two steps if needed: first with the gates
// on for all services whose pods this Envoy was not sent yet, then in its final form. A gate that
// is on too long costs time, one that is off too early costs requests.
//
// An Envoy that refuses one route of a table refuses the whole table. But it then also refuses the
// service's own route, which has the same settings: such a service is left out of the table until
// the Envoy accepts a route of it, so that no other service loses its hosts.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "envoy.pb.h"
#include "scaler/front/envoy/resource_table.h"

namespace flyball::front {

class HostsStream {
 public:
  // Whether the Envoy was not yet sent the newest cluster or endpoints of a service.
  using Lacks = absl::FunctionRef<bool(const std::string& service)>;

  explicit HostsStream(const ResourceTable& table) : table_(table) {}

  // The Envoy has the listener and asks for its routes: all of them become due.
  void Begin() { begun_ = all_due_ = true; }
  void End();
  void OnChange(const std::string& service);
  // Leaves the service out until Readmit: the Envoy refused the route of its own listener.
  void LeaveOut(const std::string& service);
  void Readmit(const std::string& service);

  // Whether gates that close or routes that are gone are due, which are sent before endpoints.
  bool MustBeSent() const;
  // Whether other changes are due, which are sent after endpoints.
  bool MayBeSent(Lacks lacks) const;
  // Whether nothing more is sent before the Envoy has answered.
  bool IsFull() const { return unanswered_ >= kMaxUnanswered; }

  // The table to send, and the services and versions that it contains.
  envoy::RouteConfiguration Take(Lacks lacks, absl::string_view node,
                                 std::vector<std::pair<std::string, uint64_t>>& versions);
  void Answered() { --unanswered_; }

 private:
  static constexpr int kMaxUnanswered = 4;  // tables may be long

  const ResourceTable& table_;
  bool begun_ = false;
  bool all_due_ = false;
  int unanswered_ = 0;
  std::set<std::string> due_;
  std::set<std::string> left_out_;     // services whose own route was refused
  std::set<std::string> still_gated_;  // services with the gate still on in the last table sent
};

}  // namespace flyball::front
