#include "scaler/loop/act_step.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kube/scale.h"
#include "scaler/math/reconcile.h"

namespace flyball::scaler {
namespace {

constexpr int kAttempts = 5;
constexpr absl::Duration kBudgetWait = absl::Seconds(10);

}  // namespace

absl::Status ActStep::Write(Entry& entry) {
  if (!parts_.budget.Take(kube::Priority::kScaleWrite, parts_.clock.MonotonicNow() + kBudgetWait)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the budget of writes left no room for ", absl::FormatDuration(kBudgetWait)));
  }
  const kube::ResourceInfo& target = entry.target.resource;
  kube::Scale read = *entry.scale.scale;
  absl::Status conflict;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (!parts_.ownership.MayWrite(entry.key, parts_.clock.MonotonicNow())) {
      entry.dropped = true;
      return absl::AbortedError("another replica may own it");
    }
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
    if (latest->spec_replicas != entry.decision.current) {
      entry.dropped = true;
      entry.decide_anew = true;
      return absl::AbortedError(absl::StrCat("the target has ", latest->spec_replicas,
                                             " replicas now, not ", entry.decision.current));
    }
    read = *std::move(latest);
  }
  return conflict;
}

void ActStep::WriteScale(Entry& entry, const DecisionInput& input) {
  const absl::Status status = Write(entry);
  entry.scale_written = status.ok();
  entry.scale_error = std::string(status.message());
  if (status.ok()) ++written_;
  if (entry.dropped) return;
  RecordScaleWrite(input, entry.scale_error, entry.decision);
}

void ActStep::Pretend(const DecisionInput& input, Decision& decision) {
  std::vector<ScaleEvent> ups = decision.state.scale_ups;
  std::vector<ScaleEvent> downs = decision.state.scale_downs;
  RecordScaleWrite(input, "", decision);
  decision.state.scale_ups = std::move(ups);
  decision.state.scale_downs = std::move(downs);
}

}  // namespace flyball::scaler
