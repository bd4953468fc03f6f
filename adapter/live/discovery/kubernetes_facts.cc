// API objects -> facts.
#include "adapter/live/discovery/kubernetes_facts.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"

namespace flyball::discovery {
namespace {

using Json = nlohmann::json;
using kube::IsTrue;
using kube::ItemsOf;
using kube::MemberOf;
using kube::NumberOf;
using kube::TextOf;
using promql::LabelSet;

constexpr char kMeta[] = "__meta_kubernetes_";

// No node can pull a longer one, and each port of the container has a copy.
constexpr size_t kMaxImageBytes = 2048;

// Label names hold letters, digits and underscores.
std::string Clean(absl::string_view name) {
  std::string clean(name);
  for (char& c : clean) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return clean;
}

void Add(absl::string_view name, std::string value, LabelSet& labels) {
  if (!value.empty()) labels.emplace_back(absl::StrCat(kMeta, name), std::move(value));
}

void AddAll(const std::string& prefix, const Json& map, LabelSet& labels) {
  if (!map.is_object()) return;
  for (const auto& [name, value] : map.items()) {
    if (!value.is_string()) continue;
    Add(absl::StrCat(prefix, "_", Clean(name)), value.get<std::string>(), labels);
    Add(absl::StrCat(prefix, "present_", Clean(name)), "true", labels);
  }
}

// Sorts the labels. If two names became equal, the last one counts.
void Finish(LabelSet& labels) {
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  LabelSet unique;
  for (auto& label : labels) {
    if (!unique.empty() && unique.back().first == label.first) unique.pop_back();
    unique.push_back(std::move(label));
  }
  labels = std::move(unique);
}

ObjectName NameOf(const Json& object) {
  const Json& meta = MemberOf(object, "metadata");
  return {TextOf(meta, "namespace"), TextOf(meta, "name")};
}

void AddMeta(const std::string& role, const Json& object, LabelSet& labels) {
  const Json& meta = MemberOf(object, "metadata");
  Add(role + "_name", TextOf(meta, "name"), labels);
  AddAll(role + "_label", MemberOf(meta, "labels"), labels);
  AddAll(role + "_annotation", MemberOf(meta, "annotations"), labels);
}

absl::StatusOr<Json> Parse(absl::string_view json) {
  Json object = Json::parse(json.begin(), json.end(), nullptr, false);
  if (object.is_object() && !NameOf(object).name.empty()) return object;
  return absl::InvalidArgumentError("it is no object with a name");
}

std::string ReadyOf(const Json& status) {
  for (const Json& condition : ItemsOf(status, "conditions")) {
    if (TextOf(condition, "type") == "Ready") {
      return absl::AsciiStrToLower(TextOf(condition, "status"));
    }
  }
  return "unknown";
}

std::string Protocol(const Json& port) {
  const std::string protocol = TextOf(port, "protocol");
  return protocol.empty() ? "TCP" : protocol;
}

void AddContainers(const Json& pod, bool init, PodFacts& facts) {
  std::map<std::string, std::string> ids;  // by the container's name
  for (const Json& status :
       ItemsOf(MemberOf(pod, "status"), init ? "initContainerStatuses" : "containerStatuses")) {
    ids.emplace(TextOf(status, "name"), TextOf(status, "containerID"));
  }
  for (const Json& spec : ItemsOf(MemberOf(pod, "spec"), init ? "initContainers" : "containers")) {
    PodContainer& container = facts.containers.emplace_back();
    container.name = TextOf(spec, "name");
    container.image = TextOf(spec, "image");
    if (container.image.size() > kMaxImageBytes) container.image.clear();
    if (const auto id = ids.find(container.name); id != ids.end()) container.id = id->second;
    container.init = init;
    for (const Json& port : ItemsOf(spec, "ports")) {
      container.ports.push_back(
          {absl::StrCat(NumberOf(port, "containerPort")), TextOf(port, "name"), Protocol(port)});
    }
  }
}

void AddController(const Json& pod, LabelSet& labels) {
  for (const Json& owner : ItemsOf(MemberOf(pod, "metadata"), "ownerReferences")) {
    if (!IsTrue(owner, "controller")) continue;
    Add("pod_controller_kind", TextOf(owner, "kind"), labels);
    Add("pod_controller_name", TextOf(owner, "name"), labels);
    return;
  }
}

void AddEndpoints(const Json& subset, const Json& port, const char* list, const char* ready,
                  const ObjectName& object, EndpointsFacts& facts) {
  for (const Json& address : ItemsOf(subset, list)) {
    if (facts.endpoints.size() >= kMaxEndpoints) {
      ++facts.left_out;
      continue;
    }
    const Json& target = MemberOf(address, "targetRef");
    std::string ns = TextOf(target, "namespace");
    if (ns.empty()) ns = object.ns;
    facts.endpoints.push_back(
        {TextOf(address, "ip"),
         ready,
         {absl::StrCat(NumberOf(port, "port")), TextOf(port, "name"), Protocol(port)},
         TextOf(address, "nodeName"),
         TextOf(address, "hostname"),
         TextOf(target, "kind"),
         {std::move(ns), TextOf(target, "name")}});
  }
}

std::string HostPort(const std::string& host, int64_t port) {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

// Adds one label for each type of address, and sets the one that counts first.
void AddAddresses(const Json& status, NodeFacts& facts) {
  static constexpr const char* kOrder[] = {"InternalIP",  "InternalDNS",  "ExternalIP",
                                           "ExternalDNS", "LegacyHostIP", "Hostname"};
  std::map<std::string, std::string> first;
  for (const Json& address : ItemsOf(status, "addresses")) {
    first.emplace(TextOf(address, "type"), TextOf(address, "address"));
  }
  for (const auto& [type, address] : first) {
    Add(absl::StrCat("node_address_", Clean(type)), address, facts.addresses);
  }
  const Json& kubelet = MemberOf(MemberOf(status, "daemonEndpoints"), "kubeletEndpoint");
  for (const char* type : kOrder) {
    const auto found = first.find(type);
    if (found == first.end()) continue;
    facts.address = HostPort(found->second, NumberOf(kubelet, "Port"));
    return;
  }
}

}  // namespace

absl::StatusOr<ObjectName> ReadObjectName(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json object, Parse(json));
  return NameOf(object);
}

absl::StatusOr<PodFacts> ReadPod(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json pod, Parse(json));
  const Json& status = MemberOf(pod, "status");
  PodFacts facts;
  facts.object = NameOf(pod);
  facts.ip = TextOf(status, "podIP");
  facts.node = TextOf(MemberOf(pod, "spec"), "nodeName");
  Add("pod_ip", facts.ip, facts.labels);
  Add("pod_ready", ReadyOf(status), facts.labels);
  Add("pod_phase", TextOf(status, "phase"), facts.labels);
  Add("pod_node_name", facts.node, facts.labels);
  Add("pod_host_ip", TextOf(status, "hostIP"), facts.labels);
  Add("pod_uid", TextOf(MemberOf(pod, "metadata"), "uid"), facts.labels);
  AddMeta("pod", pod, facts.labels);
  AddController(pod, facts.labels);
  Finish(facts.labels);
  AddContainers(pod, false, facts);
  AddContainers(pod, true, facts);
  return facts;
}

