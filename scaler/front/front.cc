#include "scaler/front/front.h"

#include <algorithm>
#include <iterator>

namespace flyball::front {
namespace {

absl::Time WholeSecond(absl::Time time) { return absl::FromUnixSeconds(absl::ToUnixSeconds(time)); }

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

Front::Front(const FrontOptions& options, DataPath& data_path, FrontObserver& observer)
    : options_(options), data_path_(data_path), observer_(observer) {
  shared_.version = options.first_version;
  shared_.held_limit = options.held_limit;
}

void Front::Do(absl::Time now, absl::FunctionRef<void(Turn&)> look) {
  {
    absl::MutexLock lock(&mutex_);
    // Threads may get the lock in another order than that of their times.
    now_ = std::max(now_, now);
    Effects effects;
    Turn turn{now_, envoys_, effects};
    EndSeconds(turn);
    look(turn);
    ForgetAnswered(effects);
    AddHostsListener(effects);
    if (const absl::Time next = NextTime(); next < promised_) {
      promised_ = next;
      effects.push_back(WakeAt{next});
    }
    undelivered_.insert(undelivered_.end(), std::make_move_iterator(effects.begin()),
                        std::make_move_iterator(effects.end()));
  }
  Deliver();
}

void Front::AddHostsListener(Effects& effects) {
  if (hosts_listener_) return;
  hosts_listener_ = std::any_of(effects.begin(), effects.end(), [](const Effect& effect) {
    const auto* const put = std::get_if<PutResource>(&effect);
    return put != nullptr && std::holds_alternative<HostRouteResource>(put->resource);
  });
  if (!hosts_listener_) return;
  ListenerResource listener{.service = kHostsListener, .port = options_.hosts_port};
  // Before that, since an Envoy that has it from an earlier process would else be told to drop it.
  const auto serve = std::find_if(effects.begin(), effects.end(), [](const Effect& effect) {
    return std::holds_alternative<StartServing>(effect);
  });
  effects.insert(serve, PutResource{std::move(listener), ++shared_.version});
}

void Front::DoFor(const std::string& name, absl::Time now,
                  absl::FunctionRef<void(Service&, Turn&)> look) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    ServiceRecord* const record = Find(name);
    if (record == nullptr) return;
    look(*record->service, turn);
    Touched(*record, turn);
  });
}

void Front::DoForAll(Turn& turn, absl::FunctionRef<void(Service&)> look) {
  for (auto& [name, record] : services_) {
    look(*record.service);
    Touched(record, turn);
  }
}

Front::ServiceRecord* Front::Find(const std::string& name) {
  const auto found = services_.find(name);
  return found == services_.end() ? nullptr : &found->second;
}

void Front::Touched(ServiceRecord& record, Turn& turn) {
  Service& service = *record.service;
  const auto free = static_cast<size_t>(std::max(options_.probe_limit - probing_, 0));
  for (ProbeTarget& target : service.TakeDueProbes(turn.now, free)) {
    ++probing_;
    turn.effects.push_back(
        StartProbe{service.name(), std::move(target.uid), std::move(target.address)});
  }
  if (const bool follows = service.FollowsReports(); follows != record.follows) {
    record.follows = follows;
    if (follows) {
      following_[service.name()] = &record;
    } else {
      following_.erase(service.name());
    }
  }
  const absl::Time due = service.NextTime();
  if (due == record.due) return;
  due_.erase({record.due, &service});
  record.due = due;
  if (due < absl::InfiniteFuture()) due_.emplace(due, &service);
}

void Front::EndSeconds(Turn& turn) {
  const absl::Time second = WholeSecond(turn.now);
  if (second <= second_) return;
  const absl::Time before = std::exchange(second_, second);
  for (auto& [name, record] : services_) {
    if (record.service->EndSecond(before, turn)) Touched(record, turn);
  }
  envoys_.BeginSecond(turn.now);
}

