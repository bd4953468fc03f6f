#include "serve/front/front_slices.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/app_protocol.h"
#include "kube/objects/builtin_resources.h"
#include "kube/objects/json_members.h"
#include "kube/objects/object_json.h"
#include "serve/front/list_objects.h"

namespace flyball::serve {
namespace {

using kube::MemberOf;
using kube::TextOf;
using nlohmann::json;

constexpr char kGroup[] = "discovery.k8s.io";
constexpr char kOfService[] = "kubernetes.io/service-name";
constexpr char kManagedBy[] = "endpointslice.kubernetes.io/managed-by";
constexpr size_t kMostEndpoints = 1000;  // of one slice, as the API has it
constexpr size_t kMostSlices = 16;       // of one Service, which has one or two of ours

absl::StatusOr<json> Parse(const std::string& text) {
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return absl::InternalError("the API server answered no object");
  return object;
}

std::string SlicesPath(const std::string& ns) {
  return kube::ObjectPath(kGroup, "v1", ns, "endpointslices", "");
}

std::string NameOf(absl::string_view service, absl::string_view family) {
  return absl::StrCat(service, "-flyball-", family == "IPv6" ? "6" : "4");
}

// Whether Flyball has written it. The label alone does not prove that: during a migration people
// put it on slices that lead to pods.
bool IsOurs(const json& slice) {
  const json& metadata = MemberOf(slice, "metadata");
  const json& labels = MemberOf(metadata, "labels");
  const std::string name = TextOf(metadata, "name"), service = TextOf(labels, kOfService);
  return TextOf(labels, kManagedBy) == kSlicesManagedBy &&
         (name == NameOf(service, "IPv4") || name == NameOf(service, "IPv6"));
}

json FirstPort(const json& object) {
  const json& ports = MemberOf(object, "ports");
  return ports.is_array() && !ports.empty() ? ports[0] : json();
}

FrontSlices::Written ReadSlice(const json& slice) {
  FrontSlices::Written out;
  const json& metadata = MemberOf(slice, "metadata");
  const json first = FirstPort(slice);
  const json& port = MemberOf(first, "port");
  out.target.ns = TextOf(metadata, "namespace");
  out.target.service = TextOf(MemberOf(metadata, "labels"), kOfService);
  if (port.is_number_unsigned() && port <= 65535) out.target.port = port.get<uint16_t>();
  out.h2c = kube::MeansHttp2(TextOf(first, "appProtocol"));
  out.leads = !MemberOf(slice, "endpoints").empty();
  return out;
}

// Visits all slices with Flyball's label.
absl::Status ForEachSlice(http::HttpTransport& server, const std::string& ns,
                          absl::FunctionRef<void(const json&)> use) {
  kube::ObjectWatchOptions options;
  options.resource = kube::ResourceNamed(kGroup, "v1", "endpointslices", "EndpointSlice");
  options.ns = ns;
  options.label_selector = absl::StrCat(kManagedBy, "=", kSlicesManagedBy);
  return ForEachObject(server, options, [&use](absl::string_view slice) {
    use(json::parse(slice, nullptr, /*allow_exceptions=*/false));
  });
}

json Endpoints(absl::string_view family, const std::vector<FrontSlices::Envoy>& envoys) {
  json endpoints = json::array();
  for (const FrontSlices::Envoy& envoy : envoys) {
    if (absl::StrContains(envoy.ip, ':') != (family == "IPv6")) continue;
    if (endpoints.size() == kMostEndpoints) break;
    json& out = endpoints.emplace_back();
    out = {{"addresses", {envoy.ip}},
           {"conditions", {{"ready", true}, {"serving", true}, {"terminating", false}}}};
    if (!envoy.node.empty()) out["nodeName"] = envoy.node;
  }
  return endpoints;
}

}  // namespace

absl::StatusOr<FrontSlices::ServiceFacts> FrontSlices::Look(const Target& target) {
  ASSIGN_OR_RETURN(const std::string text,
                   client_.Get(kube::ObjectPath("", "v1", target.ns, "services", target.service)));
  ASSIGN_OR_RETURN(const json object, Parse(text));
  const json& spec = MemberOf(object, "spec");
  ServiceFacts facts{.uid = TextOf(MemberOf(object, "metadata"), "uid"),
                     .ports = {},
                     .has_selector = !MemberOf(spec, "selector").empty(),
                     .h2c = {}};
  for (const json& port : MemberOf(spec, "ports")) {
    facts.ports.push_back({TextOf(port, "name"), TextOf(port, "appProtocol")});
  }
  if (facts.ports.empty()) facts.ports.emplace_back();
  if (TextOf(spec, "type") != "ExternalName")
    facts.h2c = kube::MeansHttp2(facts.ports[0].app_protocol);
  return facts;
}

// Those of the slices that have the names of ours; those that somebody else writes have no
// endpoints. Whoever may create slices can make any number of them, each as long as etcd allows, so
// only some are read, and only one at a time is parsed.
absl::StatusOr<json> FrontSlices::SlicesOf(const Target& target) {
  ASSIGN_OR_RETURN(std::string text,
                   client_.Get(absl::StrCat(SlicesPath(target.ns),
                                            "?labelSelector=kubernetes.io%2Fservice-name%3D",
                                            target.service, "&limit=", kMostSlices)));
  json ours = json::array();
  absl::Status status;
  kube::ObjectReader reader;
  ASSIGN_OR_RETURN(const kube::PageEnd end, reader.ReadPage(text, [&](absl::string_view object) {
    json slice = json::parse(object, nullptr, /*allow_exceptions=*/false);
    const json& metadata = MemberOf(slice, "metadata");
    const std::string name = TextOf(metadata, "name");
    const std::string writer = TextOf(MemberOf(metadata, "labels"), kManagedBy);
    if (writer != kSlicesManagedBy && !MemberOf(slice, "endpoints").empty()) {
      status.Update(absl::FailedPreconditionError(
          absl::StrCat("EndpointSlice ", name, " of Service ", target.service, " is written by ",
                       writer.empty() ? "somebody else" : writer)));
    } else if (name == NameOf(target.service, "IPv4") || name == NameOf(target.service, "IPv6")) {
      ours.push_back(std::move(slice));
    }
  }));
  RETURN_IF_ERROR(status);
  if (end.continue_token.empty()) return ours;
  return absl::FailedPreconditionError(
      absl::StrCat("Service ", target.service, " has more than ", kMostSlices, " EndpointSlices"));
}

absl::Status FrontSlices::Write(const Target& target, const ServiceFacts& facts,
                                const std::vector<Envoy>& envoys) {
  if (facts.has_selector) {
    return absl::FailedPreconditionError(
        absl::StrCat("Service ", target.service,
                     " has a selector: requests go past Flyball to the pods; take it away"));
  }
  ASSIGN_OR_RETURN(const json slices, SlicesOf(target));
  RETURN_IF_ERROR(WriteOne(target, facts, "IPv4", envoys, slices));
  return WriteOne(target, facts, "IPv6", envoys, slices);
}

absl::Status FrontSlices::WriteOne(const Target& target, const ServiceFacts& facts,
                                   absl::string_view family, const std::vector<Envoy>& envoys,
                                   const json& slices) {
  const std::string name = NameOf(target.service, family);
  json ports = json::array();
  for (const Port& port : facts.ports) {
    json& out = ports.emplace_back();
    out = {{"name", port.name}, {"port", target.port}, {"protocol", "TCP"}};
    if (!port.app_protocol.empty()) out["appProtocol"] = port.app_protocol;
  }
  json wanted = {{"apiVersion", absl::StrCat(kGroup, "/v1")},
                 {"kind", "EndpointSlice"},
                 {"metadata",
                  {{"namespace", target.ns},
                   {"name", name},
                   {"labels", {{kOfService, target.service}, {kManagedBy, kSlicesManagedBy}}},
                   {"ownerReferences",
                    {{{"apiVersion", "v1"},
                      {"kind", "Service"},
                      {"name", target.service},
                      {"uid", facts.uid}}}}}},
                 {"addressType", std::string(family)},
                 {"endpoints", Endpoints(family, envoys)},
                 {"ports", ports}};
  const std::string path = kube::ObjectPath(kGroup, "v1", target.ns, "endpointslices", name);
  json stored;
  for (const json& slice : slices) {
    if (TextOf(MemberOf(slice, "metadata"), "name") == name) stored = slice;
  }
  if (stored.is_null()) {
    // An address family that no Envoy has needs no slice.
    if (wanted["endpoints"].empty() && family == "IPv6") return absl::OkStatus();
    const absl::Status created = client_.Create(SlicesPath(target.ns), wanted.dump()).status();
    if (!absl::IsAlreadyExists(created)) return created;
    // It was made after the list, or lacks the label by which the list has it.
    ASSIGN_OR_RETURN(const std::string text, client_.Get(path));
    ASSIGN_OR_RETURN(stored, Parse(text));
  }
  const json& metadata = MemberOf(stored, "metadata");
  const json& labels = MemberOf(metadata, "labels");
  if (TextOf(labels, kManagedBy) != kSlicesManagedBy) {
    return absl::FailedPreconditionError(
        absl::StrCat("EndpointSlice ", name, " is there and not Flyball's"));
  }
  if (TextOf(labels, kOfService) == target.service &&
      MemberOf(stored, "endpoints") == wanted["endpoints"] &&
      MemberOf(stored, "ports") == wanted["ports"]) {
    return absl::OkStatus();
  }
  wanted["metadata"]["resourceVersion"] = MemberOf(metadata, "resourceVersion");
  return client_.Update(path, wanted.dump()).status();
}

absl::StatusOr<std::vector<FrontSlices::Written>> FrontSlices::List(const std::string& ns) {
  std::vector<Written> all;
  RETURN_IF_ERROR(ForEachSlice(server_, ns, [&all](const json& slice) {
    if (IsOurs(slice)) all.push_back(ReadSlice(slice));
  }));
  return all;
}

absl::Status FrontSlices::Empty(const std::string& ns, const std::set<uint16_t>& ports) {
  const auto leads_there = [&ports](const json& slice) {
    if (!IsOurs(slice)) return false;
    const Written written = ReadSlice(slice);
    return written.leads && ports.contains(written.target.port);
  };
  std::vector<std::string> leading;  // not the slices themselves, which may be long
  RETURN_IF_ERROR(ForEachSlice(server_, ns, [&](const json& slice) {
    if (leads_there(slice)) leading.push_back(TextOf(MemberOf(slice, "metadata"), "name"));
  }));
  for (const std::string& name : leading) {
    const std::string path = kube::ObjectPath(kGroup, "v1", ns, "endpointslices", name);
    const absl::StatusOr<std::string> text = client_.Get(path);
    if (absl::IsNotFound(text.status())) continue;
    RETURN_IF_ERROR(text.status());
    ASSIGN_OR_RETURN(json slice, Parse(*text));
    if (!leads_there(slice)) continue;  // somebody has changed it since the list
    slice["endpoints"] = json::array();
    RETURN_IF_ERROR(client_.Update(path, slice.dump()).status());
  }
  return absl::OkStatus();
}

}  // namespace flyball::serve
