// A swinging run computed by the controller of Kubernetes 1.34.4: one External AverageValue 10; up
// window 30 s with Pods 3 / 60 s, down window 60 s with Percent 50 / 60 s.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scaler/math/hpa/testing/test_world.h"

namespace flyball::scaler {
namespace {

struct Step {
  int second;
  int32_t metric;
  int32_t proposal;
  int32_t written;
  const char* able;
  const char* recommendations;  // replicas@age, in list order
  const char* events;           // up / down
};

constexpr Step kSteps[] = {
    {0, 20, 2, 2, "ReadyForNewScale", "2@0 2@0", "/"},
    {15, 100, 10, 2, "ScaleUpStabilized", "2@15 2@15 10@0", "/"},
    {30, 100, 10, 5, "SucceededRescale", "2@30 2@30 10@15 10@0", "3@0/"},
    {45, 100, 10, 5, "ReadyForNewScale", "2@45 2@45 10@30 10@15 10@0", "3@15/"},
    {60, 120, 12, 5, "ScaleUpStabilized", "12@0 2@60 10@45 10@30 10@15", "3@30/"},
    {75, 30, 3, 5, "ScaleDownStabilized", "12@15 3@0 10@60 10@45 10@30", "3@45/"},
    {90, 30, 3, 5, "ScaleDownStabilized", "12@30 3@15 3@0 10@60 10@45", "3@60/"},
    {105, 30, 3, 5, "ScaleDownStabilized", "12@45 3@30 3@15 3@0 10@60", "3@75/"},
    {120, 30, 3, 3, "SucceededRescale", "12@60 3@45 3@30 3@15 3@0", "3@90/2@0"},
    {135, 30, 3, 3, "ReadyForNewScale", "3@0 3@60 3@45 3@30 3@15", "3@105/2@15"},
    {150, 0, 0, 3, "ScaleDownStabilized", "3@15 0@0 3@60 3@45 3@30", "3@120/2@30"},
    {165, 0, 0, 3, "ScaleDownStabilized", "3@30 0@15 0@0 3@60 3@45", "3@135/2@45"},
};

template <typename Entries, typename Count>
std::string Ages(const Entries& entries, absl::Time now, Count count) {
  std::string out;
  for (const auto& entry : entries) {
    absl::StrAppend(&out, out.empty() ? "" : " ", count(entry), "@",
                    absl::ToInt64Seconds(now - entry.time));
  }
  return out;
}

TEST(DecideTest, ARunOverTime) {
  TestWorld world;
  world.Bounds(1, 20).Replicas(2);
  world.Up({{PolicyType::kPods, 3, 60}}, SelectPolicy::kMax, 30);
  world.Down({{PolicyType::kPercent, 50, 60}}, SelectPolicy::kMax, 60);
  world.ExternalAverage("10", {"0"});
  Workspace workspace;
  Decision decision;
  int32_t replicas = 2;
  for (const Step& step : kSteps) {
    SCOPED_TRACE(step.second);
    const absl::Time now = kTestNow + absl::Seconds(step.second);
    world.readings[0].amounts_milli = {int64_t{step.metric} * 1000};
    // status.replicas follows a tick later.
    world.Replicas(replicas, world.scale.spec_replicas);
    world.DecideInto(now, workspace, decision);
    if (decision.rescaled) replicas = decision.desired;
    world.state = decision.state;
    EXPECT_EQ(decision.proposals[0].replicas, step.proposal);
    EXPECT_EQ(replicas, step.written);
    EXPECT_EQ(decision.status.conditions[0].reason, step.able);
    EXPECT_EQ(Ages(world.state.recommendations, now, [](const auto& r) { return r.replicas; }),
              step.recommendations);
    const auto change = [](const ScaleEvent& event) { return event.change; };
    EXPECT_EQ(absl::StrCat(Ages(world.state.scale_ups, now, change), "/",
                           Ages(world.state.scale_downs, now, change)),
              step.events);
  }
}

}  // namespace
}  // namespace flyball::scaler
