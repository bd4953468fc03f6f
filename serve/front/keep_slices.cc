// The part of the keeper that makes Services lead to the Envoys.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "scaler/front/hosts/service_name.h"
#include "serve/front/front_slices.h"
#include "serve/front/serve_front.h"

namespace flyball::serve {
namespace {

// How often a Service and its slices are checked for changes by others, which takes two requests;
// less often if there are many services, so that all together cause no more than the rate below.
constexpr absl::Duration kLookAgain = absl::Seconds(30);
constexpr int kLooksPerSecond = 20;
// The pause after the API server has refused, for example since there is no such Service. All
// services share the keeper's thread, so those that nobody can write must not take its time in each
// pass: they are checked no more often than all others together.
constexpr absl::Duration kAfterRefusal = absl::Seconds(5);
// The pause after a conflict, or while the API server is unreachable.
constexpr absl::Duration kAfterFailure = absl::Seconds(1);

absl::Duration Spread(absl::Duration least, size_t services) {
  return std::max(least, absl::Seconds(services) / kLooksPerSecond);
}

}  // namespace

bool ServeFront::WasRefused(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsInvalidArgument(status) ||
         absl::IsPermissionDenied(status);
}

void ServeFront::FollowEnvoys() {
  if (settings_.envoy_selector.empty() || envoys_followed_) return;
  absl::StatusOr<kube::Selector> selector = kube::Selector::Parse(settings_.envoy_selector);
  const absl::Status status =
      selector.ok() ? pods_.Follow(kEnvoys, settings_.envoy_namespace, *std::move(selector), "1")
                    : selector.status();
  envoys_followed_ = status.ok();
  if (!status.ok() && status != envoys_problem_) {
    spdlog::warn("front: Envoys' pods: {}", std::string(status.message()));
  }
  envoys_problem_ = status;
}

void ServeFront::TakeEnvoys(const std::vector<front::PodView>& pods) {
  std::vector<FrontSlices::Envoy> envoys;
  std::set<front::NodeId> names;
  for (const front::PodView& pod : pods) {
    if (!pod.ready || pod.deleting || pod.address.empty()) continue;
    std::string ip = pod.address.substr(0, pod.address.rfind(':'));
    if (ip.front() == '[') ip = ip.substr(1, ip.size() - 2);
    envoys.push_back({.ip = std::move(ip), .node = pod.node});
    names.insert(pod.name);
  }
  std::sort(envoys.begin(), envoys.end());
  {
    absl::MutexLock lock(&mutex_);
    envoy_names_ = std::move(names);
    if (envoys_ != envoys) {
      envoys_ = std::move(envoys);
      for (auto& [name, record] : records_) record.slices_due = absl::ZeroDuration();
    }
  }
  TellEnvoys();
  keeper_.Wake();
}

// Called by the keeper's thread and by that of the watch; the later call has the newer names.
void ServeFront::TellEnvoys() {
  absl::MutexLock in_order(&telling_envoys_);
  std::set<front::NodeId> names;
  {
    absl::MutexLock lock(&mutex_);
    names = envoy_names_;
  }
  session()->front.SetEnvoys(names, Now());
}

// For a Service that was in use before a restart its slices show the port.
bool ServeFront::Leads(const CarriedRecord& record) const {
  if (record.led) return true;
  const auto was = was_led_.find(record.target().Key());
  return record.port != 0 && was != was_led_.end() && was->second == record.port;
}

// A Service leads to one port of the Envoys, so two Autoscalers that name the same one would
// overwrite each other. The one that has it keeps it.
absl::Status ServeFront::CheckRivals(const std::string& name) const {
  const CarriedRecord& record = records_.at(name);
  if (Leads(record)) return absl::OkStatus();
  for (const auto& [other, rival] : records_) {
    const bool leads = Leads(rival);  // in the midst of an edit it has no claim
    if (other == name || (rival.claim == 0 && !leads) || rival.service.ns != record.service.ns ||
        rival.service.http.front_service != record.service.http.front_service) {
      continue;
    }
    if (leads || other < name) {
      return absl::FailedPreconditionError(
          absl::StrCat("Service ", record.service.http.front_service, " is that of Autoscaler ",
                       rival.service.autoscaler, " already"));
    }
  }
  return absl::OkStatus();
}

// Whether requests get to the pods by HTTP/2 is set by the Service, and by the slices that were
// written for it. A Service that does not exist or may not be read does not set it.
void ServeFront::LookAtService(const std::string& name) {
  FrontSlices::Target target;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end() || found->second.h2c.has_value()) return;
    target = found->second.target();
    const auto was = was_h2c_.extract(target.Key());
    if (!was.empty()) {
      found->second.h2c = was.mapped();
      return;
    }
  }
  const absl::StatusOr<FrontSlices::ServiceFacts> facts =
      FrontSlices(*client_, *server_).Look(target);
  With(name, [&](CarriedRecord& record) {
    if (record.target().service != target.service) return;
    if (facts.ok() || WasRefused(facts.status())) {
      record.h2c = facts.ok() && facts->h2c.value_or(false);
      NoteProgress(name);
    } else {
      record.problem = absl::StrCat("its Service can't be read: ", facts.status().message());
      failed_ = true;
    }
  });
}

