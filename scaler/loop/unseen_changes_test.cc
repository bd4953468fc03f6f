// Courses in which something happens that a replica does not see at once, or never, and that once
// made a wrong count be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scaler/testing/simulation.h"

namespace flyball::scaler {
namespace {

using testing::IsEmpty;

const SimulatedCluster::Target kWeb = {"shop", "web"};
const AutoscalerKey kHpa = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"};

AutoscalerText Following(const AutoscalerKey& key, const std::string& spec) {
  return {.key = key,
          .metrics = MetricOf('a', "web", 10),
          .spec = absl::StrCat(R"(,"minReplicas":1,"maxReplicas":20)", spec),
          .annotations = ""};
}

class UnseenChanges : public testing::Test {
 protected:
  void Make(const AutoscalerText& text, int replicas) {
    sim.cluster.PutDeployment(kWeb, replicas);
    sim.cluster.PutAutoscaler(text.Json());
  }
  int Replicas() const { return sim.cluster.Replicas(kWeb); }

  Simulation sim{1};
};

// The first list told of it and broke off; the second does not tell of it any more.
TEST_F(UnseenChanges, WhatEndsBetweenAListInPartAndTheNextIsGone) {
  SimulatedReplica& replica = sim.AddReplica();
  replica.BreakWatch("horizontalpodautoscalers", absl::UnavailableError("connection reset"));
  sim.Set(kWeb, 'a', 20'000);
  Make(Following(kHpa, ""), 2);
  sim.Run(absl::Seconds(5));
  replica.ListInPart("horizontalpodautoscalers", 1);
  sim.Run(absl::Seconds(20));
  sim.cluster.DeleteAutoscaler(kHpa);
  replica.HealWatch("horizontalpodautoscalers", /*list_anew=*/true);
  sim.Set(kWeb, 'a', 40'000);
  sim.Run(absl::Minutes(1));
  EXPECT_EQ(Replicas(), 2);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

}  // namespace
}  // namespace flyball::scaler
