#include "adapter/live/discovery/kubernetes_discovery.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "spdlog/spdlog.h"

namespace flyball::discovery {

using Role = scrape::KubernetesDiscovery::Role;

namespace {

// The pods, and if they are attached the nodes, that targets of an object are also made from. Nodes
// have no namespace.
std::set<ObjectName> ReferencesOf(const PodFacts& pod, bool attach_node) {
  std::set<ObjectName> names;
  if (attach_node && !pod.node.empty()) names.insert({"", pod.node});
  return names;
}

std::set<ObjectName> ReferencesOf(const EndpointsFacts& endpoints, bool attach_node) {
  std::set<ObjectName> names;
  for (const EndpointFacts& endpoint : endpoints.endpoints) {
    if (endpoint.target_kind == "Pod") names.insert(endpoint.target);
    if (!attach_node) continue;
    if (endpoint.target_kind == "Node") names.insert({"", endpoint.target.name});
    if (!endpoint.node.empty()) names.insert({"", endpoint.node});
  }
  return names;
}

template <typename Facts>
std::set<ObjectName> ReferencesOf(const Facts&, bool) {
  return {};
}

}  // namespace

// The handler of one watch.
class KubernetesDiscovery::Follower : public kube::WatchHandler {
 public:
  Follower(KubernetesDiscovery& discovery, Kind kind, std::string ns)
      : discovery_(discovery), kind_(kind), ns_(std::move(ns)) {}

  void ListStarted() override { listed_.clear(); }
  void Listed(absl::string_view json) override {
    if (const auto name = discovery_.Put(kind_, json)) listed_.insert(*name);
  }
  void ListEnded() override {
    discovery_.Retain(kind_, ns_, listed_);
    listed_.clear();
    discovery_.Emit();
    if (!std::exchange(has_listed_, true)) discovery_.NoteListed();
  }
  void Changed(kube::ChangeType type, absl::string_view json) override {
    if (type != kube::ChangeType::kDeleted) {
      discovery_.Put(kind_, json);
    } else if (const auto name = ReadObjectName(json); name.ok()) {
      discovery_.Drop(kind_, *name);
    }
  }
  void Flushed() override { discovery_.Emit(); }
  void StatusChanged(const absl::Status& status) override {
    if (!status.ok()) {
      spdlog::warn("{}: the last targets stay: {}", discovery_.name_,
                   std::string(status.message()));
    }
  }

