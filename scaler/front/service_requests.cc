// The part of a service that holds and releases requests.
#include <utility>

#include "scaler/front/service.h"

namespace flyball::front {

void Service::Arrive(RequestId id, const NodeId& node, absl::Time arrived, Turn& turn) {
  ++shared_.counters.gated_requests_total;
  if (state_ == ServiceState::kFailing) {
    Refuse(id, failure_, turn);
    return;
  }
  if (asleep_ && queue_.empty()) load_.Wake(turn.now);
  load_.Begin(turn.now);
  queue_.Add({id, node, arrived});
  ++shared_.held;
  decided_.reset();  // the decision was made without this request
  if (state_ == ServiceState::kActivating) EvaluateSoon(turn.now);
  React(turn);
  if (!queue_.contains(id)) return;
  if (!TooManyAreHeld()) {
    ++shared_.counters.held_total;
    return;
  }
  queue_.Remove(id);
  --shared_.held;
  load_.End(turn.now);
  Refuse(id, {RefusalReason::kQueueFull, ""}, turn);
}

// The first request of a service is held even if other services use up the limit, since it wakes
// the service.
bool Service::TooManyAreHeld() const {
  const auto held = static_cast<int64_t>(queue_.size());
  return held > spec_.queue || (shared_.held > shared_.held_limit && held > 1);
}

bool Service::WaitsTooLong(absl::Time now) const {
  const auto oldest = queue_.oldest();
  return oldest.has_value() && now >= *oldest + spec_.activation_timeout;
}

void Service::End(RequestId id, Turn& turn) {
  if (queue_.Remove(id)) {
    --shared_.held;
  } else if (!slots_.Return(id)) {
    return;
  }
  load_.End(turn.now);
  idle_.Reset();
  React(turn);
}

void Service::LetGo(Turn& turn) {
  if (!Serves(state_)) return;
  queue_.Visit([&](const HeldRequest& request) {
    if (!spec_.hard_limit()) {
      if (!publisher_.CanServe(request.node)) return WaitQueue::Verdict::kStays;
      Release(request, std::nullopt, turn);
      return WaitQueue::Verdict::kGoes;
    }
    if (!slots_.HasRoom()) return WaitQueue::Verdict::kStop;
    auto pod = slots_.Give(request.id, request.node, [&](const std::string& address) {
      return publisher_.Reaches(request.node, address);
    });
    if (!pod.has_value()) return WaitQueue::Verdict::kStays;
    Release(request, std::move(pod), turn);
    return WaitQueue::Verdict::kGoes;
  });
}

void Service::Release(const HeldRequest& request, std::optional<std::string> pod, Turn& turn) {
  --shared_.held;
  idle_.Reset();  // no Envoy has reported it yet
  // With a hard limit the request counts as in flight until its end is reported.
  if (!pod.has_value()) {
    load_.End(turn.now);
    load_.Released(turn.now);
  }
  turn.effects.push_back(ReleaseRequest{request.id, std::move(pod)});
  if (const auto cold_start = cold_start_.Released(turn.now)) {
    last_cold_start_ = cold_start;
    turn.effects.push_back(TellColdStart{spec_.name, *cold_start});
  }
}

void Service::RefuseOlderThan(absl::Time arrived, const Refusal& refusal, Turn& turn) {
  queue_.Visit([&](const HeldRequest& request) {
    if (request.arrived > arrived) return WaitQueue::Verdict::kStop;
    --shared_.held;
    load_.End(turn.now);
    Refuse(request.id, refusal, turn);
    return WaitQueue::Verdict::kGoes;
  });
}

void Service::Refuse(RequestId id, const Refusal& refusal, Turn& turn) {
  ++shared_.counters.refused_total[static_cast<size_t>(refusal.reason)];
  turn.effects.push_back(RefuseRequest{id, refusal});
}

}  // namespace flyball::front
