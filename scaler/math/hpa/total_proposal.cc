#include "scaler/math/hpa/formulas.h"

#include <cmath>
#include <limits>

#include "base/go/arithmetic.h"

namespace flyball::scaler {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int32_t kMaxInt32 = std::numeric_limits<int32_t>::max();

// How upstream adds series.
enum class Summing {
  kWraps,
  kSaturates,       // at the first amount that is too much; the rest is ignored
  kNegativeIsMost,  // the first negative partial sum is read as an overflow
};

int64_t Sum(absl::Span<const int64_t> amounts, Summing summing) {
  int64_t sum = 0;
  for (const int64_t amount : amounts) {
    const bool too_much = amount > 0 && sum > kMaxInt64 - amount;
    if (summing == Summing::kSaturates && too_much) return kMaxInt64;
    sum = WrapAdd(sum, amount);
    if (summing == Summing::kNegativeIsMost && sum < 0) return kMaxInt64;
  }
  return sum;
}

}  // namespace

absl::Status ProposeFromTotal(const TotalQuery& query, Proposal& proposal) {
  proposal.sum_milli =
      Sum(query.amounts_milli, query.saturates ? Summing::kSaturates : Summing::kWraps);
  proposal.measured_milli = proposal.sum_milli;
  proposal.base_replicas = query.current;
  proposal.ratio =
      static_cast<double>(proposal.sum_milli) / static_cast<double>(proposal.target_milli);
  if (query.current == 0) {
    proposal.formula = Formula::kTotalFromZero;
    proposal.verdict = Verdict::kComputed;
    proposal.multiplier = 1;
    proposal.replicas = GoInt32(std::ceil(proposal.ratio));
    return absl::OkStatus();
  }
  proposal.formula = Formula::kTotalPerReadyPod;
  if (proposal.tolerance.Holds(proposal.ratio)) {
    proposal.verdict = Verdict::kWithinTolerance;
    proposal.replicas = query.current;
    return absl::OkStatus();
  }
  if (query.table.empty()) {
    return absl::FailedPreconditionError(
        "no pods returned by selector while calculating replica count");
  }
  proposal.verdict = Verdict::kComputed;
  proposal.groups.ready = query.table.running_and_ready();
  proposal.multiplier = static_cast<double>(query.table.running_and_ready());
  const double count = proposal.ratio * proposal.multiplier;
  const bool capped = query.saturates && count > static_cast<double>(kMaxInt32);
  proposal.replicas = capped ? kMaxInt32 : GoInt32(std::ceil(count));
  return absl::OkStatus();
}

void ProposeFromTotalPerReplica(absl::Span<const int64_t> amounts_milli, bool external,
                                int32_t current, Proposal& proposal) {
  proposal.formula = Formula::kTotalOverTarget;
  proposal.sum_milli = Sum(amounts_milli, external ? Summing::kNegativeIsMost : Summing::kWraps);
  proposal.base_replicas = current;
  const double total = static_cast<double>(proposal.sum_milli);
  const double target = static_cast<double>(proposal.target_milli);
  proposal.multiplier = static_cast<double>(current);
  proposal.ratio = total / (target * proposal.multiplier);
  if (proposal.tolerance.Holds(proposal.ratio)) {
    proposal.verdict = Verdict::kWithinTolerance;
    proposal.replicas = current;
  } else {
    proposal.verdict = Verdict::kComputed;
    const double count = std::ceil(total / target);
    const bool capped = external && count > static_cast<double>(kMaxInt32);
    proposal.replicas = capped ? kMaxInt32 : GoInt32(count);
  }
  // As a double, the largest int64 is 2^63.
  const bool overflowed = external && total >= 9223372036854775808.0;
  proposal.measured_milli =
      overflowed ? kMaxInt64 : GoInt64(std::ceil(total / proposal.multiplier));
}

}  // namespace flyball::scaler
