#include "scaler/math/hpa/combine.h"

#include "absl/strings/str_cat.h"

namespace flyball::scaler {

Combination Combine(const std::vector<Proposal>& proposals, int32_t current) {
  Combination out;
  out.total = proposals.size();
  const Proposal* first_invalid = nullptr;
  for (size_t i = 0; i < proposals.size(); ++i) {
    const Proposal& proposal = proposals[i];
    if (!proposal.valid) {
      ++out.invalid;
      if (first_invalid == nullptr) first_invalid = &proposal;
      continue;
    }
    // As upstream: a negative proposal stands only until the next one that is larger.
    if (out.replicas == 0 || proposal.replicas > out.replicas) {
      out.replicas = proposal.replicas;
      out.winner = i;
    }
  }
  if (first_invalid != nullptr) {
    out.error = absl::StrCat("invalid metrics (", out.invalid, " invalid out of ", out.total,
                             "), first error is: ", first_invalid->wrapped_error);
  }
  if (proposals.empty()) out.error = "no metric is specified";
  out.gave_up = out.invalid >= out.total || (out.invalid > 0 && out.replicas < current);
  return out;
}

}  // namespace flyball::scaler
