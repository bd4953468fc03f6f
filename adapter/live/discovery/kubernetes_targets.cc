// Facts -> targets.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/discovery/kubernetes_facts.h"
#include "adapter/live/scrape/targets.h"

namespace flyball::discovery {
namespace {

using promql::LabelSet;
using scrape::TargetGroup;
using Role = scrape::KubernetesDiscovery::Role;

// Gathers the labels of one target; what is set first stays.
class LabelMap {
 public:
  void Set(absl::string_view name, const std::string& value) {
    if (!value.empty()) labels_.emplace(name, value);
  }
  void SetMeta(absl::string_view name, const std::string& value) {
    Set(absl::StrCat("__meta_kubernetes_", name), value);
  }
  void SetAll(const LabelSet& labels) { labels_.insert(labels.begin(), labels.end()); }
  LabelSet Take() { return {labels_.begin(), labels_.end()}; }

 private:
  std::map<std::string, std::string> labels_;
};

std::string HostPort(const std::string& host, const std::string& port) {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

void SetContainer(const PodContainer& container, const ContainerPort* port, LabelMap& labels) {
  labels.SetMeta("pod_container_name", container.name);
  labels.SetMeta("pod_container_image", container.image);
  labels.SetMeta("pod_container_init", container.init ? "true" : "false");
  if (port == nullptr) return;
  labels.SetMeta("pod_container_port_name", port->name);
  labels.SetMeta("pod_container_port_number", port->number);
  labels.SetMeta("pod_container_port_protocol", port->protocol);
}

void SetNode(const KnownObjects& known, const std::string& name, LabelMap& labels) {
  if (!known.node || name.empty()) return;
  if (const NodeFacts* node = known.node(name)) labels.SetAll(node->labels);
}

// The container port that an endpoint's port is; the last one counts.
void SetContainerOfPort(const PodFacts& pod, const ContainerPort& port, LabelMap& labels) {
  for (auto container = pod.containers.rbegin(); container != pod.containers.rend(); ++container) {
    for (const ContainerPort& of_container : container->ports) {
      if (of_container.number != port.number) continue;
      const ContainerPort told = {port.number, of_container.name, port.protocol};
      return SetContainer(*container, &told, labels);
    }
  }
}

// Adds targets for ports of the pods behind endpoints that are not among the endpoints' ports.
void AddOtherPorts(const PodFacts& pod, const std::set<std::string>& seen, TargetGroup& group) {
  if (pod.ip.empty()) return;
  for (const PodContainer& container : pod.containers) {
    for (const ContainerPort& port : container.ports) {
      if (seen.contains(port.number)) continue;
      LabelMap labels;
      labels.Set("__address__", HostPort(pod.ip, port.number));
      SetContainer(container, &port, labels);
      labels.SetAll(pod.labels);
      group.targets.push_back(labels.Take());
    }
  }
}

}  // namespace

std::string SourceOf(Role role, const ObjectName& object) {
  if (role == Role::kNode) return absl::StrCat("node/", object.name);
  return absl::StrCat(role == Role::kPod ? "pod/" : "endpoints/", object.ns, "/", object.name);
}

void KeepForTargets(const scrape::Job& job, PodFacts& pod) {
  pod.labels = scrape::LabelsForRules(job, pod.labels);
  size_t room = scrape::kMaxTargetsOfPod;
  std::vector<PodContainer> kept;
  for (PodContainer& container : pod.containers) {
    // A container without ports is a target, too.
    const size_t targets = std::max<size_t>(container.ports.size(), 1);
    const size_t fitting = std::min(targets, room);
    pod.left_out += targets - fitting;
    room -= fitting;
    if (fitting == 0) continue;
    container.image.clear();  // no rule of such a job reads it
    container.image.shrink_to_fit();
    container.ports.resize(std::min(container.ports.size(), fitting));
    container.ports.shrink_to_fit();
    kept.push_back(std::move(container));
  }
  pod.containers = std::move(kept);
}

TargetGroup TargetsOf(const PodFacts& pod, const KnownObjects& known) {
  TargetGroup group;
  group.source = SourceOf(Role::kPod, pod.object);
  if (pod.ip.empty()) return group;
  // If the selectors leave a node out, its pods are left out as well.
  if (known.node && known.node(pod.node) == nullptr) return group;
  LabelMap common;
  common.SetAll(pod.labels);
  common.SetMeta("namespace", pod.object.ns);
  SetNode(known, pod.node, common);
  group.labels = common.Take();
  group.left_out = pod.left_out;
  for (const PodContainer& container : pod.containers) {
    const auto add = [&](const ContainerPort* port) {
      LabelMap labels;
      labels.Set("__address__", port == nullptr ? pod.ip : HostPort(pod.ip, port->number));
      SetContainer(container, port, labels);
      labels.SetMeta("pod_container_id", container.id);
      group.targets.push_back(labels.Take());
    };
    if (container.ports.empty()) add(nullptr);
    for (const ContainerPort& port : container.ports) add(&port);
  }
  return group;
}

TargetGroup TargetsOf(const NodeFacts& node) {
  TargetGroup group;
  group.source = SourceOf(Role::kNode, node.object);
  if (node.address.empty()) return group;
  group.labels = node.labels;
  LabelMap labels;
  labels.Set("__address__", node.address);
  labels.Set("instance", node.object.name);
  labels.SetAll(node.addresses);
  group.targets.push_back(labels.Take());
  return group;
}

TargetGroup TargetsOf(const EndpointsFacts& endpoints, const KnownObjects& known) {
  TargetGroup group;
  group.source = SourceOf(Role::kEndpoints, endpoints.object);
  LabelMap common;
  common.SetMeta("namespace", endpoints.object.ns);
  if (const ServiceFacts* service = known.service(endpoints.object)) common.SetAll(service->labels);
  common.SetAll(endpoints.labels);
  group.labels = common.Take();
  group.left_out = endpoints.left_out;
  std::map<const PodFacts*, std::set<std::string>> seen;  // ports of pods
  for (const EndpointFacts& endpoint : endpoints.endpoints) {
    LabelMap labels;
    labels.Set("__address__", HostPort(endpoint.ip, endpoint.port.number));
    labels.SetMeta("endpoint_port_name", endpoint.port.name);
    labels.SetMeta("endpoint_port_protocol", endpoint.port.protocol);
    labels.SetMeta("endpoint_ready", endpoint.ready);
    labels.SetMeta("endpoint_address_target_kind", endpoint.target_kind);
    labels.SetMeta("endpoint_address_target_name", endpoint.target.name);
    labels.SetMeta("endpoint_node_name", endpoint.node);
    labels.SetMeta("endpoint_hostname", endpoint.hostname);
    const bool is_node = endpoint.node.empty() && endpoint.target_kind == "Node";
    SetNode(known, is_node ? endpoint.target.name : endpoint.node, labels);
    const PodFacts* pod = endpoint.target_kind == "Pod" ? known.pod(endpoint.target) : nullptr;
    if (pod != nullptr) {
      seen[pod].insert(endpoint.port.number);
      labels.SetAll(pod->labels);
      SetContainerOfPort(*pod, endpoint.port, labels);
    }
    group.targets.push_back(labels.Take());
  }
  for (const auto& [pod, ports] : seen) AddOtherPorts(*pod, ports, group);
  return group;
}

}  // namespace flyball::discovery
