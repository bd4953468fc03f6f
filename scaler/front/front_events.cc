// The events that the transport reports to the front.
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/front/front.h"
#include "scaler/front/hosts/service_name.h"

namespace flyball::front {

void Front::OnEnvoy(const NodeId& node, bool returning, absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    envoys_.Connect(node, returning);
    if (!serving_) return;  // when services begin, they consider all Envoys
    DoForAll(turn, [&](Service& service) { service.EnvoyConnected(node, returning, turn); });
  });
}

void Front::OnEnvoyGone(const NodeId& node, absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    envoys_.Disconnect(node, turn.now);
    DoForAll(turn, [&](Service& service) { service.EnvoyGone(node, turn); });
  });
}

void Front::OnAck(const NodeId& node, ResourceKind kind, const std::string& service,
                  uint64_t version, absl::Time now) {
  DoFor(service, now, [&](Service& each, Turn& turn) { each.Acked(node, kind, version, turn); });
}

void Front::OnNack(const NodeId& node, ResourceKind kind, const std::vector<std::string>& services,
                   absl::string_view text, absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    ++shared_.counters.nacks_total;
    for (const std::string& name : services) {
      ServiceRecord* const record = Find(name);
      if (record == nullptr) continue;
      record->service->Nacked(node, kind, text, turn);
      Touched(*record, turn);
    }
    turn.effects.push_back(TellNotice{{NoticeKind::kRefusedByEnvoy, absl::StrJoin(services, ", "),
                                       absl::StrCat("Envoy ", node, " refused it: ", text)}});
  });
}

void Front::Admit(const std::string& service, const HeldRequest& request, Turn& turn) {
  ServiceRecord* const record = Find(service);
  if (record == nullptr) {
    turn.effects.push_back(
        RefuseRequest{request.id, {RefusalReason::kActivationFailed, "unknown"}});
    return;
  }
  requests_[request.id] = record->service.get();
  record->service->Arrive(request.id, request.node, request.arrived, turn);
  Touched(*record, turn);
}

void Front::AdmitEarly(const std::string& service, Turn& turn) {
  const auto early = early_.extract(service);
  if (early.empty()) return;
  early.mapped().Visit([&](const HeldRequest& request) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    shared_.LetGo(NamespaceOf(service));
    Admit(service, request, turn);
    return WaitQueue::Verdict::kGoes;
  });
}

void Front::OnRequest(RequestId id, const NodeId& node, const std::string& service,
                      absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const HeldRequest request{id, node, turn.now};
    if (serving_ && !kept_.contains(service)) {
      Admit(service, request, turn);
    } else if (!shared_.HasRoomFor(NamespaceOf(service))) {
      turn.effects.push_back(RefuseRequest{id, {RefusalReason::kQueueFull, ""}});
    } else {
      shared_.Hold(NamespaceOf(service));
      early_[service].Add(request);
    }
  });
}

void Front::OnRequestEnd(RequestId id, absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (auto& [name, queue] : early_) {
      if (queue.Remove(id)) return shared_.LetGo(NamespaceOf(name));
    }
    const auto found = requests_.find(id);
    if (found == requests_.end()) return;
    ServiceRecord* const record = Find(found->second->name());
    requests_.erase(found);
    record->service->End(id, turn);
    Touched(*record, turn);
  });
}

void Front::RefuseEarly(Turn& turn) {
  for (auto& early : early_) {
    early.second.Visit([&](const HeldRequest& request) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      if (turn.now < request.arrived + options_.start_timeout) return WaitQueue::Verdict::kStop;
      shared_.LetGo(NamespaceOf(early.first));
      turn.effects.push_back(RefuseRequest{request.id, {RefusalReason::kActivationTimeout, ""}});
      return WaitQueue::Verdict::kGoes;
    });
  }
}

void Front::OnLoad(const NodeId& node, absl::Span<const ServiceLoad> services, absl::Time now) {
  Do(now, [&](Turn& turn) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const uint64_t report = envoys_.Heard(node, turn.now);
    // Only services that follow reports are looked up: idle ones are in no report.
    std::map<std::string, const ServiceLoad*> loads;
    for (const auto& [name, record] : following_) loads[name] = nullptr;
    for (const ServiceLoad& load : services) loads[load.service] = &load;
    for (const auto& [name, load] : loads) {
      ServiceRecord* const record = Find(name);
      if (record == nullptr) continue;
      record->service->Report(node, report, load, turn);
      Touched(*record, turn);
    }
  });
}

}  // namespace flyball::front