void ServeFront::WriteSlices(const std::string& name) {
  FrontSlices::Target target;
  std::optional<std::vector<FrontSlices::Envoy>> envoys;  // nullopt: no slices, or not yet
  bool h2c = false;
  absl::Status status;
  const MonotonicTime now = deps_.clock.MonotonicNow();
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return;
    CarriedRecord& record = found->second;
    if (!record.added || !serving_ || record.slices_due > now) return;
    record.slices_due = now + Spread(kLookAgain, records_.size());
    target = record.target();
    envoys = envoys_;
    h2c = record.h2c.value_or(false);
    status = CheckRivals(name);
  }
  FrontSlices slices(*client_, *server_);
  absl::StatusOr<FrontSlices::ServiceFacts> facts = slices.Look(target);
  // An alias does not set it; the slices do, so that the next owner knows it.
  if (facts.ok() && h2c && !facts->h2c.has_value() && !facts->ports.empty()) {
    facts->ports[0].app_protocol = "kubernetes.io/h2c";
  }
  status.Update(facts.status());
  if (status.ok() && envoys.has_value()) {
    status = deps_.may_write() ? slices.Write(target, *facts, *envoys) : NotOurs();
  }
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return;
    CarriedRecord& record = found->second;
    if (record.target().service != target.service) return;  // it names another one meanwhile
    if (facts.ok() && facts->h2c.has_value() && record.h2c != facts->h2c) {
      record.h2c = facts->h2c;
      record.changed = true;
    }
    if (!envoys.has_value()) return;
    const bool news =
        std::exchange(record.slices_problem, std::string(status.message())) != status.message();
    if (WasRefused(status)) {
      const auto have_problems = std::count_if(
          records_.begin(), records_.end(),
          [](const Records::value_type& each) { return !each.second.slices_problem.empty(); });
      record.slices_due = now + Spread(kAfterRefusal, have_problems);
    } else if (!status.ok() && !absl::IsFailedPrecondition(status)) {
      record.slices_due = now + kAfterFailure;
      failed_ = true;
    }
    if (status.ok()) {
      record.led = true;
      was_led_.erase(target.Key());
    }
    if (!news) return;
  }
  Change(name);  // its condition
  if (!status.ok()) Warn(name, "ServiceNotLed", std::string(status.message()));
}

absl::Status ServeFront::ListSlicesIn(const std::string& ns) {
  if (settings_.envoy_selector.empty()) return absl::OkStatus();
  const absl::StatusOr<std::vector<FrontSlices::Written>> all =
      FrontSlices(*client_, *server_).List(ns);
  if (WasRefused(all.status())) {
    spdlog::warn("front: EndpointSlices: {}", std::string(all.status().message()));
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(all.status());
  for (const FrontSlices::Written& slice : *all) {
    was_h2c_[slice.target.Key()] = slice.h2c;
    if (!slice.leads) continue;
    was_led_[slice.target.Key()] = slice.target.port;
    ports_.Avoid(slice.target.ns, slice.target.port, deps_.clock.MonotonicNow());
    maybe_stale_.emplace(slice.target.ns, slice.target.port);
  }
  return absl::OkStatus();
}

// A Service whose Autoscaler is gone, or has lost the trigger, leads to a port that will be another
// service's, which would get the requests of its callers. False: not all are emptied yet.
bool ServeFront::EmptySlices() {
  if (!serving_ || maybe_stale_.empty()) return true;
  const MonotonicTime now = deps_.clock.MonotonicNow();
  if (now < stale_due_) return false;
  std::map<std::string, std::set<uint16_t>> stale;  // ports, by namespace
  for (const auto& [ns, port] : std::exchange(maybe_stale_, {})) {
    const std::string holder = ports_.HolderOf(port);
    if (holder.empty() || front::NamespaceOf(holder) != ns) stale[ns].insert(port);
  }
  for (const auto& [ns, ports] : stale) {
    const absl::Status status =
        deps_.may_write() ? FrontSlices(*client_, *server_).Empty(ns, ports) : NotOurs();
    if (status.ok()) continue;
    spdlog::warn("front: EndpointSlices of {} still lead to the ports {}: {}", ns,
                 absl::StrJoin(ports, ", "), std::string(status.message()));
    for (const uint16_t port : ports) {
      ports_.Avoid(ns, port, now);
      maybe_stale_.emplace(ns, port);
    }
  }
  if (!maybe_stale_.empty()) stale_due_ = now + kLookAgain;
  return maybe_stale_.empty();
}

}  // namespace flyball::serve
