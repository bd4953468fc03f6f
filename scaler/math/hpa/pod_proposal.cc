#include "scaler/math/hpa/formulas.h"

#include <algorithm>
#include <cmath>

#include "absl/status/statusor.h"
#include "base/go/arithmetic.h"
#include "base/status_macros.h"

namespace flyball::scaler {
namespace {

absl::Status NoPods() {
  return absl::FailedPreconditionError(
      "no pods returned by selector while calculating replica count");
}

absl::Status NoUsableSample() {
  return absl::FailedPreconditionError(
      "did not receive metrics for targeted pods (pods might be unready)");
}

void Keep(Verdict verdict, int32_t current, Proposal& proposal) {
  proposal.verdict = verdict;
  proposal.replicas = current;
}

void Compute(double ratio, int64_t pods, Proposal& proposal) {
  proposal.verdict = Verdict::kComputed;
  proposal.multiplier = static_cast<double>(pods);
  proposal.replicas = GoInt32(std::ceil(ratio * proposal.multiplier));
}

// Makes the proposal if no gaps have to be filled in, and returns whether it did.
bool ProposeDirectly(const UsableSamples& usable, int32_t current, Proposal& proposal) {
  proposal.unready_as_zero = usable.counts.unready > 0 && proposal.ratio > 1.0;
  if (proposal.unready_as_zero || usable.counts.missing > 0) return false;
  if (proposal.tolerance.Holds(proposal.ratio)) {
    Keep(Verdict::kWithinTolerance, current, proposal);
  } else {
    Compute(proposal.ratio, usable.counts.ready, proposal);
  }
  return true;
}

// The last steps, after gaps were filled: `pods` counts all samples, also strangers and filled
// ones.
void ProposeRefilled(int64_t pods, int32_t current, Proposal& proposal) {
  const double before = proposal.ratio;
  const double after = proposal.refilled_ratio;
  if (proposal.tolerance.Holds(after)) return Keep(Verdict::kWithinTolerance, current, proposal);
  if ((before < 1.0 && after > 1.0) || (before > 1.0 && after < 1.0)) {
    return Keep(Verdict::kWouldFlip, current, proposal);
  }
  Compute(after, pods, proposal);
  if ((after < 1.0 && proposal.replicas > current) ||
      (after > 1.0 && proposal.replicas < current)) {
    proposal.discarded_replicas = proposal.replicas;
    Keep(Verdict::kWouldReverse, current, proposal);
  }
}

// How many samples the unready pods add.
int64_t FilledUnready(const UsableSamples& usable, const Proposal& proposal) {
  return proposal.unready_as_zero ? usable.counts.unready : 0;
}

struct Sums {
  int64_t milli = 0;
  int64_t requests_milli = 0;
};

// The share of the requests that is used, in whole percent; wraps as upstream's.
absl::Status MeasureUtilization(const Sums& sums, int32_t target, int32_t& percent, double& ratio) {
  if (sums.requests_milli == 0) {
    return absl::FailedPreconditionError("no metrics returned matched known pods");
  }
  percent = GoNarrow32(GoDiv(WrapMul(sums.milli, 100), sums.requests_milli));
  ratio = static_cast<double>(percent) / static_cast<double>(target);
  return absl::OkStatus();
}

// Adds to `sums` what pods without usable samples count as: missing pods as missing_percent of
// their request (nullopt: not at all), unready ones as no usage; the requests of both are added.
void FillUtilizationGaps(const GroupQuery& query, const std::vector<PodGroup>& groups,
                         const Proposal& proposal, Sums& sums) {
  for (size_t i = 0; i < groups.size(); ++i) {
    const int64_t request = query.requests->milli[i];
    if (groups[i] == PodGroup::kMissing && proposal.missing_percent.has_value()) {
      sums.milli = WrapAdd(sums.milli, GoDiv(WrapMul(request, *proposal.missing_percent), 100));
      sums.requests_milli = WrapAdd(sums.requests_milli, request);
    } else if (groups[i] == PodGroup::kUnready && proposal.unready_as_zero) {
      sums.requests_milli = WrapAdd(sums.requests_milli, request);
    }
  }
}

// The samples from which a proposal is made at `current` replicas; an error if there are none.
absl::StatusOr<UsableSamples> SamplesOf(const GroupQuery& query, int32_t current,
                                        Workspace& workspace, Proposal& proposal) {
  proposal.base_replicas = current;
  if (query.table.empty()) return NoPods();
  const UsableSamples usable = GroupPods(query, workspace);
  proposal.groups = usable.counts;
  proposal.valid_until = usable.valid_until;
  if (usable.count() == 0) return NoUsableSample();
  return usable;
}

}  // namespace

absl::Status ProposeFromMean(const GroupQuery& query, int32_t current, Workspace& workspace,
                             Proposal& proposal) {
  proposal.formula = Formula::kPodAverage;
  ASSIGN_OR_RETURN(const UsableSamples usable, SamplesOf(query, current, workspace, proposal));

  const double target = static_cast<double>(proposal.target_milli);
  proposal.sum_milli = usable.sum_milli;
  proposal.samples_counted = usable.count();
  proposal.measured_milli = GoDiv(usable.sum_milli, usable.count());
  proposal.ratio = static_cast<double>(proposal.measured_milli) / target;
  if (ProposeDirectly(usable, current, proposal)) return absl::OkStatus();

  proposal.refilled = true;
  if (usable.counts.missing > 0 && proposal.ratio < 1.0) {
    proposal.missing_milli = proposal.target_milli;
  } else if (usable.counts.missing > 0 && proposal.ratio > 1.0) {
    proposal.missing_milli = 0;
  }
  const int64_t missing = proposal.missing_milli.has_value() ? usable.counts.missing : 0;
  proposal.refilled_samples = usable.count() + missing + FilledUnready(usable, proposal);
  proposal.refilled_sum_milli =
      WrapAdd(usable.sum_milli, WrapMul(missing, proposal.missing_milli.value_or(0)));
  proposal.refilled_ratio =
      static_cast<double>(GoDiv(proposal.refilled_sum_milli, proposal.refilled_samples)) / target;
  ProposeRefilled(proposal.refilled_samples, current, proposal);
  return absl::OkStatus();
}

absl::Status ProposeFromUtilization(const GroupQuery& query, int32_t current, Workspace& workspace,
                                    Proposal& proposal) {
  proposal.formula = Formula::kPodUtilization;
  ASSIGN_OR_RETURN(const UsableSamples usable, SamplesOf(query, current, workspace, proposal));
  if (!query.requests->error.empty()) return absl::FailedPreconditionError(query.requests->error);

  const int32_t target = proposal.target_utilization;
  Sums sums{.milli = usable.ready_sum_milli, .requests_milli = usable.ready_requests_milli};
  proposal.sum_milli = sums.milli;
  proposal.requests_milli = sums.requests_milli;
  proposal.samples_counted = usable.counts.ready;
  int32_t percent = 0;
  RETURN_IF_ERROR(MeasureUtilization(sums, target, percent, proposal.ratio));
  proposal.utilization = percent;
  proposal.measured_milli = GoDiv(sums.milli, usable.counts.ready);
  if (ProposeDirectly(usable, current, proposal)) return absl::OkStatus();

  proposal.refilled = true;
  if (usable.counts.missing > 0 && proposal.ratio < 1.0) {
    proposal.missing_percent = std::max(100, target);
  } else if (usable.counts.missing > 0 && proposal.ratio > 1.0) {
    proposal.missing_percent = 0;
  }
  FillUtilizationGaps(query, workspace.groups, proposal, sums);
  const int64_t missing = proposal.missing_percent.has_value() ? usable.counts.missing : 0;
  proposal.refilled_samples = usable.count() + missing + FilledUnready(usable, proposal);
  proposal.refilled_sum_milli = sums.milli;
  proposal.refilled_requests_milli = sums.requests_milli;
  RETURN_IF_ERROR(MeasureUtilization(sums, target, percent, proposal.refilled_ratio));
  ProposeRefilled(proposal.refilled_samples, current, proposal);
  return absl::OkStatus();
}

}  // namespace flyball::scaler
