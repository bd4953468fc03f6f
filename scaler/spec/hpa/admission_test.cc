#include "scaler/spec/hpa/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kTarget[] = R"(
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: prod}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 10
)";

std::string V2(absl::string_view more) {
  return absl::StrCat("apiVersion: autoscaling/v2", kTarget, more);
}
std::string V1(absl::string_view more) {
  return absl::StrCat("apiVersion: autoscaling/v1", kTarget, more);
}

TEST(AdmitTest, NoMetricsMeanCpuAt80Percent) {
  const AdmissionResult got = Admit(V2(""));
  EXPECT_THAT(got.errors, IsEmpty());
  ASSERT_TRUE(got.autoscaler.has_value());
  EXPECT_EQ(got.autoscaler->ns, "prod");
  EXPECT_EQ(got.autoscaler->min_replicas, 1);
  ASSERT_EQ(got.autoscaler->metrics.size(), 1u);
  EXPECT_EQ(got.autoscaler->metrics[0].type, MetricType::kResource);
  EXPECT_EQ(got.autoscaler->metrics[0].resource, "cpu");
  EXPECT_EQ(got.autoscaler->metrics[0].target.average_utilization, 80);
  EXPECT_FALSE(got.autoscaler->behavior.has_value());
  EXPECT_EQ(got.canonical_spec_json,
            R"({"scaleTargetRef":{"kind":"Deployment","name":"web","apiVersion":"apps/v1"},)"
            R"("minReplicas":1,"maxReplicas":10,"metrics":[{"type":"Resource","resource":)"
            R"({"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]})");
}

TEST(AdmitTest, EmptyBehaviorIsCompletedButForTheDownWindow) {
  const AdmissionResult got = Admit(V2("  behavior: {}\n"));
  ASSERT_TRUE(got.autoscaler.has_value() && got.autoscaler->behavior.has_value());
  const ScalingRules& up = got.autoscaler->behavior->scale_up;
  EXPECT_EQ(up.stabilization_window_seconds, 0);
  ASSERT_EQ(up.policies.size(), 2u);
  EXPECT_EQ(up.policies[0].value, 4);
  EXPECT_EQ(got.autoscaler->behavior->scale_down.stabilization_window_seconds, std::nullopt);
}

TEST(AdmitTest, ToleranceNeedsItsGate) {
  const std::string body = V2("  behavior: {scaleUp: {tolerance: 0.2}}\n");
  const AdmissionResult off = Admit(body);
  ASSERT_TRUE(off.autoscaler.has_value());
  EXPECT_FALSE(off.autoscaler->behavior->scale_up.tolerance.has_value());
  const AdmissionResult on = Admit(body, {.gates = {.hpa_configurable_tolerance = true}});
  ASSERT_TRUE(on.autoscaler.has_value());
  ASSERT_TRUE(on.autoscaler->behavior->scale_up.tolerance.has_value());
  EXPECT_EQ(on.autoscaler->behavior->scale_up.tolerance->quantity.ToString(), "200m");
}

TEST(AdmitTest, AllErrorsComeAtOnceSortedByField) {
  const AdmissionResult got = Admit(V2(R"(  minReplicas: 0
  metrics:
  - {type: Pods, pods: {metric: {name: a/b}, target: {type: AverageValue, averageValue: "0"}}}
)"));
  std::vector<std::string> shown;
  for (const FieldError& error : got.errors) shown.push_back(error.ToString());
  EXPECT_THAT(
      shown,
      ElementsAre("spec.metrics: Forbidden: must specify at least one Object or External metric to "
                  "support scaling to zero replicas",
                  "spec.metrics[0].pods.metric.name: Invalid value: may not contain '/'",
                  "spec.metrics[0].pods.target.averageValue: Invalid value: must be positive",
                  "spec.minReplicas: Invalid value: must be greater than or equal to 1"));
}

TEST(AdmitTest, TheV1FieldComesAfterTheMetricsOfTheAnnotation) {
  const AdmissionResult got = Admit(R"({"apiVersion": "autoscaling/v1",
    "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web", "namespace": "prod",
      "annotations": {"keep": "me", "autoscaling.alpha.kubernetes.io/metrics":
        "[{\"type\":\"Pods\",\"pods\":{\"metricName\":\"rps\",\"targetAverageValue\":\"5\"}}]"}},
    "spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 60,
      "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})");
  EXPECT_THAT(got.errors, IsEmpty());
  ASSERT_TRUE(got.autoscaler.has_value());
  ASSERT_EQ(got.autoscaler->metrics.size(), 2u);
  EXPECT_EQ(got.autoscaler->metrics[0].metric.name, "rps");
  EXPECT_EQ(got.autoscaler->metrics[1].target.average_utilization, 60);
  EXPECT_EQ(got.autoscaler->annotations, (std::map<std::string, std::string>{{"keep", "me"}}));
}