 private:
  KubernetesDiscovery& discovery_;
  const Kind kind_;
  const std::string ns_;
  std::set<ObjectName> listed_;
  bool has_listed_ = false;
};

KubernetesDiscovery::KubernetesDiscovery(scrape::TargetBoard& board, size_t job, size_t index)
    : board_(board),
      job_(job),
      config_(board.jobs()[job]->kubernetes_discoveries[index]),
      name_(absl::StrCat("kubernetes/", index)) {}

KubernetesDiscovery::~KubernetesDiscovery() = default;

absl::StatusOr<std::unique_ptr<KubernetesDiscovery>> KubernetesDiscovery::Make(
    Clock& clock, const MakeTransport& make_transport, scrape::TargetBoard& board, size_t job,
    size_t index, const std::string& own_namespace) {
  auto made = std::unique_ptr<KubernetesDiscovery>(new KubernetesDiscovery(board, job, index));
  const scrape::KubernetesDiscovery& config = made->config_;
  std::set<std::string> namespaces(config.namespaces.begin(), config.namespaces.end());
  if (config.own_namespace) namespaces.insert(own_namespace);
  if (namespaces.empty()) namespaces.insert("");
  std::vector<std::pair<Kind, std::string>> watched;
  for (const Kind kind : made->Kinds()) {
    const std::set<std::string> all = {""};
    for (const std::string& ns : kind == Kind::kNodes ? all : namespaces) {
      watched.emplace_back(kind, ns);
    }
  }
  {
    absl::MutexLock lock(&made->mutex_);
    made->unlisted_ = watched.size();
  }
  for (const auto& [kind, ns] : watched) {
    RETURN_IF_ERROR(made->Watch(kind, ns, clock, make_transport));
  }
  return made;
}

KubernetesDiscovery::Kind KubernetesDiscovery::KindOfRole() const {
  if (config_.role == Role::kNode) return Kind::kNodes;
  return config_.role == Role::kPod ? Kind::kPods : Kind::kEndpoints;
}

std::vector<KubernetesDiscovery::Kind> KubernetesDiscovery::Kinds() const {
  std::vector<Kind> kinds;
  // Kinds that other objects refer to come first.
  if (config_.role == Role::kNode || config_.attach_node) kinds.push_back(Kind::kNodes);
  if (config_.role == Role::kEndpoints) kinds.push_back(Kind::kServices);
  if (config_.role != Role::kNode) kinds.push_back(Kind::kPods);
  if (config_.role == Role::kEndpoints) kinds.push_back(Kind::kEndpoints);
  return kinds;
}

absl::Status KubernetesDiscovery::Watch(Kind kind, const std::string& ns, Clock& clock,
                                        const MakeTransport& make_transport) {
  kube::ObjectWatchOptions options;
  options.ns = ns;
  options.resource.version = "v1";
  options.resource.namespaced = kind != Kind::kNodes;
  const auto is = [&](const char* resource, const char* name) {
    options.resource.name.resource = resource;
    options.resource.kind = name;
  };
  std::optional<Role> selected;
  switch (kind) {
    case Kind::kPods:
      is("pods", "Pod");
      selected = Role::kPod;
      break;
    case Kind::kNodes:
      is("nodes", "Node");
      selected = Role::kNode;
      break;
    case Kind::kServices: is("services", "Service"); break;
    case Kind::kEndpoints:
      is("endpoints", "Endpoints");
      selected = Role::kEndpoints;
      break;
  }
  for (const auto& selector : config_.selectors) {
    if (selector.role != selected) continue;
    options.label_selector = selector.label;
    options.field_selector = selector.field;
  }
  ASSIGN_OR_RETURN(auto server, make_transport());
  followers_.push_back(std::make_unique<Follower>(*this, kind, ns));
  Follower& follower = *followers_.back();
  ASSIGN_OR_RETURN(auto watch, UnlessNoThread([&] {
                     return std::make_unique<kube::ObjectWatch>(options, std::move(server), clock,
                                                                follower);
                   }));
  watches_.push_back(std::move(watch));
  return absl::OkStatus();
}

template <typename Facts>
void KubernetesDiscovery::SetReferences(Kind kind, const Facts& facts, bool refers) {
  if (kind != KindOfRole()) return;
  for (const ObjectName& name : ReferencesOf(facts, config_.attach_node)) {
    if (refers) {
      references_.emplace(name, facts.object);
    } else {
      references_.erase({name, facts.object});
    }
  }
}

template <typename Facts>
std::optional<ObjectName> KubernetesDiscovery::Keep(Kind kind, absl::StatusOr<Facts> facts,
                                                    std::map<ObjectName, Facts>& kept) {
  if (!facts.ok()) return std::nullopt;
  const ObjectName name = facts->object;
  const auto found = kept.find(name);
  // Most changes of nodes and pods do not change these facts.
  if (found != kept.end() && found->second == *facts) return name;
  if (found != kept.end()) SetReferences(kind, found->second, false);
  SetReferences(kind, *facts, true);
  kept[name] = *std::move(facts);
  Touch(kind, name);
  return name;
}

std::optional<ObjectName> KubernetesDiscovery::Put(Kind kind, absl::string_view json) {
  absl::MutexLock lock(&mutex_);
  switch (kind) {
    case Kind::kPods: {
      absl::StatusOr<PodFacts> pod = ReadPod(json);
      const scrape::Job& job = *board_.jobs()[job_];
      if (pod.ok() && job.asked_for_by_pods) KeepForTargets(job, *pod);
      return Keep(kind, std::move(pod), pods_);
    }
    case Kind::kNodes: return Keep(kind, ReadNode(json), nodes_);
    case Kind::kServices: return Keep(kind, ReadService(json), services_);
    case Kind::kEndpoints: return Keep(kind, ReadEndpoints(json), endpoints_);
  }
  return std::nullopt;
}

template <typename F>
auto KubernetesDiscovery::With(Kind kind, F f) {
  if (kind == Kind::kPods) return f(pods_);
  if (kind == Kind::kNodes) return f(nodes_);
  if (kind == Kind::kServices) return f(services_);
  return f(endpoints_);
}

void KubernetesDiscovery::Drop(Kind kind, const ObjectName& name) {
  absl::MutexLock lock(&mutex_);
  const bool known = With(kind, [&](auto& kept) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = kept.find(name);
    if (found == kept.end()) return false;
    SetReferences(kind, found->second, false);
    kept.erase(found);
    return true;
  });
  if (known) Touch(kind, name);
}