absl::Time Front::NextTime() const {
  absl::Time next = absl::InfiniteFuture();
  if (!due_.empty()) next = due_.begin()->first;
  if (!services_.empty()) next = std::min(next, second_ + absl::Seconds(1));
  for (const auto& [name, queue] : early_) {
    if (!queue.empty()) next = std::min(next, *queue.oldest() + options_.start_timeout);
  }
  return next;
}

absl::Time Front::Advance(absl::Time now) {
  absl::Time next;
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    RefuseEarly(turn);
    std::vector<std::string> names;
    for (const auto& [due, service] : due_) {
      if (due > turn.now) break;
      names.push_back(service->name());
    }
    for (const std::string& name : names) {
      ServiceRecord& record = *Find(name);
      record.service->Advance(turn);
      Touched(record, turn);
    }
    next = promised_ = NextTime();
  });
  return next;
}

void Front::AddService(const HttpService& spec, int32_t replicas, const std::vector<PodView>& pods,
                       absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    ServiceRecord& record = services_[spec.name];
    if (record.service != nullptr) return;
    record.service = std::make_unique<Service>(spec, replicas, pods, shared_, turn.now);
    const auto kept = kept_.extract(spec.name);
    if (serving_) record.service->Begin(/*known=*/!kept.empty(), turn);
    // After the rest was put: what is removed is not kept any more, and an Envoy that connects in
    // between would be told to drop its cluster and its listener.
    if (!kept.empty() && !kept.mapped().empty() && spec.hosts.empty()) {
      turn.effects.push_back(RemoveResource{ResourceKind::kHostRoute, spec.name});
    }
    Touched(record, turn);
    if (serving_) AdmitEarly(spec.name, turn);
  });
}

void Front::ChangeService(const HttpService& spec, absl::Time now) {
  DoFor(spec.name, now, [&](Service& service, Turn& turn) { service.Configure(spec, turn); });
}

void Front::RemoveService(const std::string& name, absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    ServiceRecord* const record = Find(name);
    if (record == nullptr) {
      const auto kept = kept_.extract(name);
      if (kept.empty()) return;
      turn.effects.push_back(RemoveResource{ResourceKind::kListener, name});
      if (!kept.mapped().empty()) {
        turn.effects.push_back(RemoveResource{ResourceKind::kHostRoute, name});
      }
      turn.effects.push_back(RemoveResource{ResourceKind::kCluster, name});
      return AdmitEarly(name, turn);  // which refuses them
    }
    Service* const service = record->service.get();
    service->Remove(turn);
    absl::erase_if(requests_, [&](const auto& each) { return each.second == service; });
    due_.erase({record->due, service});
    following_.erase(name);
    services_.erase(name);
  });
}

void Front::BeginServing(absl::Time now, const std::map<std::string, HostRoutes>& unknown) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (std::exchange(serving_, true)) return;
    kept_ = unknown;
    StartServing start;
    for (const auto& [name, hosts] : kept_) {
      start.kept.push_back(name);
      if (hosts.empty()) continue;
      // The table of hosts is sent as a whole, so what is not in it is gone.
      turn.effects.push_back(
          PutResource{HostRouteResource{.service = name, .routes = hosts}, ++shared_.version});
    }
    DoForAll(turn, [&](Service& service) { service.Begin(/*known=*/true, turn); });
    turn.effects.push_back(std::move(start));
    for (auto each = early_.begin(); each != early_.end();) {
      const std::string name = (each++)->first;
      if (!kept_.contains(name)) AdmitEarly(name, turn);
    }
  });
}

void Front::SetEnvoys(const std::set<NodeId>& nodes, absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const std::set<NodeId> before = envoys_.Expect(nodes, turn.now);
    for (const NodeId& node : before) {
      const Envoys::Envoy* const envoy = envoys_.Find(node);
      if (nodes.contains(node) || (envoy != nullptr && envoy->connected)) continue;
      DoForAll(turn, [&](Service& service) { service.EnvoyGone(node, turn); });
    }
  });
}

void Front::SetPods(const std::string& name, const std::vector<PodView>& pods, absl::Time now) {
  DoFor(name, now, [&](Service& service, Turn& turn) { service.SetPods(pods, turn); });
}

