// The part of a service that measures its load and reports its state.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scaler/front/service.h"
#include "scaler/math/requests/bounds.h"

namespace flyball::front {
namespace {

// While requests gather at zero replicas, the next evaluation comes after this time and not only at
// the next tick, since pods take long enough to start.
constexpr absl::Duration kGathering = absl::Milliseconds(100);
// An Envoy that has not acknowledged for this long is reported.
constexpr absl::Duration kAcknowledgementTime = absl::Seconds(5);
// An activation whose clients have gone is given up this long after its progress deadline, as in
// Knative.
constexpr absl::Duration kActivationMargin = absl::Seconds(30);

const char* NameOf(ResourceKind kind) {
  constexpr const char* kNames[] = {"cluster", "endpoints", "route", "listener",
                                    "route of its hosts"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace

void Service::Report(const NodeId& node, uint64_t report, const ServiceLoad* load, Turn& turn) {
  if (load != nullptr) load_.Report(node, report, *load);
  if (spec_.hard_limit()) {
    slots_.Report(node, load == nullptr ? 0 : static_cast<int64_t>(load->upstream_active));
  }
  // In other states reports are used at the next evaluation.
  if (state_ == ServiceState::kClosing || (spec_.hard_limit() && !queue_.empty())) React(turn);
}

// Whether the load can be relied on: held requests are known for certain, and otherwise Envoys must
// report.
bool Service::LoadIsKnown(const Turn& turn) const {
  if (!queue_.empty()) return true;
  const auto& envoys = turn.envoys.all();
  return std::any_of(envoys.begin(), envoys.end(),
                     [&](const auto& each) { return turn.now - each.second.heard <= kSilence; });
}

scaler::TrafficSample Service::LoadSoFar(const Turn& turn) const {
  const int64_t unknown = spec_.hard_limit() ? slots_.unknown_by_report() : 0;
  return load_.SoFar(turn.envoys, turn.now, unknown);
}

bool Service::EndSecond(absl::Time began, Turn& turn) {
  if (begun_ && !asleep_) {
    const bool known = LoadIsKnown(turn);
    if (known) decider_.Record(began, LoadSoFar(turn), /*ended=*/true);
    // Whole seconds may have passed since, in which the process did not run. The windows count them
    // as seconds without load, but nobody saw them.
    const bool skipped = turn.now - began >= absl::Seconds(2);
    if (!known || skipped) seen_in_part_at_ = turn.now;
  }
  load_.BeginSecond(turn.now);
  load_.KeepOnly(turn.envoys);
  const bool freed = slots_.StopAwaiting(turn.now);
  if (freed) React(turn);
  return freed || !asleep_;
}

void Service::Evaluate(Turn& turn) {
  if (LoadIsKnown(turn)) decider_.Record(turn.now, LoadSoFar(turn), /*ended=*/false);
  const scaler::PodsSeen pods{.ready = static_cast<int32_t>(endpoints_.size())};
  decision_valid_ = decider_.Evaluate(turn.now, pods).valid;
  if (!turn.envoys.missing().empty()) seen_in_part_at_ = turn.now;
  if (decision_valid_) {
    if (WindowIsSeen(turn.now)) least_wanted_ = 0;
    least_wanted_ = std::max(least_wanted_, decider_.wanted());
  }
  if (!decision_valid_ || least_wanted_ > 0) unused_since_ = turn.now;
}

void Service::WakeDecider(absl::Time now) {
  if (!std::exchange(asleep_, false)) return;
  decider_.Wake(now);
  least_wanted_ = 0;
  unused_since_ = now;
}

absl::Time Service::ActivationEnd() const {
  if (state_ != ServiceState::kActivating) return absl::InfiniteFuture();
  return entered_ + spec_.settings.progress_deadline + kActivationMargin;
}

void Service::EvaluateSoon(absl::Time now) {
  next_evaluation_ = std::min(next_evaluation_, now + kGathering);
}

WantedCount Service::Wanted() const {
  if (!begun_) return {};
  if (asleep_) return {.known = true, .count = 0};
  const bool activating = state_ == ServiceState::kActivating && !abandoned_;
  const bool waited_for = !queue_.empty() || activating || state_ == ServiceState::kOpening ||
                          state_ == ServiceState::kFailing;
  const int32_t least = std::max({least_wanted_, at_first_, waited_for ? 1 : 0});
  if (decision_valid_) return {.known = true, .count = least};
  // While the load is unknown the count stays.
  return {.known = waited_for, .count = std::max(least, decided_.value_or(0))};
}

void Service::WishForMore(Turn& turn) {
  if (state_ != ServiceState::kActivating || turn.now < next_wish_) return;
  const int32_t needed = scaler::WithinBounds(spec_.settings.min_scale, spec_.settings.max_scale,
                                              std::max(1, decision_valid_ ? decider_.wanted() : 0));
  if (needed <= wished_) return;
  wished_ = needed;
  turn.effects.push_back(WishScale{spec_.name, needed});
}

std::vector<ProbeTarget> Service::TakeDueProbes(absl::Time now, size_t limit) {
  if (!Probes(state_)) return {};
  return pods_.TakeDueProbes(now, limit, shared_.probing - 1);
}

void Service::Nacked(const NodeId& node, ResourceKind kind, absl::string_view text, Turn& turn) {
  publisher_.acks().Nacked(node, kind, text);
  NoteReadiness(turn);
}

absl::Time Service::NextReadinessCheck() const {
  if (!not_ready_.empty()) return absl::InfiniteFuture();
  const auto& acks = publisher_.acks();
  if (acks.connected() == 0) return alone_since_ + kAcknowledgementTime;
  const auto wait = acks.LongestWait();
  return wait.has_value() ? wait->since + kAcknowledgementTime : absl::InfiniteFuture();
}

void Service::NoteReadiness(Turn& turn) {
  const auto& acks = publisher_.acks();
  std::string text;
  if (acks.connected() == 0) {
    if (turn.now >= alone_since_ + kAcknowledgementTime) text = "No Envoy is connected.";
  } else if (const auto wait = acks.LongestWait();
             wait.has_value() && turn.now >= wait->since + kAcknowledgementTime) {
    text = absl::StrCat("Envoy ", wait->node, " has not acknowledged the ", NameOf(wait->kind),
                        " for ", absl::FormatDuration(kAcknowledgementTime));
    absl::StrAppend(&text, wait->refusal.empty() ? "." : ": ", wait->refusal);
  } else if (const NodeId& missing = turn.envoys.missing();
             !missing.empty() && !asleep_ &&
             turn.now >= turn.envoys.missing_since() + kAcknowledgementTime) {
    text = absl::StrCat("Envoy ", missing, " takes requests but reports no load: nothing is made ",
                        "smaller.");
  }
  const bool begins = not_ready_.empty() && !text.empty();
  not_ready_ = std::move(text);
  if (begins) {
    turn.effects.push_back(TellNotice{{NoticeKind::kFrontNotReady, spec_.name, not_ready_}});
  }
}

ServiceSnapshot Service::Snapshot() const {
  ServiceSnapshot snapshot;
  snapshot.state = state_;
  snapshot.gated = publisher_.gated();
  snapshot.held = static_cast<int64_t>(queue_.size());
  if (spec_.hard_limit()) {
    snapshot.slots_used = slots_.used();
    snapshot.slots_total = slots_.total();
  }
  snapshot.acks_pending = publisher_.acks().pending();
  snapshot.not_ready = not_ready_;
  snapshot.wanted = Wanted();
  return snapshot;
}

}  // namespace flyball::front