void KubernetesDiscovery::Retain(Kind kind, const std::string& ns,
                                 const std::set<ObjectName>& listed) {
  absl::MutexLock lock(&mutex_);
  const auto drops = [&](const auto& object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const ObjectName& name = object.first;
    if ((!ns.empty() && name.ns != ns) || listed.contains(name)) return false;
    SetReferences(kind, object.second, false);
    Touch(kind, name);
    return true;
  };
  With(kind, [&](auto& kept) { return std::erase_if(kept, drops); });
}

void KubernetesDiscovery::Touch(Kind kind, const ObjectName& name) {
  // An Endpoints object has the name of its service.
  if (kind == KindOfRole() || kind == Kind::kServices) touched_.insert(name);
  for (auto at = references_.lower_bound({name, {}}); at != references_.end() && at->first == name;
       ++at) {
    touched_.insert(at->second);
  }
}

scrape::TargetGroup KubernetesDiscovery::GroupOf(const ObjectName& name) const {
  const auto find = [](const auto& kept, const ObjectName& of) {
    const auto found = kept.find(of);
    return found == kept.end() ? nullptr : &found->second;
  };
  KnownObjects known;
  known.pod = [&](const ObjectName& of)
                  ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return find(pods_, of); };
  known.service = [&](const ObjectName& of)
                      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return find(services_, of); };
  if (config_.attach_node) {
    known.node = [&](const std::string& of) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return find(nodes_, ObjectName{"", of});
    };
  }
  switch (config_.role) {
    case Role::kPod:
      if (const PodFacts* pod = find(pods_, name)) return TargetsOf(*pod, known);
      break;
    case Role::kNode:
      if (const NodeFacts* node = find(nodes_, name)) return TargetsOf(*node);
      break;
    case Role::kEndpoints:
      if (const EndpointsFacts* endpoints = find(endpoints_, name)) {
        return TargetsOf(*endpoints, known);
      }
      break;
  }
  return {SourceOf(config_.role, name), {}, {}};
}

void KubernetesDiscovery::NoteListed() {
  absl::MutexLock lock(&mutex_);
  if (--unlisted_ == 0) board_.Complete(job_);
}

void KubernetesDiscovery::Emit() {
  // The lock is held to the end, so that groups reach the board in the order of the changes.
  absl::MutexLock lock(&mutex_);
  if (touched_.empty()) return;
  Tell({touched_.begin(), touched_.end()});
  touched_.clear();
  // There may be room again. Where the first of a namespace finds none, the others are not tried.
  for (auto at = without_room_.begin(); at != without_room_.end();) {
    const ObjectName name = *at;
    Tell({name});
    // No namespace sorts between this one and this one with a zero at its end.
    at = without_room_.contains(name) ? without_room_.lower_bound({name.ns + '\0', ""})
                                      : without_room_.upper_bound(name);
  }
}

void KubernetesDiscovery::Tell(const std::vector<ObjectName>& names) {
  std::vector<scrape::TargetGroup> groups;
  for (const ObjectName& name : names) {
    without_room_.erase(name);
    groups.push_back(GroupOf(name));
  }
  for (const size_t i : board_.Change(job_, name_, groups)) without_room_.insert(names[i]);
}

}  // namespace flyball::discovery
