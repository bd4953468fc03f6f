#include "doctor/autoscaler.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "doctor/test_findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::doctor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr absl::Time kNow = absl::FromUnixSeconds(1700000000);

scaler::Pod ReadyPod(std::string name, bool ready = true) {
  scaler::Pod pod;
  pod.name = std::move(name);
  pod.phase = scaler::PodPhase::kRunning;
  pod.ready = scaler::ReadyCondition{
      ready ? scaler::ConditionStatus::kTrue : scaler::ConditionStatus::kFalse, kNow};
  return pod;
}

// shop/web, an HPA of Deployment web with two ready pods.
AutoscalerFacts Web() {
  AutoscalerFacts facts;
  facts.key.ns = "shop";
  facts.key.name = "web";
  facts.autoscaler.scale_target = {"apps/v1", "Deployment", "web"};
  kube::Scale scale;
  scale.spec_replicas = scale.status_replicas = 2;
  scale.selector = "app=web";
  facts.scale = scale;
  facts.measured.ns = "shop";
  facts.measured.selector = "app=web";
  facts.measured.pods = {ReadyPod("web-1"), ReadyPod("web-2")};
  scaler::Condition active;
  active.type = "ScalingActive";
  active.status = scaler::ConditionStatus::kTrue;
  active.reason = "ValidMetricFound";
  active.message = "the HPA was able to";
  facts.autoscaler.status.conditions = {active};
  return facts;
}

TEST(CheckAutoscaler, ACountIsNoGoodNewsWhileNoPodIsReady) {
  AutoscalerFacts facts = Web();
  facts.measured.pods = {ReadyPod("web-1", false), ReadyPod("web-2", false)};
  EXPECT_THAT(Lines(CheckAutoscaler(facts, kNow)),
              AllOf(Contains(StartsWith("bad pods: Deployment web has 2 of 2 replicas, and none of "
                                        "its pods is ready")),
                    Not(Contains(StartsWith("good target")))));
}

TEST(CheckAutoscaler, IsAllGood) {
  EXPECT_THAT(Lines(CheckAutoscaler(Web(), kNow)),
              ElementsAre("good target: Deployment web has 2 of 2 replicas",
                          "good pods: all 2 pods are ready",
                          "good condition: ScalingActive=True (ValidMetricFound): the HPA was "
                          "able to"));
}

// At zero replicas ScalingActive has these reasons too.
TEST(CheckAutoscaler, NoFaultIsThatNoTriggerIsActive) {
  AutoscalerFacts facts = Web();
  scaler::Condition& condition = facts.autoscaler.status.conditions[0];
  condition.status = scaler::ConditionStatus::kFalse;
  for (const char* type : {"Active", "ScalingActive"}) {
    for (const char* reason : {"ScalerNotActive", "ScalerCooldown"}) {
      condition.type = type;
      condition.reason = reason;
      EXPECT_THAT(Lines(CheckAutoscaler(facts, kNow)),
                  Contains(StartsWith(absl::StrCat("good condition: ", type, "=False"))));
    }
  }
  condition.reason = "TriggerError";
  EXPECT_THAT(Lines(CheckAutoscaler(facts, kNow)), Contains(StartsWith("bad condition: ")));
}

struct AutoscalerRow {
  std::string name;
  std::function<void(AutoscalerFacts&)> breaks;
  std::string line, fix;
};

class CheckAutoscalerTest : public testing::TestWithParam<AutoscalerRow> {};

TEST_P(CheckAutoscalerTest, Row) {
  AutoscalerFacts facts = Web();
  GetParam().breaks(facts);
  EXPECT_THAT(
      Lines(CheckAutoscaler(facts, kNow)),
      Contains(AllOf(HasSubstr(GetParam().line), HasSubstr(" | "), HasSubstr(GetParam().fix))));
}

void Fail(AutoscalerFacts& facts, const char* type, const char* reason) {
  scaler::Condition& condition = facts.autoscaler.status.conditions[0];
  condition.type = type;
  condition.reason = reason;
  condition.status = scaler::ConditionStatus::kFalse;
}

