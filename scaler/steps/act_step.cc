#include "scaler/steps/act_step.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"
#include "base/status_macros.h"
#include "kube/client/scale.h"
#include "scaler/math/history.h"
#include "scaler/math/reconcile.h"
#include "scaler/math/recording.h"
#include "scaler/steps/stored_status.h"
#include "scaler/views/status_json.h"

namespace flyball::scaler {
namespace {

// Whether the API server has refused the write, so that it had no effect.
bool IsRefusal(const absl::Status& status) {
  return absl::IsAborted(status) || absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
         absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status) ||
         absl::IsFailedPrecondition(status);
}

// For an addition that conflicts with itself, since it was sent twice, or with an equal one by
// somebody else. It is not counted, and neither are those that it would have replaced, because each
// addition allows removals later on.
void ForgetReplaceable(TrackedAutoscaler& tracked) {
  const std::optional<Behavior>& behavior = tracked.inputs.managed->autoscaler.behavior;
  Decision& decision = tracked.decided.decision;
  if (decision.desired < decision.current || !behavior.has_value()) return;
  DropOutdatedAdditions(*behavior, decision.now, decision.state);
}

bool IsRemoval(const std::optional<UnconfirmedWrite>& write) {
  return write.has_value() && write->to < write->from;
}

// After an addition whose outcome is not known, or a conflict that left the count, the count does
// not show an earlier removal any more whose outcome was not known either. So that removal counts
// from now on. If it had no effect, this only delays the next one.
void CountEarlierRemoval(const std::optional<UnconfirmedWrite>& before, absl::Time now,
                         ScalerState& state) {
  if (!IsRemoval(before)) return;
  state.scale_downs.push_back({.change = WrapSub32(before->from, before->to), .time = now});
}

using Kind = WriteOutcome::Kind;

absl::Status Drop(Kind kind, absl::string_view why, WriteOutcome& write) {
  write.kind = kind;
  return absl::AbortedError(why);
}

// After a conflict. A scale that no watch reports is asked for again.
absl::Status DecideAnew(absl::string_view why, TrackedAutoscaler& tracked, WriteOutcome& write) {
  tracked.inputs.target.question = nullptr;
  return Drop(Kind::kOutdated, why, write);
}

bool HaveSamePods(const kube::Scale& a, const kube::Scale& b) {
  return a.status_replicas == b.status_replicas && a.selector == b.selector;
}

constexpr int kAttempts = 5;
constexpr absl::Duration kBudgetWait = absl::Seconds(10);
// The longest wait of a removal: slow writes wait for each other, and the load may rise meanwhile.
constexpr absl::Duration kOldestRemoval = absl::Seconds(15);

}  // namespace

absl::Status ActStep::AskWhetherCurrent(const CycleInputs& inputs) {
  const AutoscalerKey& key = inputs.managed->key;
  const absl::StatusOr<std::string> stored = deps_.client.Get(AutoscalerPath(key));
  if (!stored.ok()) return stored.status();
  ManagedPtr latest = ReadManaged(key.kind, *stored);
  if (latest != nullptr) latest = ScheduledAt(latest, deps_.mode, deps_.clock.WallNow());
  if (latest == nullptr || latest->spec_hash != inputs.managed->spec_hash ||
      EffectiveMode(*latest, deps_.mode) != inputs.mode) {
    return absl::AbortedError("the autoscaler has been replaced meanwhile");
  }
  return absl::OkStatus();
}

// The target may have more replicas now than its status showed when the watch began to fail. If the
// watch of pods fails now, or failed when this was decided, the pods in the decision may not be the
// target's any more.
std::string ActStep::Stalled() const {
  if (deps_.stalls == nullptr || !deps_.stalls->IsRecent(deps_.clock.MonotonicNow())) return "";
  return "this process did not run for a while, and may not have read yet what it has missed";
}

std::string ActStep::WhyStale(const TrackedAutoscaler& tracked) const {
  std::string failure = tracked.inputs.scale.failure;
  if (failure.empty()) failure = tracked.inputs.pods.failure;
  if (failure.empty()) failure = deps_.pods.Failure(tracked.key.ns);
  if (failure.empty()) failure = Stalled();
  return failure.empty() ? "" : absl::StrCat("it is not scaled down meanwhile: ", failure);
}

std::string ActStep::WhyHeld(const TrackedAutoscaler& tracked) {
  const Decision& decision = tracked.decided.decision;
  if (!tracked.decided.restored || !deps_.ownership.MayShrink(tracked.key, decision.current)) {
    return "it is not scaled down until its saved history was read or could be written";
  }
  if (decision.desired == 0 && SleepsByCondition(tracked.inputs) &&
      !deps_.ownership.MayPutToSleep(tracked.key)) {
    return "it is not put to sleep until that could be written down";
  }
  return WhyStale(tracked);
}