void Front::Probed(const std::string& name, const std::string& uid, ProbeResult result,
                   absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (probing_ > 0) --probing_;
    ServiceRecord* const record = Find(name);
    if (record == nullptr) return;
    record->service->Probed(uid, result, turn);
    Touched(*record, turn);
  });
}

bool Front::MayEnterZero(const std::string& name, absl::Time now) {
  bool may = true;  // an unknown service has no requests here
  DoFor(name, now, [&](Service& service, Turn& turn) { may = service.MayEnterZero(turn); });
  return may;
}

void Front::ScaleWritten(const std::string& name, int32_t count, absl::Time now) {
  DoFor(name, now, [&](Service& service, Turn& turn) { service.ScaleWritten(count, turn); });
}

void Front::ScaleRefused(const std::string& name, int32_t count, absl::string_view word,
                         absl::Time now) {
  DoFor(name, now, [&](Service& service, Turn& turn) { service.ScaleRefused(count, word, turn); });
}

void Front::ScaleDelayed(const std::string& name, absl::Time now) {
  DoFor(name, now, [&](Service& service, Turn& turn) { service.ScaleDelayed(turn); });
}

std::optional<ServiceSnapshot> Front::Snapshot(const std::string& name) const {
  absl::MutexLock lock(&mutex_);
  const auto found = services_.find(name);
  if (found == services_.end()) return std::nullopt;
  return found->second.service->Snapshot();
}

FrontTotals Front::Totals(absl::Time now) const {
  absl::MutexLock lock(&mutex_);
  FrontTotals totals;
  totals.counters = shared_.counters;
  totals.held = shared_.held;
  for (const auto& [node, envoy] : envoys_.all()) {
    if (!envoy.connected) continue;
    ++totals.envoys;
    if (envoy.reports > 0) totals.stats_age = std::max(totals.stats_age, now - envoy.heard);
  }
  for (const auto& [name, record] : services_) {
    const ServiceSnapshot snapshot = record.service->Snapshot();
    totals.acks_pending += snapshot.acks_pending;
    totals.slots_used += snapshot.slots_used;
    totals.slots_total += snapshot.slots_total;
  }
  return totals;
}

void Front::ForgetAnswered(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const auto* const refused = std::get_if<RefuseRequest>(&effect)) {
      requests_.erase(refused->id);
    } else if (const auto* const released = std::get_if<ReleaseRequest>(&effect)) {
      if (!released->pod.has_value()) requests_.erase(released->id);
    }
  }
}

void Front::Deliver() {
  for (bool mine = false;;) {
    std::deque<Effect> effects;
    {
      absl::MutexLock lock(&mutex_);
      if (delivering_ && !mine) return;  // the thread that delivers takes these too
      effects.swap(undelivered_);
      delivering_ = mine = !effects.empty();
      if (!mine) return;
    }
    for (const Effect& effect : effects) CarryOut(effect);
  }
}

void Front::CarryOut(const Effect& effect) {
  std::visit(
      Overloaded{
          [this](const PutResource& each) { data_path_.Put(each.resource, each.version); },
          [this](const RemoveResource& each) { data_path_.Remove(each.kind, each.service); },
          [this](const StartServing& each) { data_path_.BeginServing(each.kept); },
          [this](const ReleaseRequest& each) { data_path_.Release(each.id, each.pod); },
          [this](const RefuseRequest& each) { data_path_.Refuse(each.id, each.refusal); },
          [this](const WishScale& each) { observer_.WishScale(each.service, each.at_least); },
          [this](const OfferZero& each) { observer_.OfferZero(each.service); },
          [this](const TellDesired& each) { observer_.DesiredChanged(each.service); },
          [this](const StartProbe& each) {
            observer_.StartProbe(each.service, each.uid, each.address);
          },
          [this](const WakeAt& each) { observer_.WakeAt(each.time); },
          [this](const TellNotice& each) { observer_.Tell(each.notice); },
          [this](const TellColdStart& each) { observer_.Tell(each.service, each.cold_start); }},
      effect);
}

}  // namespace flyball::front
