#include "scaler/front/service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::front {
namespace {

// After this time a service counts as open even if an Envoy has not acknowledged its endpoints. The
// requests of that Envoy are still held.
constexpr absl::Duration kOpeningTime = absl::Seconds(1);
// How long the gate stays on after opening, so that every worker thread of the Envoys has the pods.
constexpr absl::Duration kGateLinger = absl::Seconds(2);
constexpr absl::Duration kFirstBackOff = absl::Seconds(1);
constexpr absl::Duration kLastBackOff = absl::Seconds(30);

absl::Duration BackOff(int failures) {
  const int doublings = std::clamp(failures - 1, 0, 5);
  return std::min(kFirstBackOff * (1 << doublings), kLastBackOff);
}

int32_t CountReady(const std::vector<PodView>& pods) {
  return static_cast<int32_t>(std::count_if(
      pods.begin(), pods.end(), [](const PodView& pod) { return pod.ready && !pod.deleting; }));
}

}  // namespace

Service::Service(HttpService spec, int32_t replicas, const std::vector<PodView>& pods,
                 SharedCounts& shared, absl::Time now)
    : spec_(std::move(spec)),
      shared_(shared),
      entered_(now),
      open_since_(now),
      unused_since_(now),
      asleep_(replicas == 0),
      at_first_(replicas),
      publisher_(shared.version),
      alone_since_(now),
      load_(now),
      decider_(spec_.settings, {.ready = asleep_ ? 0 : CountReady(pods)}, now),
      next_evaluation_(now) {
  pods_.Set(pods, now);
  if (asleep_) {
    pods_.DoomAll();
  } else {
    decided_ = replicas;  // so that it waits for its first pod as after a wake
  }
  load_.SetHosts(!spec_.hosts.empty(), spec_.hard_limit());
  slots_.SetLimit(spec_.container_concurrency);
  PodsChanged();
}

void Service::Begin(bool known, Turn& turn) {
  begun_ = true;
  for (const auto& [node, envoy] : turn.envoys.all()) {
    if (!envoy.connected) continue;
    publisher_.acks().Connect(node, turn.now);
    if (known && envoy.returning && spec_.hard_limit()) slots_.Await(node, turn.now);
  }
  entered_ = unused_since_ = turn.now;
  next_evaluation_ = turn.now;
  // What Envoys that connect later carry already is not seen yet.
  if (!asleep_) seen_in_part_at_ = turn.now;
  if (known && !endpoints_.empty()) {
    state_ = ServiceState::kOpen;
    open_since_ = turn.now;
    gate_ = spec_.hard_limit();
  }
  React(turn);
}

void Service::Configure(const HttpService& spec, Turn& turn) {
  const bool limited_anew = spec.hard_limit() && !spec_.hard_limit();
  spec_ = spec;
  ++revision_;
  decider_.Configure(spec_.settings, turn.now);
  slots_.SetLimit(spec_.container_concurrency);
  load_.SetHosts(!spec_.hosts.empty(), spec_.hard_limit());
  if (limited_anew) {
    for (const auto& [node, envoy] : turn.envoys.all()) {
      if (envoy.connected) slots_.Await(node, turn.now);
    }
  }
  React(turn);
}

void Service::Remove(Turn& turn) {
  const Refusal gone{RefusalReason::kActivationFailed, "removed"};
  RefuseAll(gone, turn);
  publisher_.Remove(spec_.name, turn);
  if (Probes(std::exchange(state_, ServiceState::kZero))) --shared_.probing;
  begun_ = false;
}

void Service::EnvoyConnected(const NodeId& node, bool returning, Turn& turn) {
  publisher_.acks().Connect(node, turn.now);
  if (returning && spec_.hard_limit()) slots_.Await(node, turn.now);
  idle_.Reset();
  React(turn);
}

void Service::EnvoyGone(const NodeId& node, Turn& turn) {
  publisher_.acks().Disconnect(node);
  if (turn.envoys.IsExpected(node)) {
    slots_.CutOff(node, turn.now, spec_.request_timeout);
  } else {
    slots_.Forget(node);
  }
  load_.Forget(node);
  if (publisher_.acks().connected() == 0) alone_since_ = turn.now;
  React(turn);
}

void Service::Acked(const NodeId& node, ResourceKind kind, uint64_t version, Turn& turn) {
  publisher_.acks().Acked(node, kind, version);
  React(turn);
}

void Service::SetPods(const std::vector<PodView>& pods, Turn& turn) {
  pods_.Set(pods, turn.now);
  PodsChanged();
  if (pods_.any_running()) cold_start_.PodRan(turn.now);
  React(turn);
}

void Service::Probed(absl::string_view uid, ProbeResult result, Turn& turn) {
  if (!pods_.Probed(uid, result, turn.now)) return;
  PodsChanged();
  React(turn);
}

ServiceFacts Service::Facts(absl::Time now) const {
  ServiceFacts facts;
  facts.has_pod = !endpoints_.empty();
  facts.has_no_pod = endpoints_.empty();
  const bool zero_is_decided = decided_ == 0 && spec_.settings.min_scale <= 0;
  facts.wanted = !queue_.empty() || decided_ > 0 || spec_.settings.min_scale > 0;
  facts.opened = publisher_.AllCanServe() || now >= entered_ + kOpeningTime;
  facts.refused = scale_refused_.has_value();
  facts.may_close = zero_is_decided && queue_.empty() && spec_.settings.enable_scale_to_zero &&
                    now >= open_since_ + spec_.settings.stable_window;
  facts.backed_off = now >= entered_ + BackOff(failures_);
  facts.zero_entered = zero_entered_;
  return facts;
}