TEST(AdmitTest, TheStatusIsRead) {
  const AdmissionResult got = Admit(V2(R"(status:
  currentReplicas: 4
  desiredReplicas: 5
  lastScaleTime: "2026-03-01T12:00:00Z"
  currentMetrics:
  - {type: Resource, resource: {name: cpu, current: {averageValue: 250m, averageUtilization: 25}}}
  conditions:
  - {type: AbleToScale, status: "True", reason: ReadyForNewScale, message: m}
)"));
  ASSERT_TRUE(got.autoscaler.has_value());
  const AutoscalerStatus& status = got.autoscaler->status;
  EXPECT_EQ(status.current_replicas, 4);
  EXPECT_EQ(status.last_scale_time,
            absl::FromCivil(absl::CivilSecond(2026, 3, 1, 12), absl::UTCTimeZone()));
  ASSERT_EQ(status.current_metrics.size(), 1u);
  EXPECT_EQ(status.current_metrics[0].average_utilization, 25);
  ASSERT_EQ(status.conditions.size(), 1u);
  EXPECT_EQ(status.conditions[0].status, ConditionStatus::kTrue);
}

struct DecodeRow {
  std::string name;
  std::string body;
  std::string message;
};

class DecodeErrorTest : public testing::TestWithParam<DecodeRow> {};

TEST_P(DecodeErrorTest, SaysWhatAndWhere) {
  const AdmissionResult got = Admit(GetParam().body);
  EXPECT_THAT(got.decode_error, HasSubstr(GetParam().message));
  EXPECT_FALSE(got.autoscaler.has_value());
  EXPECT_EQ(got.canonical_spec_json, "");
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DecodeErrorTest,
    testing::Values(
        DecodeRow{"NoInteger", V2("  minReplicas: two\n"),
                  "line 7: spec.minReplicas: expected a whole number, got the string \"two\""},
        DecodeRow{"FractionIsNoInteger", V2("  minReplicas: 1.5\n"),
                  "expected a whole number, got the number 1.5"},
        DecodeRow{"Over32Bits", V2("  minReplicas: 3000000000\n"), "a whole number of 32 bits"},
        DecodeRow{"NoQuantity",
                  V2("  metrics: [{type: Pods, pods: {target: {averageValue: lots}}}]\n"),
                  "spec.metrics[0].pods.target.averageValue: expected a quantity"},
        DecodeRow{"NoList", V2("  metrics: {}\n"), "spec.metrics: expected a list, got an object"},
        DecodeRow{"OldVersion", "apiVersion: autoscaling/v2beta2\nkind: HorizontalPodAutoscaler",
                  "no longer served since Kubernetes 1.26"},
        DecodeRow{"OtherKind", "apiVersion: apps/v1\nkind: Deployment",
                  "expected kind HorizontalPodAutoscaler, got Deployment"},
        DecodeRow{"NoKind", "{}", "field `kind` is missing"},
        DecodeRow{"TwoObjects", absl::StrCat(V2(""), "---\n", V1("")),
                  "expected one object, got 2"},
        DecodeRow{"Nothing", "", "expected one object, got 0"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::scaler
