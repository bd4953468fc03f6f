// links: scaler_explain
//
// Any bytes as the file of `flyball decide -f`: what is decided stays inside the bounds, is the
// same when decided again, and can be printed in every form.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "scaler/explain/explain.h"
#include "scaler/explain/given_case.h"
#include "scaler/explain/snapshot.h"

namespace {

using flyball::scaler::Autoscaler;
using flyball::scaler::Decision;
using flyball::scaler::Outcome;

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckBounds(const Autoscaler& autoscaler, const Decision& decision) {
  // Doubling a count above 2^30 wraps, as upstream's does.
  if (!decision.rescale || decision.current > (1 << 30)) return;
  Require(decision.desired >= autoscaler.min_or_default() ||
          decision.outcome == Outcome::kAboveMax);
  Require(decision.desired <= autoscaler.max_replicas || decision.outcome == Outcome::kBelowMin);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  flyball::scaler::ClusterSnapshot snapshot;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  if (!flyball::scaler::AddFile("fuzz", text, snapshot).ok()) return 0;
  flyball::scaler::CaseOptions options;
  options.now = absl::FromUnixSeconds(1772334000);
  options.now_source = "--at";
  for (const Autoscaler& autoscaler : snapshot.autoscalers) {
    const flyball::scaler::GivenCase once = DecideGiven(snapshot, autoscaler, options);
    CheckBounds(autoscaler, once.decision);
    const flyball::scaler::GivenCase again = DecideGiven(snapshot, autoscaler, options);
    const std::string shown = ExplainText(once);
    Require(shown == ExplainText(again));
    Require(shown.find("Why ") != std::string::npos);
    Require(ExplainJson(once) == ExplainJson(again));
    Require(ExplainYaml(once).size() > 4);
  }
  return 0;
}