void Service::React(Turn& turn) {
  if (!begun_) return;
  if (pods_.Advance(turn.now)) PodsChanged();
  for (;;) {
    const ServiceState next = NextState(state_, Facts(turn.now));
    if (next == state_) break;
    Enter(next, turn);
  }
  SettleGate(turn.now);
  PublishChanges(turn);
  if (gate_ && publisher_.AllHaveRoute()) idle_.Begin(turn.envoys);
  LetGo(turn);
  RefuseLate(turn);
  // Nobody waits any more for the pod that was started: a later release is no cold start.
  if (Serves(state_) && queue_.empty()) cold_start_.Forget();
  OfferZeroIfSafe(turn);
  NoteReadiness(turn);
  abandoned_ = queue_.empty() && turn.now > ActivationEnd();
  if (abandoned_ || (Serves(state_) && WindowIsSeen(turn.now))) at_first_ = 0;
  if (const WantedCount wanted = Wanted(); wanted != told_wanted_) {
    told_wanted_ = wanted;
    turn.effects.push_back(TellDesired{spec_.name});
  }
}

void Service::PodsChanged() {
  endpoints_ = pods_.Endpoints();
  slots_.SetPods(pods_.Places());
  ++revision_;
}

void Service::PublishChanges(Turn& turn) {
  const Published now{revision_, gate_, Serves(state_)};
  if (now == published_) return;
  published_ = now;
  const bool gate_changed =
      publisher_.Publish(spec_, gate_, now.serves ? endpoints_ : std::vector<std::string>{}, turn);
  if (gate_changed) idle_.Reset();
}

void Service::Enter(ServiceState state, Turn& turn) {
  const ServiceState before = std::exchange(state_, state);
  shared_.probing += (Probes(state) ? 1 : 0) - (Probes(before) ? 1 : 0);
  entered_ = turn.now;
  if (pods_.WaitForFirst(Probes(state))) PodsChanged();
  switch (state) {
    case ServiceState::kZero:
      if (std::exchange(zero_entered_, false)) FallAsleep();
      break;
    case ServiceState::kActivating: Activate(turn); break;
    case ServiceState::kOpening:
      WakeDecider(turn.now);
      cold_start_.PodPassed(turn.now);
      break;
    case ServiceState::kOpen:
      if (before != ServiceState::kClosing) open_since_ = turn.now;
      failures_ = 0;
      wished_ = 0;
      break;
    case ServiceState::kClosing: zero_offered_ = false; break;
    case ServiceState::kFailing: Fail(turn); break;
  }
}

void Service::Activate(Turn& turn) {
  WakeDecider(turn.now);
  wished_ = 0;
  next_wish_ = absl::InfinitePast();
  scale_refused_.reset();
  late_ = false;
  if (!queue_.empty()) {
    ++shared_.counters.wakes_total;
    cold_start_.Arrived(*queue_.oldest());
    turn.effects.push_back(
        TellNotice{{NoticeKind::kWoken, spec_.name, "Requests came while there was no pod."}});
  }
  Evaluate(turn);
  next_evaluation_ = turn.now + scaler::kRequestTick;
  EvaluateSoon(turn.now);
  WishForMore(turn);
}

void Service::Fail(Turn& turn) {
  ++failures_;
  at_first_ = 0;  // they have had their time
  cold_start_.Forget();
  failure_ = {RefusalReason::kActivationFailed, *std::exchange(scale_refused_, std::nullopt)};
  RefuseAll(failure_, turn);
  turn.effects.push_back(
      TellNotice{{NoticeKind::kActivationFailed, spec_.name,
                  absl::StrCat("The scale could not be raised: ", failure_.word, ".")}});
}

void Service::SettleGate(absl::Time now) {
  if (state_ != ServiceState::kOpen || spec_.hard_limit()) {
    gate_ = true;
  } else if (gate_) {
    gate_ = now < entered_ + kGateLinger || !publisher_.AllCanServe();
  }
}

void Service::Advance(Turn& turn) {
  if (!begun_) return;
  if (!asleep_ && turn.now >= next_evaluation_) {
    Evaluate(turn);
    next_evaluation_ = turn.now + scaler::kRequestTick;
  }
  WishForMore(turn);
  React(turn);
}

absl::Time Service::NextTime() const {
  if (!begun_) return absl::InfiniteFuture();
  absl::Time next = std::min({pods_.NextPardon(), NextReadinessCheck(), NextBurst()});
  if (const auto oldest = queue_.oldest(); oldest.has_value() && !WaitsForBurst()) {
    next = std::min(next, *oldest + spec_.activation_timeout);
  }
  if (!asleep_) next = std::min(next, next_evaluation_);
  switch (state_) {
    case ServiceState::kActivating:
      next = std::min(next, pods_.NextProbe());
      if (queue_.empty() && !abandoned_) {
        next = std::min(next, ActivationEnd() + absl::Nanoseconds(1));
      }
      if (wished_ == 0) next = std::min(next, next_wish_);
      break;
    case ServiceState::kOpening: next = std::min(next, entered_ + kOpeningTime); break;
    case ServiceState::kOpen:
      if (gate_ && !spec_.hard_limit() && publisher_.AllCanServe()) {
        next = std::min(next, entered_ + kGateLinger);
      }
      break;
    case ServiceState::kClosing: break;  // nothing to schedule: reports of load arrive all the time
    case ServiceState::kFailing:
      next = std::min({next, entered_ + BackOff(failures_), pods_.NextProbe()});
      break;
    case ServiceState::kZero: break;
  }
  return next;
}

}  // namespace flyball::front
