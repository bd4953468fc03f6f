// The part of a service that holds and releases requests.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "scaler/front/hosts/service_name.h"
#include "scaler/front/service.h"

namespace flyball::front {
namespace {

// How many requests of HTTP/1 a pod gets at once, since each may need a connection of its own: of
// 10,000 that are opened at the same time nearly half fail.
constexpr int64_t kBurst = 256;
constexpr absl::Duration kBetweenBursts = absl::Milliseconds(50);

}  // namespace

bool SharedCounts::HasRoomFor(absl::string_view ns) const {
  const auto found = held_by_namespace.find(ns);
  const int64_t own = found == held_by_namespace.end() ? 0 : found->second;
  return own < kShareOfRoom * (held_limit - held);
}

void SharedCounts::Hold(absl::string_view ns) {
  ++held;
  ++held_by_namespace[ns];
}

void SharedCounts::LetGo(absl::string_view ns) {
  --held;
  const auto found = held_by_namespace.find(ns);
  if (--found->second == 0) held_by_namespace.erase(found);
}

absl::string_view Service::ns() const { return NamespaceOf(spec_.name); }

void Service::Arrive(RequestId id, const NodeId& node, absl::Time arrived, Turn& turn) {
  ++shared_.counters.gated_requests_total;
  if (state_ == ServiceState::kFailing) {
    Refuse(id, failure_, turn);
    return;
  }
  if (asleep_ && queue_.empty()) load_.Wake(turn.now);
  load_.Begin(turn.now);
  const bool room = shared_.HasRoomFor(ns());
  queue_.Add({id, node, arrived});
  shared_.Hold(ns());
  if (decided_ == 0) decided_.reset();  // the decision was made without this request
  unused_since_ = turn.now;
  if (state_ == ServiceState::kActivating) EvaluateSoon(turn.now);
  React(turn);
  if (!queue_.contains(id)) return;
  if (!TooManyAreHeld(room)) {
    ++shared_.counters.held_total;
    return;
  }
  queue_.Remove(id);
  RefuseHeld(id, {RefusalReason::kQueueFull, ""}, turn);
}

// The first request of a service is held even if other services use up the limit, since it wakes
// the service.
bool Service::TooManyAreHeld(bool room) const {
  const auto held = static_cast<int64_t>(queue_.size());
  return held > spec_.queue || (!room && held > 1);
}

void Service::End(RequestId id, Turn& turn) {
  if (queue_.Remove(id)) {
    shared_.LetGo(ns());
  } else if (!slots_.Return(id)) {
    return;
  }
  load_.End(turn.now);
  idle_.Reset();
  React(turn);
}

void Service::LetGo(Turn& turn) {
  if (!Serves(state_)) return;
  if (turn.now >= burst_began_ + kBetweenBursts) {
    burst_began_ = turn.now;
    burst_left_ = kBurst * std::max<int64_t>(std::ssize(endpoints_), 1);
  }
  // Envoys that reach no pod with room now. Each may hold thousands of requests.
  absl::flat_hash_set<absl::string_view> stuck;
  queue_.Visit([&](const HeldRequest& request) {
    if (stuck.contains(request.node)) return WaitQueue::Verdict::kStays;
    if (!spec_.hard_limit()) {
      if (BurstIsOver()) return WaitQueue::Verdict::kStop;
      if (!publisher_.CanServe(request.node)) {
        stuck.insert(request.node);
        return WaitQueue::Verdict::kStays;
      }
      --burst_left_;
      Release(request, std::nullopt, turn);
      return WaitQueue::Verdict::kGoes;
    }
    if (!slots_.HasRoom()) return WaitQueue::Verdict::kStop;
    auto pod = slots_.Give(request.id, request.node, [&](const std::string& address) {
      return publisher_.Reaches(request.node, address);
    });
    if (!pod.has_value()) {
      stuck.insert(request.node);
      return WaitQueue::Verdict::kStays;
    }
    Release(request, std::move(pod), turn);
    return WaitQueue::Verdict::kGoes;
  });
}

bool Service::WaitsForBurst() const {
  return Serves(state_) && !queue_.empty() && !spec_.hard_limit() && BurstIsOver();
}

absl::Time Service::NextBurst() const {
  return WaitsForBurst() ? burst_began_ + kBetweenBursts : absl::InfiniteFuture();
}

void Service::Release(const HeldRequest& request, std::optional<std::string> pod, Turn& turn) {
  shared_.LetGo(ns());
  idle_.Reset();  // no Envoy has reported it yet
  // With a hard limit the request counts as in flight until its end is reported.
  if (!pod.has_value()) {
    load_.End(turn.now);
    load_.Released(turn.now);
  }
  turn.effects.push_back(ReleaseRequest{request.id, std::move(pod)});
  if (const auto cold_start = cold_start_.Released(turn.now)) {
    turn.effects.push_back(TellColdStart{spec_.name, *cold_start});
  }
}

void Service::RefuseLate(Turn& turn) {
  const Refusal late{RefusalReason::kActivationTimeout, ""};
  // A request that waits only for its burst has a pod that serves it within seconds.
  const bool for_burst = WaitsForBurst();
  queue_.Visit([&](const HeldRequest& request) {
    if (request.arrived > turn.now - spec_.activation_timeout) return WaitQueue::Verdict::kStop;
    if (for_burst && publisher_.CanServe(request.node)) return WaitQueue::Verdict::kStays;
    RefuseHeld(request.id, late, turn);
    NoteLate(turn);
    return WaitQueue::Verdict::kGoes;
  });
}

// One that had waited before the pods went says nothing of how long they take to come.
void Service::NoteLate(Turn& turn) {
  const bool in_vain =
      state_ == ServiceState::kActivating && turn.now >= entered_ + spec_.activation_timeout;
  if (!in_vain || std::exchange(late_, true)) return;
  at_first_ = 0;  // they have had their time
  turn.effects.push_back(
      TellNotice{{NoticeKind::kActivationFailed, spec_.name,
                  absl::StrCat("No pod was ready within ",
                               absl::FormatDuration(spec_.activation_timeout), ".")}});
}

void Service::RefuseAll(const Refusal& refusal, Turn& turn) {
  queue_.Visit([&](const HeldRequest& request) {
    RefuseHeld(request.id, refusal, turn);
    return WaitQueue::Verdict::kGoes;
  });
}

void Service::RefuseHeld(RequestId id, const Refusal& refusal, Turn& turn) {
  shared_.LetGo(ns());
  load_.End(turn.now);
  Refuse(id, refusal, turn);
}

void Service::Refuse(RequestId id, const Refusal& refusal, Turn& turn) {
  ++shared_.counters.refused_total[static_cast<size_t>(refusal.reason)];
  turn.effects.push_back(RefuseRequest{id, refusal});
}

}  // namespace flyball::front