absl::Status ActStep::Stands(const TrackedAutoscaler& tracked, absl::FunctionRef<bool()> is_current,
                             WriteOutcome& write) {
  const Decision& decision = tracked.decided.decision;
  if (!is_current()) {
    return Drop(Kind::kOutdated, "the autoscaler has been replaced meanwhile", write);
  }
  if (decision.desired >= decision.current) return absl::OkStatus();
  if (deps_.clock.MonotonicNow() - tracked.decided.at > kOldestRemoval) {
    return Drop(
        Kind::kOutdated,
        absl::StrCat("it was decided more than ", absl::FormatDuration(kOldestRemoval), " ago"),
        write);
  }
  if (const std::string why = WhyHeld(tracked); !why.empty()) {
    return Drop(Kind::kHeld, why, write);
  }
  return absl::OkStatus();
}

absl::Status ActStep::MayWrite(const TrackedAutoscaler& tracked,
                               absl::FunctionRef<bool()> is_current, WriteOutcome& write) {
  RETURN_IF_ERROR(Stands(tracked, is_current, write));
  const Decision& decision = tracked.decided.decision;
  std::string failure = deps_.autoscalers.Failure(tracked.key);
  if (failure.empty()) failure = Stalled();
  if (!failure.empty()) {
    if (const absl::Status status = AskWhetherCurrent(tracked.inputs); !status.ok()) {
      return Drop(Kind::kDropped, absl::StrCat(failure, "; asked for it: ", status.message()),
                  write);
    }
  }
  if (decision.desired == 0 && deps_.front != nullptr &&
      CarriesRequests(tracked.inputs.managed->own) &&
      !deps_.front->MayEnterZero(tracked.key.ToString())) {
    return Drop(Kind::kHeldByFront, "zero waits until every request is sure to be seen", write);
  }
  // This is asked last, because the answer is valid only for a call that follows at once. The
  // autoscaler may have been lost and won back since it was decided.
  if (!deps_.ownership.MayWrite(tracked.key, deps_.clock.MonotonicNow())) {
    return Drop(Kind::kDropped, "another replica may own it", write);
  }
  if (deps_.ownership.Term(tracked.key) != tracked.decided.term) {
    return Drop(Kind::kOutdated, "another replica may have owned it meanwhile", write);
  }
  return absl::OkStatus();
}

absl::Time ActStep::Now(const TrackedAutoscaler& tracked) const {
  return tracked.decided.decision.now + (deps_.clock.MonotonicNow() - tracked.decided.at);
}

absl::Status ActStep::Write(TrackedAutoscaler& tracked, absl::FunctionRef<bool()> is_current,
                            WriteOutcome& write) {
  // What is not written takes nothing of the budget: many removals that are held would use up what
  // additions need, and so would those that are too old, each time that they are decided anew.
  RETURN_IF_ERROR(Stands(tracked, is_current, write));
  if (!deps_.budget.Take(kube::Priority::kScaleWrite, deps_.clock.MonotonicNow() + kBudgetWait)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the budget of writes left no room for ", absl::FormatDuration(kBudgetWait)));
  }
  const Decision& decision = tracked.decided.decision;
  const bool removes = decision.desired < decision.current;
  const kube::ResourceInfo& target = tracked.inputs.target.resource;
  kube::Scale read = *tracked.inputs.scale.scale;
  const std::optional<UnconfirmedWrite> before = tracked.written.unconfirmed;
  // If the watch has told of a later version with that count, it had no effect.
  const bool may_have_removed =
      IsRemoval(before) && before->resource_version == read.resource_version;
  const bool is_second = removes && may_have_removed;
  absl::Status conflict;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    RETURN_IF_ERROR(MayWrite(tracked, is_current, write));
    tracked.written.unconfirmed = UnconfirmedWrite{.uid = read.uid,
                                                   .generation = read.generation,
                                                   .resource_version = read.resource_version,
                                                   .from = decision.current,
                                                   .to = decision.desired,
                                                   .time = Now(tracked)};
    // Either of two removals without an answer may have taken effect.
    if (is_second) tracked.written.unconfirmed->to = std::min(before->to, decision.desired);
    // Much may happen before a request is sent again.
    absl::Status allowed;
    bool may_be_undone = may_have_removed;
    absl::StatusOr<kube::Scale> stored =
        kube::UpdateScale(deps_.client, target, read, decision.desired, [&](bool maybe_done) {
          may_be_undone = may_have_removed || (removes && maybe_done);
          allowed = MayWrite(tracked, is_current, write);
          return allowed.ok();
        });
    if (stored.ok()) {
      deps_.scales.Learn(target, *stored);
      return absl::OkStatus();
    }
    const bool conflicted = absl::IsAborted(stored.status());
    const bool refused = IsRefusal(stored.status());
    bool& had_no_effect = tracked.written.unconfirmed->refused;
    had_no_effect = absl::IsResourceExhausted(stored.status()) || (refused && !conflicted);
    // Of two removals this is said of the greater, whose count stands there.
    if (is_second && before->to == decision.desired) had_no_effect &= before->refused;
    if (is_second && before->to < decision.desired) had_no_effect = before->refused;
    // A refused write had no effect; somebody else may have set the same count. But the transport
    // repeats a request that got no answer: a removal that is then refused, or conflicts with
    // itself, may have taken effect before.
    if (refused && !removes) tracked.written.unconfirmed = before;
    // An addition that was refused may have taken effect before as well, and would have replaced
    // an outdated one.
    if (refused && !conflicted && !removes) ForgetReplaceable(tracked);
    if (!refused && !removes) {
      CountEarlierRemoval(before, Now(tracked), tracked.decided.decision.state);
    }
    if (!allowed.ok()) {
      if (write.held()) write.kind = Kind::kDropped;  // an earlier try may have taken effect
      return allowed;
    }
    if (!conflicted) return stored.status();
    ++conflicts_;
    conflict = stored.status();
    absl::StatusOr<kube::Scale> latest = kube::GetScale(deps_.client, target, read.ns, read.name);
    if (!latest.ok()) return latest.status();
    deps_.scales.LearnAfterConflict(target, read, *latest);
    if (latest->uid != read.uid || latest->spec_replicas != decision.current) {
      if (latest->spec_replicas == decision.desired) ForgetReplaceable(tracked);
      return DecideAnew(absl::StrCat("the target has ", latest->spec_replicas,
                                     " replicas now, not ", decision.current),
                        tracked, write);
    }
    if (may_be_undone) {
      // It cannot take effect any more, but it may have, and somebody may have undone it.
      CountEarlierRemoval(removes ? tracked.written.unconfirmed : before, Now(tracked),
                          tracked.decided.decision.state);
      tracked.written.unconfirmed.reset();
      return DecideAnew("an earlier removal may have been undone meanwhile", tracked, write);
    }
    if (removes && !HaveSamePods(*latest, read)) {
      return DecideAnew("the target has other pods now than it was decided on", tracked, write);
    }
    read = *std::move(latest);
  }
  return conflict;
}

