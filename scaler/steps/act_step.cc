#include "scaler/steps/act_step.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kube/client/scale.h"
#include "scaler/math/reconcile.h"
#include "scaler/views/status_json.h"

namespace flyball::scaler {
namespace {

constexpr int kAttempts = 5;
constexpr absl::Duration kBudgetWait = absl::Seconds(10);

}  // namespace

absl::Status ActStep::AskWhetherCurrent(const Entry& entry) {
  const absl::StatusOr<std::string> stored = parts_.client.Get(AutoscalerPath(entry.key));
  if (!stored.ok()) return stored.status();
  const ManagedPtr latest = ReadManaged(entry.key.kind, *stored);
  if (latest == nullptr || latest->spec_hash != entry.managed->spec_hash ||
      EffectiveMode(*latest, parts_.mode) != entry.mode) {
    return absl::AbortedError("the autoscaler is another one by now");
  }
  return absl::OkStatus();
}

absl::Status ActStep::MayWrite(const Entry& entry, absl::FunctionRef<bool()> is_current,
                               bool& anew) {
  if (!is_current()) {
    anew = true;
    return absl::AbortedError("the autoscaler is another one by now");
  }
  const bool shrinks = entry.decision.desired < entry.decision.current;
  if (shrinks && (!entry.restored || !parts_.ownership.MayShrink(entry.key))) {
    return absl::AbortedError(
        "not made smaller until what is remembered of it was read or written down");
  }
  if (const std::string failure = shrinks ? parts_.pods.Failure() : ""; !failure.empty()) {
    return absl::AbortedError(absl::StrCat("not made smaller meanwhile: ", failure));
  }
  const std::string failure = parts_.autoscalers.Failure(entry.key);
  if (!failure.empty()) {
    if (const absl::Status status = AskWhetherCurrent(entry); !status.ok()) {
      return absl::AbortedError(absl::StrCat(failure, "; asked for it: ", status.message()));
    }
  }
  // The last of all: it holds for the call that follows and no longer.
  if (!parts_.ownership.MayWrite(entry.key, parts_.clock.MonotonicNow())) {
    return absl::AbortedError("another replica may own it");
  }
  return absl::OkStatus();
}

absl::Status ActStep::Write(Entry& entry, absl::FunctionRef<bool()> is_current) {
  if (!parts_.budget.Take(kube::Priority::kScaleWrite, parts_.clock.MonotonicNow() + kBudgetWait)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the budget of writes left no room for ", absl::FormatDuration(kBudgetWait)));
  }
  const kube::ResourceInfo& target = entry.target.resource;
  kube::Scale read = *entry.scale.scale;
  absl::Status conflict;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (absl::Status status = MayWrite(entry, is_current, entry.decide_anew); !status.ok()) {
      entry.dropped = true;
      return status;
    }
    entry.unconfirmed = UnconfirmedWrite{
        .from = entry.decision.current, .to = entry.decision.desired, .time = entry.decision.now};
    absl::StatusOr<kube::Scale> stored =
        kube::UpdateScale(parts_.client, target, read, entry.decision.desired);
    if (stored.ok()) {
      parts_.scales.Learn(target, *stored);
      return absl::OkStatus();
    }
    if (!absl::IsAborted(stored.status())) return stored.status();
    ++conflicts_;
    conflict = stored.status();
    absl::StatusOr<kube::Scale> latest = kube::GetScale(parts_.client, target, read.ns, read.name);
    if (!latest.ok()) return latest.status();
    parts_.scales.Learn(target, *latest);
    if (latest->uid != read.uid || latest->spec_replicas != entry.decision.current) {
      entry.dropped = true;
      entry.decide_anew = true;
      return absl::AbortedError(absl::StrCat("the target has ", latest->spec_replicas,
                                             " replicas now, not ", entry.decision.current));
    }
    read = *std::move(latest);
  }
  return conflict;
}

void ActStep::WriteScale(Entry& entry, const DecisionInput& input,
                         absl::FunctionRef<bool()> is_current) {
  const MonotonicTime begun = parts_.clock.MonotonicNow();
  const absl::Status status = Write(entry, is_current);
  const absl::Duration took = parts_.clock.MonotonicNow() - begun;
  entry.scale_written = status.ok();
  entry.scale_error = std::string(status.message());
  if (status.ok()) {
    ++written_;
    entry.unconfirmed.reset();
    entry.seen_replicas = entry.decision.desired;
  }
  if (entry.dropped) return;
  DecisionInput written = input;
  // A change counts from when it was made; by the clock of the decision, which may have been set
  // meanwhile, as all that is remembered is.
  written.now = input.now + took;
  RecordScaleWrite(written, entry.scale_error, entry.decision);
}

void ActStep::Pretend(const DecisionInput& input, Decision& decision) {
  std::vector<ScaleEvent> ups = decision.state.scale_ups;
  std::vector<ScaleEvent> downs = decision.state.scale_downs;
  RecordScaleWrite(input, "", decision);
  decision.state.scale_ups = std::move(ups);
  decision.state.scale_downs = std::move(downs);
}

}  // namespace flyball::scaler
