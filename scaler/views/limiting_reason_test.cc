#include "scaler/views/limiting_reason.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace flyball::scaler {
namespace {

// A decision that followed one metric, whose count was computed and that nothing held back.
Decision Followed() {
  Decision decision;
  decision.outcome = Outcome::kDecided;
  decision.proposals.resize(2);
  decision.proposals[1].valid = true;
  decision.proposals[1].verdict = Verdict::kComputed;
  decision.combination.emplace().winner = 1;
  decision.stabilization.emplace();
  decision.stabilization->before = decision.stabilization->after = 5;
  decision.limiting.emplace();
  return decision;
}

TEST(LimitingReasonTest, OfEachDecision) {
  struct Row {
    std::string reason;
    std::function<void(Decision&)> change;
  };
  const std::vector<Row> rows = {
      {"none", [](Decision&) {}},
      {"scale_unknown", [](Decision& d) { d.outcome = Outcome::kScaleUnknown; }},
      {"scaled_to_zero", [](Decision& d) { d.outcome = Outcome::kSwitchedOff; }},
      {"metrics_failed", [](Decision& d) { d.outcome = Outcome::kMetricsFailed; }},
      {"max_replicas", [](Decision& d) { d.outcome = Outcome::kAboveMax; }},
      {"min_replicas", [](Decision& d) { d.outcome = Outcome::kBelowMin; }},
      {"tolerance", [](Decision& d) { d.proposals[1].verdict = Verdict::kWithinTolerance; }},
      {"missing_pods", [](Decision& d) { d.proposals[1].verdict = Verdict::kWouldFlip; }},
      {"missing_pods", [](Decision& d) { d.proposals[1].verdict = Verdict::kWouldReverse; }},
      {"metrics_failed", [](Decision& d) { d.proposals[1].verdict = Verdict::kInstead; }},
      {"none",
       [](Decision& d) {
         d.proposals[1].verdict = Verdict::kInstead;
         d.proposals[1].activity_only = true;
       }},
      {"pending_capacity", [](Decision& d) { d.pending = PendingHold{.before = 9, .after = 5}; }},
      {"stabilization", [](Decision& d) { d.stabilization->after = 7; }},
      {"scale_up_policy", [](Decision& d) { d.limiting->by = LimitedBy::kScaleUpLimit; }},
      {"scale_down_policy", [](Decision& d) { d.limiting->by = LimitedBy::kScaleDownLimit; }},
      {"max_replicas", [](Decision& d) { d.limiting->by = LimitedBy::kMaxReplicas; }},
      {"min_replicas", [](Decision& d) { d.limiting->by = LimitedBy::kMinReplicas; }},
      // What came last is named.
      {"max_replicas",
       [](Decision& d) {
         d.stabilization->after = 7;
         d.limiting->by = LimitedBy::kMaxReplicas;
       }},
      {"stabilization",
       [](Decision& d) {
         d.stabilization->after = 7;
         d.proposals[1].verdict = Verdict::kWithinTolerance;
       }},
      {"none", [](Decision& d) { d.combination.reset(); }},
      {"none", [](Decision& d) { d.limiting.reset(); }},
  };
  std::vector<std::string> seen;
  for (const Row& row : rows) {
    Decision decision = Followed();
    row.change(decision);
    EXPECT_EQ(LimitingReason(decision), row.reason);
    seen.push_back(row.reason);
  }
  for (const absl::string_view word : kLimitingReasons) {
    EXPECT_NE(std::find(seen.begin(), seen.end(), word), seen.end()) << word;
  }
}

}  // namespace
}  // namespace flyball::scaler
