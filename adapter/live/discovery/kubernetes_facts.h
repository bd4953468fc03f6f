// The parts of API objects that discovery needs, and the targets that it makes of them.
//
// Pure. Source: Prometheus 3.15.0 discovery/kubernetes (pod.go, node.go, endpoints.go).
// Differs: endpoints of one object beyond kMaxEndpoints are left out. Each of its addresses has
// each of its ports, so that an object of 350 KB would have half a million of them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/scrape/config.h"
#include "promql/labels.h"

namespace flyball::discovery {

inline constexpr size_t kMaxEndpoints = 20'000;

struct ObjectName {
  std::string ns, name;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

struct ContainerPort {
  std::string number, name, protocol;
  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

struct PodContainer {
  std::string name, id, image;
  bool init = false;
  std::vector<ContainerPort> ports;
  friend bool operator==(const PodContainer&, const PodContainer&) = default;
};

struct PodFacts {
  ObjectName object;
  std::string ip, node;
  promql::LabelSet labels;  // __meta_kubernetes_pod_…
  std::vector<PodContainer> containers;
  size_t left_out = 0;  // targets of containers that are not kept
  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};

struct NodeFacts {
  ObjectName object;
  std::string address;      // host:port of the kubelet; "": it has none
  promql::LabelSet labels;  // __meta_kubernetes_node_…
  promql::LabelSet addresses;
  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

struct ServiceFacts {
  ObjectName object;
  promql::LabelSet labels;  // __meta_kubernetes_service_…
  friend bool operator==(const ServiceFacts&, const ServiceFacts&) = default;
};

struct EndpointFacts {
  std::string ip, ready;
  ContainerPort port;
  std::string node, hostname, target_kind;
  ObjectName target;
  friend bool operator==(const EndpointFacts&, const EndpointFacts&) = default;
};

struct EndpointsFacts {
  ObjectName object;
  promql::LabelSet labels;
  std::vector<EndpointFacts> endpoints;  // one for each address and port, up to kMaxEndpoints
  size_t left_out = 0;                   // further ones
  friend bool operator==(const EndpointsFacts&, const EndpointsFacts&) = default;
};

// kInvalidArgument: it is no object with a name.
absl::StatusOr<PodFacts> ReadPod(absl::string_view json);
absl::StatusOr<NodeFacts> ReadNode(absl::string_view json);
absl::StatusOr<ServiceFacts> ReadService(absl::string_view json);
absl::StatusOr<EndpointsFacts> ReadEndpoints(absl::string_view json);
absl::StatusOr<ObjectName> ReadObjectName(absl::string_view json);

// Leaves only what the targets of a pod need that asks to be scraped, since its owner decides how
// much the rest takes: the labels that the job's rules read, and the containers and ports of the
// first kMaxTargetsOfPod targets.
void KeepForTargets(const scrape::Job& job, PodFacts& pod);

// Look-ups of other objects; nullptr: there is none of that name.
struct KnownObjects {
  std::function<const PodFacts*(const ObjectName&)> pod;
  std::function<const NodeFacts*(const std::string&)> node;  // not set: nodes are not attached
  std::function<const ServiceFacts*(const ObjectName&)> service;
};

// The targets of a pod; the source is "pod/ns/name". Empty if there is nothing to scrape.
scrape::TargetGroup TargetsOf(const PodFacts& pod, const KnownObjects& known);
scrape::TargetGroup TargetsOf(const NodeFacts& node);
scrape::TargetGroup TargetsOf(const EndpointsFacts& endpoints, const KnownObjects& known);

std::string SourceOf(scrape::KubernetesDiscovery::Role role, const ObjectName& object);

}  // namespace flyball::discovery