absl::StatusOr<NodeFacts> ReadNode(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json node, Parse(json));
  NodeFacts facts;
  facts.object = NameOf(node);
  Add("node_provider_id", TextOf(MemberOf(node, "spec"), "providerID"), facts.labels);
  for (const Json& condition : ItemsOf(MemberOf(node, "status"), "conditions")) {
    const std::string type = absl::AsciiStrToLower(TextOf(condition, "type"));
    Add(absl::StrCat("node_condition_", Clean(type)),
        absl::AsciiStrToLower(TextOf(condition, "status")), facts.labels);
  }
  AddMeta("node", node, facts.labels);
  Finish(facts.labels);
  AddAddresses(MemberOf(node, "status"), facts);
  return facts;
}

absl::StatusOr<ServiceFacts> ReadService(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json service, Parse(json));
  ServiceFacts facts;
  facts.object = NameOf(service);
  AddMeta("service", service, facts.labels);
  Finish(facts.labels);
  return facts;
}

absl::StatusOr<EndpointsFacts> ReadEndpoints(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json endpoints, Parse(json));
  EndpointsFacts facts;
  facts.object = NameOf(endpoints);
  AddMeta("endpoints", endpoints, facts.labels);
  Finish(facts.labels);
  for (const Json& subset : ItemsOf(endpoints, "subsets")) {
    for (const Json& port : ItemsOf(subset, "ports")) {
      AddEndpoints(subset, port, "addresses", "true", facts.object, facts);
      AddEndpoints(subset, port, "notReadyAddresses", "false", facts.object, facts);
    }
  }
  return facts;
}

}  // namespace flyball::discovery
