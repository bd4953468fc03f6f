#include "scaler/steps/act_step.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kube/objects/builtin_resources.h"
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

// One autoscaler, for whose target of 8 replicas 7 were decided just now, and a budget of a single
// write.
class Acting {
 public:
  Acting() {
    api_.Put(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop",)"
             R"("name":"web"},"spec":{"replicas":8,"selector":{"matchLabels":{"app":"web"}}},)"
             R"("status":{"replicas":8}})");
    tracked.inputs.managed = std::make_shared<Managed>();
    tracked.inputs.target.resource = kube::ResourceNamed("apps", "v1", "deployments", "Deployment");
    tracked.inputs.scale.scale = std::make_shared<const kube::Scale>(
        *kube::GetScale(client_, tracked.inputs.target.resource, "shop", "web"));
    tracked.decided.restored = true;
    tracked.decided.decision.current = 8;
    tracked.decided.decision.desired = 7;
    tracked.decided.decision.now = clock.WallNow();
    tracked.decided.at = clock.MonotonicNow();
  }

  WriteOutcome Write(bool current = true) {
    DecisionInput input;
    input.autoscaler = &tracked.inputs.managed->autoscaler;
    input.status = &tracked.decided.status;
    input.config = &config_;
    return act_.WriteScale(tracked, input, [current] { return current; });
  }
  void FailNextWrite(int status, const std::string& reason) {
    api_.Inject({.method = "PUT", .part = "/scale", .status = status, .reason = reason});
  }
  int Writes() const { return api_.CountRequests("PUT", "/scale"); }

 private:
  kube::FakeApiServer api_;
  const std::unique_ptr<http::HttpTransport> server_ = api_.Connect();
  const MathConfig config_;

 public:
  SimulatedClock clock{absl::FromUnixSeconds(1767225600)};
  kube::RequestBudget budget{clock, 0.001, 1};
  HoldingOwner owner;
  TrackedAutoscaler tracked{{.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"}};

 private:
  kube::ApiClient client_{*server_, clock};
  ScaleStore scales_{clock, {}, [](const auto&, const auto&, auto&) {}};
  const PodStore pods_{clock, nullptr};
  NoSink sink_;
  const AutoscalerStore autoscalers_{clock, sink_};
  ActStep act_{{.client = client_,
                .budget = budget,
                .clock = clock,
                .ownership = owner,
                .scales = scales_,
                .pods = pods_,
                .autoscalers = autoscalers_,
                .mode = {}}};
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
  Acting acting;
  acting.owner.may_shrink = GetParam().may_shrink;
  acting.clock.Advance(GetParam().waited);
  const WriteOutcome write = acting.Write(GetParam().current);
  EXPECT_TRUE(write.dropped());
  EXPECT_EQ(write.held(), !GetParam().may_shrink);
  EXPECT_EQ(acting.Writes(), 0);
  EXPECT_TRUE(acting.budget.Take(kube::Priority::kScaleWrite, acting.clock.MonotonicNow()));
}

INSTANTIATE_TEST_SUITE_P(Rows, ActStepBudget,
                         testing::Values(NotWritten{"Held", absl::ZeroDuration(), true, false},
                                         NotWritten{"TooOld", absl::Seconds(16), true, true},
                                         NotWritten{"Replaced", absl::Seconds(1), false, true}),
                         [](const auto& info) { return info.param.name; });

// The answer to a removal of three was lost.
UnconfirmedWrite RemovalOfThree(const kube::Scale& read) {
  return {.uid = read.uid,
          .generation = read.generation,
          .resource_version = read.resource_version,
          .from = 8,
          .to = 5,
          .time = absl::FromUnixSeconds(1767225590)};
}

TEST(ActStep, OfTwoRemovalsWithoutSuccessTheGreaterMayHaveTakenEffect) {
  for (const int status : {403, 500}) {
    Acting acting;
    acting.tracked.written.unconfirmed = RemovalOfThree(*acting.tracked.inputs.scale.scale);
    acting.FailNextWrite(status, "");
    const WriteOutcome write = acting.Write();
    EXPECT_EQ(write.kind, WriteOutcome::Kind::kFailed);
    EXPECT_EQ(write.refused, status == 403);
    ASSERT_TRUE(acting.tracked.written.unconfirmed.has_value());
    EXPECT_EQ(acting.tracked.written.unconfirmed->to, 5);
    EXPECT_FALSE(acting.tracked.written.unconfirmed->refused);
  }
}

// Only one that may have had an effect may have put a target to sleep. Else a target that a person
// switches off would wake again.
TEST(ActStep, OfTwoRemovalsTheGreaterSaysWhetherItWasRefused) {
  struct Row {
    int32_t before;
    bool refused_before;
    int32_t now;
    int status;
    bool refused;
  };
  for (const Row& row :
       {Row{5, true, 7, 500, true}, Row{5, false, 7, 403, false}, Row{7, false, 5, 403, true},
        Row{7, true, 5, 500, false}, Row{5, true, 5, 403, true}, Row{5, false, 5, 403, false}}) {
    Acting acting;
    acting.tracked.written.unconfirmed = RemovalOfThree(*acting.tracked.inputs.scale.scale);
    acting.tracked.written.unconfirmed->to = row.before;
    acting.tracked.written.unconfirmed->refused = row.refused_before;
    acting.tracked.decided.decision.desired = row.now;
    acting.FailNextWrite(row.status, "");
    (void)acting.Write();
    ASSERT_TRUE(acting.tracked.written.unconfirmed.has_value());
    EXPECT_EQ(acting.tracked.written.unconfirmed->to, 5);
    EXPECT_EQ(acting.tracked.written.unconfirmed->refused, row.refused)
        << row.before << " " << row.now << " " << row.status;
  }
}

// Somebody has changed the object since, and may have set the old count again.
TEST(ActStep, ARemovalThatMeetsAConflictCountsAnEarlierOneFirst) {
  Acting acting;
  acting.tracked.written.unconfirmed = RemovalOfThree(*acting.tracked.inputs.scale.scale);
  acting.FailNextWrite(409, "Conflict");
  const WriteOutcome write = acting.Write();
  EXPECT_EQ(write.kind, WriteOutcome::Kind::kOutdated);
  EXPECT_EQ(acting.Writes(), 1);
  EXPECT_FALSE(acting.tracked.written.unconfirmed.has_value());
  const std::vector<ScaleEvent>& removed = acting.tracked.decided.decision.state.scale_downs;
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].change, 3);
}

}  // namespace
}  // namespace flyball::scaler
