#include "kube/client/lease.h"

#include <algorithm>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

using nlohmann::json;

constexpr char kApiVersion[] = "coordination.k8s.io/v1";
constexpr char kMicroTime[] = "%Y-%m-%dT%H:%M:%E6SZ";  // metav1.MicroTime

std::string Path(absl::string_view ns, absl::string_view name) {
  return ObjectPath("coordination.k8s.io", "v1", ns, "leases", name);
}

absl::StatusOr<Lease> Parse(absl::string_view text) {
  const json object = json::parse(text.begin(), text.end(), nullptr, false);
  const json& metadata = MemberOf(object, "metadata");
  if (TextOf(object, "kind") != "Lease" || !metadata.is_object()) {
    return absl::InvalidArgumentError("the answer is no Lease");
  }
  const json spec = object.value("spec", json::object());
  if (!spec.is_object()) return absl::InvalidArgumentError("the answer is no Lease");
  Lease lease;
  lease.ns = TextOf(metadata, "namespace");
  lease.name = TextOf(metadata, "name");
  lease.resource_version = TextOf(metadata, "resourceVersion");
  json marks;
  for (const char* key : {"labels", "annotations"}) {
    if (const json& mark = MemberOf(metadata, key); mark.is_object()) marks[key] = mark;
  }
  if (!marks.is_null()) lease.marks = marks.dump(-1, ' ', false, json::error_handler_t::replace);
  lease.holder = TextOf(spec, "holderIdentity");
  lease.duration = absl::Seconds(NumberOf(spec, "leaseDurationSeconds"));
  lease.acquire_time = TimeOf(spec, "acquireTime", absl::Time());
  lease.renew_time = TimeOf(spec, "renewTime", absl::Time());
  lease.transitions = NumberOf(spec, "leaseTransitions");
  return lease;
}

void AddTime(json& spec, const char* key, absl::Time time) {
  if (time != absl::Time()) spec[key] = absl::FormatTime(kMicroTime, time, absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<Lease> GetLease(ApiClient& client, absl::string_view ns, absl::string_view name) {
  ASSIGN_OR_RETURN(const std::string stored, client.Get(Path(ns, name)));
  return Parse(stored);
}

absl::StatusOr<Lease> PutLease(ApiClient& client, const Lease& lease) {
  const bool fresh = lease.resource_version.empty();
  json metadata = lease.marks.empty() ? json() : json::parse(lease.marks, nullptr, false);
  metadata["name"] = lease.name;
  metadata["namespace"] = lease.ns;
  if (!fresh) metadata["resourceVersion"] = lease.resource_version;
  json spec = {
      {"holderIdentity", lease.holder},
      {"leaseDurationSeconds",
       std::max<int64_t>(absl::ToInt64Seconds(absl::Ceil(lease.duration, absl::Seconds(1))), 1)},
      {"leaseTransitions", lease.transitions}};
  AddTime(spec, "acquireTime", lease.acquire_time);
  AddTime(spec, "renewTime", lease.renew_time);
  const json object = {
      {"apiVersion", kApiVersion}, {"kind", "Lease"}, {"metadata", metadata}, {"spec", spec}};
  const std::string text = object.dump(-1, ' ', false, json::error_handler_t::replace);
  ASSIGN_OR_RETURN(const std::string stored, fresh
                                                 ? client.Create(Path(lease.ns, ""), text)
                                                 : client.Update(Path(lease.ns, lease.name), text));
  return Parse(stored);
}

}  // namespace flyball::kube