INSTANTIATE_TEST_SUITE_P(
    Links, CheckAutoscalerTest,
    testing::Values(
        AutoscalerRow{"UnknownKind",
                      [](AutoscalerFacts& f) {
                        f.autoscaler.scale_target = {"example.com/v1", "Widget", "web"};
                        f.target_kind = absl::NotFoundError("no such kind");
                      },
                      "bad target: the cluster knows no Widget of example.com/v1",
                      "spec.scaleTargetRef.apiVersion"},
        AutoscalerRow{"NoTarget",
                      [](AutoscalerFacts& f) {
                        f.scale = absl::NotFoundError("deployments.apps \"web\" not found");
                        f.target = absl::NotFoundError("deployments.apps \"web\" not found");
                      },
                      "bad target: Deployment web: deployments.apps \"web\" not found",
                      "create the target"},
        AutoscalerRow{"NoScaleSubresource",
                      [](AutoscalerFacts& f) {
                        f.scale =
                            absl::NotFoundError("the server could not find the requested resource");
                      },
                      "bad target: Deployment web has no scale subresource", "subresources.scale"},
        AutoscalerRow{
            "MayNotReadTheScale",
            [](AutoscalerFacts& f) { f.scale = absl::PermissionDeniedError("forbidden"); },
            "doubtful target", "may get its scale"},
        AutoscalerRow{"NoSelector", [](AutoscalerFacts& f) { f.scale->selector = ""; },
                      "bad target-selector", "labelSelectorPath"},
        AutoscalerRow{"NoPods", [](AutoscalerFacts& f) { f.measured.pods.clear(); },
                      "bad pods: no pod has the labels app=web",
                      "kubectl -n shop get pods -l 'app=web'"},
        AutoscalerRow{"MayNotListPods",
                      [](AutoscalerFacts& f) { f.pods_read = absl::PermissionDeniedError("no"); },
                      "doubtful pods", "list pods"},
        AutoscalerRow{"OnePodIsNotReady",
                      [](AutoscalerFacts& f) { f.measured.pods[1] = ReadyPod("web-2", false); },
                      "doubtful pods: 1 of 2 pods are ready", "get pods"},
        AutoscalerRow{"ScaledToZero",
                      [](AutoscalerFacts& f) {
                        f.scale->spec_replicas = 0;
                        f.measured.pods.clear();
                      },
                      "doubtful pods: the target is scaled to zero", "scale Deployment web"},
        AutoscalerRow{"TwoOnOneTarget", [](AutoscalerFacts& f) { f.rivals = {"hpa web2"}; },
                      "bad rivals: Deployment web is scaled by hpa web2 too", "leave one"},
        AutoscalerRow{"NobodyLooks",
                      [](AutoscalerFacts& f) { f.autoscaler.status.conditions.clear(); },
                      "doubtful condition: no controller has looked at it yet", "HPA controller"},
        AutoscalerRow{
            "NoMetric", [](AutoscalerFacts& f) { Fail(f, "ScalingActive", "FailedGetPodsMetric"); },
            "bad condition: ScalingActive=False (FailedGetPodsMetric)", "about its metrics"},
        AutoscalerRow{
            "NoScale", [](AutoscalerFacts& f) { Fail(f, "AbleToScale", "FailedGetScale"); },
            "bad condition: AbleToScale=False (FailedGetScale)", "see that Deployment web exists"},
        AutoscalerRow{"SharedPods",
                      [](AutoscalerFacts& f) { Fail(f, "ScalingActive", "AmbiguousSelector"); },
                      "(AmbiguousSelector)", "disjoint"},
        AutoscalerRow{"SwitchedOff",
                      [](AutoscalerFacts& f) { Fail(f, "ScalingActive", "ScalingDisabled"); },
                      "doubtful condition", "scale Deployment web to 1"},
        AutoscalerRow{"AReasonOfTomorrow",
                      [](AutoscalerFacts& f) { Fail(f, "AbleToScale", "Moon"); }, "bad condition",
                      "kubectl -n shop describe hpa web"},
        AutoscalerRow{"AtItsMaximum",
                      [](AutoscalerFacts& f) {
                        Fail(f, "ScalingLimited", "TooManyReplicas");
                        f.autoscaler.status.conditions[0].status = scaler::ConditionStatus::kTrue;
                      },
                      "doubtful condition: ScalingLimited=True (TooManyReplicas)",
                      "spec.maxReplicas"},
        AutoscalerRow{"ARefusedSpec",
                      [](AutoscalerFacts& f) { f.refused = "spec.cadence.interval: too small"; },
                      "bad spec: spec.cadence.interval: too small", "correct that field"},
        AutoscalerRow{
            "AWrongAnnotation",
            [](AutoscalerFacts& f) { f.ignored = {"counts pods by their labels: got Magic"}; },
            "doubtful annotations: the scaler says that it counts pods by their labels: got Magic",
            "correct that annotation"}),
    [](const auto& info) { return info.param.name; });

TEST(AreRivals, AreTwoThatWriteOneScale) {
  scaler::Managed hpa;
  hpa.key.ns = "shop";
  hpa.key.name = "web";
  hpa.autoscaler.scale_target = {"apps/v1", "Deployment", "web"};
  scaler::Managed other = hpa;
  EXPECT_FALSE(AreRivals(hpa, other, scaler::Mode::kAct)) << "the same one";
  other.key.name = "web2";
  EXPECT_TRUE(AreRivals(hpa, other, scaler::Mode::kShadow));
  other.autoscaler.scale_target.api_version = "apps/v1beta1";
  EXPECT_TRUE(AreRivals(hpa, other, scaler::Mode::kShadow)) << "versions don't tell objects apart";
  other.autoscaler.scale_target.kind = "deployment";
  EXPECT_TRUE(AreRivals(hpa, other, scaler::Mode::kShadow)) << "the same kind";
  other.key.ns = "bank";
  EXPECT_FALSE(AreRivals(hpa, other, scaler::Mode::kShadow));
  scaler::Managed own = hpa;
  own.key.kind = scaler::AutoscalerKind::kOwn;
  EXPECT_FALSE(AreRivals(hpa, own, scaler::Mode::kShadow)) << "it writes nothing";
  EXPECT_TRUE(AreRivals(hpa, own, scaler::Mode::kAct));
  own.own.mode = scaler::Mode::kAdvise;
  EXPECT_FALSE(AreRivals(hpa, own, scaler::Mode::kAct)) << "the HPA follows its advice";
}

}  // namespace
}  // namespace flyball::doctor