WriteOutcome ActStep::WriteScale(TrackedAutoscaler& tracked, const DecisionInput& input,
                                 absl::FunctionRef<bool()> is_current) {
  WriteOutcome write = {.kind = Kind::kFailed};
  const absl::Status status = Write(tracked, is_current, write);
  // A removal counts from when its answer came; an addition, after which removals are possible,
  // counts from when it was sent.
  const absl::Time answered = Now(tracked);
  const bool grows = tracked.decided.decision.desired > tracked.decided.decision.current;
  const bool sent = tracked.written.unconfirmed.has_value();
  const absl::Time made = grows && sent ? tracked.written.unconfirmed->time : answered;
  if (!grows && sent) tracked.written.unconfirmed->time = answered;
  if (deps_.front != nullptr && CarriesRequests(tracked.inputs.managed->own)) {
    const Decision& decision = tracked.decided.decision;
    deps_.front->ScaleWritten(tracked.key.ToString(), decision.current, decision.desired, status);
  }
  write.error = std::string(status.message());
  write.refused = write.kind == Kind::kFailed && IsRefusal(status) && !absl::IsAborted(status);
  if (!status.ok() && write.error.empty()) write.error = absl::StatusCodeToString(status.code());
  if (status.ok()) {
    write.kind = Kind::kWritten;
    ++written_;
    tracked.written.unconfirmed.reset();
    tracked.written.seen_replicas = tracked.decided.decision.desired;
  }
  if (write.dropped()) return write;
  const std::optional<Behavior>& behavior = tracked.inputs.managed->autoscaler.behavior;
  if (status.ok() && grows && behavior.has_value()) {
    DropReplaceableAdditions(*behavior, made, answered, tracked.decided.decision.state);
  }
  DecisionInput written = input;
  written.now = made;
  RecordScaleWrite(written, write.error, tracked.decided.decision);
  return write;
}

WriteOutcome ActStep::Pretend(TrackedAutoscaler& tracked, const DecisionInput& input) const {
  const CycleInputs& inputs = tracked.inputs;
  Decision& decision = tracked.decided.decision;
  if (inputs.mode == Mode::kAdvise && decision.desired < decision.current) {
    if (const std::string why = WhyStale(tracked); !why.empty()) {
      return {.kind = Kind::kHeld, .error = why};
    }
  }
  std::vector<ScaleEvent> ups = decision.state.scale_ups;
  std::vector<ScaleEvent> downs = decision.state.scale_downs;
  RecordScaleWrite(input, "", decision);
  decision.state.scale_ups = std::move(ups);
  decision.state.scale_downs = std::move(downs);
  // The status of an HPA is never written: it is compared with what its own controller says.
  if (inputs.mode != Mode::kAdvise || inputs.managed->key.kind != AutoscalerKind::kOwn) return {};
  decision.status.last_scale_time = StoredStatus(input).last_scale_time;
  SetCondition(decision,
               {.type = kAbleToScale,
                .reason = "ReplicasAdvised",
                .message = {"replicas advised: ", absl::AlphaNum(decision.desired).Piece()}});
  decision.status_changed = !SemanticallyEqual(StoredStatus(input), decision.status);
  return {};
}

}  // namespace flyball::scaler
