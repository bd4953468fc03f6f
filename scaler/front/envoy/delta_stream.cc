#include "scaler/front/envoy/delta_stream.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scaler/front/envoy/names.h"
#include "scaler/front/envoy/resource_message.h"

namespace flyball::front {
namespace {

// Whether Envoy asks for all resources of this kind at once. It asks for the others by name.
bool AskedForAsAWhole(ResourceKind kind) {
  return kind == ResourceKind::kCluster || kind == ResourceKind::kListener;
}

// The places in the order, first to last.
enum Place {
  kListenersGone,
  kGatesOn,
  kClusters,
  kEndpoints,
  kGatesOff,
  kListeners,
  kClustersGone,
  kPlaces
};
constexpr ResourceKind kKindAt[kPlaces] = {ResourceKind::kListener, ResourceKind::kRoute,
                                           ResourceKind::kCluster,  ResourceKind::kEndpoints,
                                           ResourceKind::kRoute,    ResourceKind::kListener,
                                           ResourceKind::kCluster};

// `found` null: the resource is gone.
Place PlaceOf(ResourceKind kind, const VersionedResource* found) {
  switch (kind) {
    case ResourceKind::kCluster: return found ? kClusters : kClustersGone;
    case ResourceKind::kEndpoints: return kEndpoints;
    case ResourceKind::kListener: return found ? kListeners : kListenersGone;
    case ResourceKind::kRoute:
    case ResourceKind::kHostRoute: break;
  }
  return found && !std::get<RouteResource>(found->resource).gated ? kGatesOff : kGatesOn;
}

}  // namespace

DeltaStream::Verdict DeltaStream::OnRequest(const envoy::DeltaDiscoveryRequest& request) {
  if (node_.empty()) {
    node_ = request.node().id();
    returning_ = !request.initial_resource_versions().empty();
  }
  Verdict verdict;
  const std::optional<ResourceKind> kind = KindOfTypeUrl(request.type_url());
  if (!kind) return verdict;
  verdict.kind = *kind;
  Subscription& subscription = Of(*kind);
  if (!request.response_nonce().empty() && !OnHostsAnswer(request, verdict)) {
    OnAnswer(subscription, request, verdict);
    if (*kind == ResourceKind::kRoute) TellHosts(verdict);
  }
  if (!subscription.begun) {
    Begin(*kind, request, verdict);
  } else {
    Subscribe(*kind, request);
  }
  for (const std::string& name : request.resource_names_unsubscribe()) {
    if (name == "*") subscription.all = false;
    if (*kind == ResourceKind::kRoute && name == kHostsListener) hosts_.End();
    subscription.names.erase(name);
    if (subscription.Wants(name)) continue;
    subscription.versions.erase(name);
    subscription.due.erase(name);
  }
  return verdict;
}

void DeltaStream::Begin(ResourceKind kind, const envoy::DeltaDiscoveryRequest& request,
                        Verdict& verdict) {
  Subscription& subscription = Of(kind);
  subscription.begun = true;
  subscription.waits = AskedForAsAWhole(kind) && request.initial_resource_versions().empty();
  if (AskedForAsAWhole(kind) && request.resource_names_subscribe().empty()) SubscribeToAll(kind);
  Subscribe(kind, request);
  for (const auto& [name, had] : request.initial_resource_versions()) {
    if (!subscription.Wants(name)) continue;
    uint64_t version = 0;  // 0 is the version of no resource of ours
    if (!absl::SimpleAtoi(had, &version)) version = 0;
    subscription.versions[name] = version;
    const VersionedResource* ours = table_.Find(kind, name);
    if (ours != nullptr && ours->version == version) {
      subscription.due.erase(name);
      verdict.accepted.emplace_back(name, version);
    } else if (ours == nullptr && AskedForAsAWhole(kind) && !table_.IsKept(name)) {
      subscription.due.insert(name);
    }
  }
}

void DeltaStream::Subscribe(ResourceKind kind, const envoy::DeltaDiscoveryRequest& request) {
  Subscription& subscription = Of(kind);
  for (const std::string& name : request.resource_names_subscribe()) {
    if (name == "*") {
      SubscribeToAll(kind);
      continue;
    }
    if (kind == ResourceKind::kRoute && name == kHostsListener) {
      hosts_.Begin();
      continue;
    }
    subscription.names.insert(name);
    // An Envoy that subscribes again wants the resource again.
    subscription.versions.erase(name);
    if (table_.Find(kind, name) != nullptr) subscription.due.insert(name);
  }
}

void DeltaStream::SubscribeToAll(ResourceKind kind) {
  Subscription& subscription = Of(kind);
  subscription.all = true;
  for (const auto& [service, resource] : table_.Of(kind)) {
    if (!subscription.versions.contains(service)) subscription.due.insert(service);
  }
}

void DeltaStream::OnAnswer(Subscription& subscription, const envoy::DeltaDiscoveryRequest& request,
                           Verdict& verdict) {
  auto answered = subscription.unanswered.extract(request.response_nonce());
  if (answered.empty()) return;
  std::vector<std::pair<std::string, uint64_t>>& resources = answered.mapped().resources;
  if (!request.has_error_detail()) {
    verdict.accepted = std::move(resources);
    return;
  }
  if (resources.size() > 1) {
    // Only the error text says which of them it refuses, so each is sent again, alone.
    for (const auto& [service, version] : resources) {
      if (!subscription.Wants(service)) continue;
      subscription.alone.insert(service);
      subscription.due.insert(service);
    }
    return;
  }
  for (auto& [service, version] : resources) verdict.refused.push_back(std::move(service));
  verdict.why_refused = request.error_detail().message();
}

void DeltaStream::TellHosts(const Verdict& own_routes) {
  for (const std::string& service : own_routes.refused) hosts_.LeaveOut(service);
  for (const auto& [service, version] : own_routes.accepted) hosts_.Readmit(service);
}

void DeltaStream::OnChange(ResourceKind kind, const std::string& service) {
  if (kind == ResourceKind::kHostRoute) return hosts_.OnChange(service);
  Subscription& subscription = Of(kind);
  const bool gone = table_.Find(kind, service) == nullptr;
  if (gone && kind == ResourceKind::kRoute) hosts_.Readmit(service);
  if (!subscription.begun || !subscription.Wants(service)) return;
  if (!gone) {
    subscription.due.insert(service);
    return;
  }
  subscription.due.erase(service);
  // Envoy drops routes and endpoints with the listener or cluster that uses them.
  if (AskedForAsAWhole(kind) && subscription.versions.contains(service)) {
    subscription.due.insert(service);
  } else {
    subscription.versions.erase(service);
  }
}

std::vector<std::string> DeltaStream::DueAt(int place, ResourceKind kind) {
  Subscription& subscription = Of(kind);
  std::vector<std::string> due;
  if (subscription.unanswered.size() >= kMaxUnanswered) return due;
  for (const std::string& service : subscription.due) {
    if (PlaceOf(kind, table_.Find(kind, service)) != place) continue;
    if (subscription.alone.contains(service)) {
      if (due.empty()) return {service};
      continue;
    }
    due.push_back(service);
    if (due.size() == kMaxResources) break;
  }
  return due;
}

bool DeltaStream::OnHostsAnswer(const envoy::DeltaDiscoveryRequest& request, Verdict& verdict) {
  auto answered = unanswered_hosts_.extract(request.response_nonce());
  if (answered.empty()) return false;
  hosts_.Answered();
  verdict.kind = ResourceKind::kHostRoute;
  const std::vector<std::pair<std::string, uint64_t>>& resources = answered.mapped().resources;
  // Mostly only one route of a long table has changed; only what differs is reported.
  for (const auto& [service, version] : resources) {
    const auto had = accepted_hosts_.find(service);
    if (had == accepted_hosts_.end() || had->second != version) {
      verdict.accepted.emplace_back(service, version);
    }
  }
  if (!request.has_error_detail()) {
    accepted_hosts_ = {resources.begin(), resources.end()};
    return true;
  }
  for (auto& [service, version] : std::exchange(verdict.accepted, {})) {
    verdict.refused.push_back(std::move(service));
  }
  verdict.why_refused = request.error_detail().message();
  return true;
}

bool DeltaStream::Lacks(const std::string& service) {
  const Subscription& endpoints = Of(ResourceKind::kEndpoints);
  return Of(ResourceKind::kCluster).due.contains(service) || endpoints.due.contains(service) ||
         !endpoints.versions.contains(service);
}

bool DeltaStream::HostsAreDueAt(int place) {
  if (place == kGatesOn) return hosts_.MustBeSent();
  return place == kGatesOff &&
         hosts_.MayBeSent([this](const std::string& service) { return Lacks(service); });
}

envoy::DeltaDiscoveryResponse DeltaStream::HostsTable() {
  envoy::DeltaDiscoveryResponse message;
  message.set_type_url(std::string(TypeUrlOf(ResourceKind::kHostRoute)));
  message.set_nonce(absl::StrCat(++last_nonce_));
  envoy::Resource& resource = *message.add_resources();
  resource.set_name(kHostsListener);
  resource.set_version(absl::StrCat(++last_hosts_version_));
  const envoy::RouteConfiguration table =
      hosts_.Take([this](const std::string& service) { return Lacks(service); }, node_,
                  unanswered_hosts_[message.nonce()].resources);
  resource.mutable_resource()->set_type_url(message.type_url());
  resource.mutable_resource()->set_value(table.SerializeAsString());
  return message;
}

std::optional<envoy::DeltaDiscoveryResponse> DeltaStream::Next() {
  for (int place = 0; place < kPlaces; ++place) {
    const ResourceKind kind = kKindAt[place];
    if (HostsAreDueAt(place)) {
      if (!hosts_.IsFull()) return HostsTable();
      if (place == kGatesOn) return std::nullopt;
    }
    const bool has_none = Of(kind).due.empty();
    const bool says_so = Of(kind).waits && (place == kClusters || place == kListeners);
    if (has_none && !says_so) continue;
    const std::vector<std::string> due = DueAt(place, kind);
    if (has_none || !due.empty()) return Message(kind, due);
    if (place == kGatesOn && GatesWait()) return std::nullopt;
  }
  return std::nullopt;
}

bool DeltaStream::GatesWait() {
  const std::set<std::string>& due = Of(ResourceKind::kRoute).due;
  return std::any_of(due.begin(), due.end(), [&](const std::string& service) {
    const VersionedResource* const found = table_.Find(ResourceKind::kRoute, service);
    return PlaceOf(ResourceKind::kRoute, found) == kGatesOn;
  });
}

envoy::DeltaDiscoveryResponse DeltaStream::Message(ResourceKind kind,
                                                   const std::vector<std::string>& due) {
  Subscription& subscription = Of(kind);
  Subscription& endpoints = Of(ResourceKind::kEndpoints);
  envoy::DeltaDiscoveryResponse message;
  message.set_type_url(std::string(TypeUrlOf(kind)));
  message.set_nonce(absl::StrCat(++last_nonce_));
  SentMessage& sent = subscription.unanswered[message.nonce()];
  subscription.waits = false;
  for (const std::string& service : due) {
    subscription.due.erase(service);
    subscription.alone.erase(service);
    const VersionedResource* found = table_.Find(kind, service);
    if (found == nullptr) {
      message.add_removed_resources(service);
      subscription.versions.erase(service);
      continue;
    }
    envoy::Resource& resource = *message.add_resources();
    resource.set_name(service);
    resource.set_version(absl::StrCat(found->version));
    *resource.mutable_resource() = ResourceMessage(found->resource, node_, ipv6_);
    subscription.versions[service] = found->version;
    sent.resources.emplace_back(service, found->version);
    // A changed cluster is used only after its endpoints have come again, which Envoy does not ask
    // for.
    if (kind == ResourceKind::kCluster && endpoints.Wants(service) &&
        table_.Find(ResourceKind::kEndpoints, service) != nullptr) {
      endpoints.due.insert(service);
    }
  }
  return message;
}

}  // namespace flyball::front
