#include "serve/front/front_slices.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::serve {
namespace {

using nlohmann::json;

constexpr char kGroup[] = "discovery.k8s.io";
constexpr char kOfService[] = "kubernetes.io/service-name";
constexpr char kManagedBy[] = "endpointslice.kubernetes.io/managed-by";
constexpr size_t kMostEndpoints = 1000;  // of one slice, as the API has it

absl::StatusOr<json> Parse(const std::string& text) {
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return absl::InternalError("the API server answered no object");
  return object;
}

json Member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? json() : *found;
}

std::string Text(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }

json Endpoints(absl::string_view family, const std::vector<std::string>& envoys) {
  json endpoints = json::array();
  for (const std::string& ip : envoys) {
    if (absl::StrContains(ip, ':') != (family == "IPv6")) continue;
    if (endpoints.size() == kMostEndpoints) break;
    endpoints.push_back(
        {{"addresses", {ip}},
         {"conditions", {{"ready", true}, {"serving", true}, {"terminating", false}}}});
  }
  return endpoints;
}

}  // namespace

absl::StatusOr<FrontSlices::ServiceFacts> FrontSlices::Look(const Target& target) {
  ASSIGN_OR_RETURN(const std::string text,
                   client_.Get(kube::ObjectPath("", "v1", target.ns, "services", target.service)));
  ASSIGN_OR_RETURN(const json object, Parse(text));
  const json spec = Member(object, "spec");
  if (!Member(spec, "selector").empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("Service ", target.service,
                     " has a selector: requests go past Flyball to the pods; take it away"));
  }
  ServiceFacts facts{.uid = Text(Member(Member(object, "metadata"), "uid")), .ports = {}};
  for (const json& port : Member(spec, "ports")) {
    facts.ports.push_back(Text(Member(port, "name")));
    if (facts.ports.size() > 1) continue;
    const std::string protocol = Text(Member(port, "appProtocol"));
    facts.h2c = protocol == "kubernetes.io/h2c" || protocol == "grpc" || protocol == "h2c";
  }
  if (facts.ports.empty()) facts.ports.push_back("");
  RETURN_IF_ERROR(CheckWriters(target));
  return facts;
}

absl::Status FrontSlices::CheckWriters(const Target& target) {
  const std::string path =
      absl::StrCat("/apis/", kGroup, "/v1/namespaces/", target.ns,
                   "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D", target.service);
  ASSIGN_OR_RETURN(const std::string text, client_.Get(path));
  ASSIGN_OR_RETURN(const json list, Parse(text));
  for (const json& slice : Member(list, "items")) {
    const json metadata = Member(slice, "metadata");
    const std::string writer = Text(Member(Member(metadata, "labels"), kManagedBy));
    if (writer == kSlicesManagedBy || Member(slice, "endpoints").empty()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("EndpointSlice ", Text(Member(metadata, "name")), " of Service ",
                     target.service, " is written by ", writer.empty() ? "somebody else" : writer));
  }
  return absl::OkStatus();
}

absl::Status FrontSlices::Write(const Target& target, const std::vector<std::string>& envoys) {
  ASSIGN_OR_RETURN(const ServiceFacts facts, Look(target));
  RETURN_IF_ERROR(WriteOne(target, facts, "IPv4", envoys));
  return WriteOne(target, facts, "IPv6", envoys);
}

absl::Status FrontSlices::WriteOne(const Target& target, const ServiceFacts& facts,
                                   absl::string_view family,
                                   const std::vector<std::string>& envoys) {
  const std::string name = absl::StrCat(target.service, "-flyball-", family == "IPv6" ? "6" : "4");
  json ports = json::array();
  for (const std::string& port : facts.ports) {
    ports.push_back({{"name", port}, {"port", target.port}, {"protocol", "TCP"}});
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
  const absl::StatusOr<std::string> stored = client_.Get(path);
  if (absl::IsNotFound(stored.status())) {
    // An address family that no Envoy has needs no slice.
    if (wanted["endpoints"].empty() && family == "IPv6") return absl::OkStatus();
    const std::string collection = path.substr(0, path.rfind('/'));
    return client_.Create(collection, wanted.dump()).status();
  }
  RETURN_IF_ERROR(stored.status());
  ASSIGN_OR_RETURN(const json object, Parse(*stored));
  const json metadata = Member(object, "metadata");
  if (Text(Member(Member(metadata, "labels"), kManagedBy)) != kSlicesManagedBy) {
    return absl::FailedPreconditionError(
        absl::StrCat("EndpointSlice ", name, " is there and not Flyball's"));
  }
  if (Member(object, "endpoints") == wanted["endpoints"] &&
      Member(object, "ports") == wanted["ports"]) {
    return absl::OkStatus();
  }
  wanted["metadata"]["resourceVersion"] = Member(metadata, "resourceVersion");
  return client_.Update(path, wanted.dump()).status();
}

}  // namespace flyball::serve
