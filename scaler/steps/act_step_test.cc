#include "scaler/steps/act_step.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kube/testing/fake_api_server.h"

namespace flyball::scaler {
namespace {

struct NoSink : AutoscalerSink {
  void OnAutoscaler(ManagedPtr) override {}
  void OnGone(const AutoscalerKey&) override {}
};

struct HoldingOwner : SoleOwner {
  bool MayShrink(const AutoscalerKey&, int32_t) override { return may_shrink; }
  bool may_shrink = true;
};

struct NotWritten {
  std::string name;
  absl::Duration waited;  // since it was decided
  bool current = true;    // the autoscaler is as it was decided on
  bool may_shrink = true;
};

class ActStepBudget : public testing::TestWithParam<NotWritten> {};

// A thousand removals that are not written would else keep an addition waiting, and those that are
// too old would take the budget again each time that they are decided anew.
TEST_P(ActStepBudget, IsForWhatIsWritten) {
  kube::FakeApiServer api;
  SimulatedClock clock(absl::FromUnixSeconds(1767225600));
  const std::unique_ptr<http::HttpTransport> server = api.Connect();
  kube::ApiClient client(*server, clock);
  kube::RequestBudget budget(clock, 0.001, 1);
  HoldingOwner owner;
  owner.may_shrink = GetParam().may_shrink;
  ScaleStore scales(clock, {}, [](const auto&, const auto&, auto&) {});
  const PodStore pods(clock, nullptr);
  NoSink sink;
  const AutoscalerStore autoscalers(clock, sink);
  ActStep act({.client = client,
               .budget = budget,
               .clock = clock,
               .ownership = owner,
               .scales = scales,
               .pods = pods,
               .autoscalers = autoscalers,
               .mode = {}});
  TrackedAutoscaler tracked({.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"});
  tracked.inputs.managed = std::make_shared<Managed>();
  tracked.inputs.scale.scale = std::make_shared<kube::Scale>();
  tracked.decided.restored = true;
  tracked.decided.decision.current = 8;
  tracked.decided.decision.desired = 7;
  tracked.decided.at = clock.MonotonicNow();
  clock.Advance(GetParam().waited);

  const WriteOutcome write =
      act.WriteScale(tracked, DecisionInput(), [] { return GetParam().current; });
  EXPECT_TRUE(write.dropped());
  EXPECT_EQ(write.held(), !GetParam().may_shrink);
  EXPECT_EQ(api.CountRequests("PUT", ""), 0);
  EXPECT_TRUE(budget.Take(kube::Priority::kScaleWrite, clock.MonotonicNow()));
}

INSTANTIATE_TEST_SUITE_P(Rows, ActStepBudget,
                         testing::Values(NotWritten{"Held", absl::ZeroDuration(), true, false},
                                         NotWritten{"TooOld", absl::Seconds(16), true, true},
                                         NotWritten{"Replaced", absl::Seconds(1), false, true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::scaler
