#include "scaler/spec/hpa/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(AdmitTest, TargetsAreReadAsTheyAreStored) {
  // Computed by the controller: 1E in thousandths is 0, although the digits that were sent give
  // another number.
  const AdmissionResult got =
      Admit(V2("  metrics:\n"
               "  - {type: External, external: {metric: {name: q}, "
               "target: {type: Value, value: \"1000000000000000000\"}}}\n"
               "  - {type: External, external: {metric: {name: r}, "
               "target: {type: AverageValue, averageValue: 1000000000000000000e20}}}\n"
               "  - {type: External, external: {metric: {name: s}, "
               "target: {type: Value, value: 1500u}}}\n"));
  EXPECT_THAT(got.errors, IsEmpty());
  ASSERT_TRUE(got.autoscaler.has_value());
  EXPECT_EQ(got.autoscaler->metrics[0].target.value->milli, 0);
  EXPECT_EQ(got.autoscaler->metrics[1].target.average_value->milli, 0);
  EXPECT_EQ(got.autoscaler->metrics[2].target.value->milli, 2);
}

AdmitOptions Version(int minor, const GateSettings& gates = {}) {
  return {.dialect = DialectOf(ServerVersion{.minor = minor, .emulated_minor = {}}, gates)};
}

TEST(AdmitTest, AnEmptyListOfPoliciesIsNotStored) {
  const std::string body = V2("  behavior: {scaleDown: {policies: []}}\n");
  for (const int minor : {34, 35, 37}) {
    AdmitOptions options = Version(minor);
    for (const bool skip : {false, true}) {
      options.skip_admission = skip;
      const AdmissionResult got = Admit(body, options);
      EXPECT_EQ(got.errors.empty(), skip);
      ASSERT_TRUE(got.autoscaler.has_value());
      EXPECT_EQ(got.autoscaler->behavior->scale_down.policies.size(), minor == 34 ? 0u : 1u);
    }
  }
}

std::vector<std::string> ErrorsOf(absl::string_view body, const AdmitOptions& options) {
  std::vector<std::string> out;
  for (const FieldError& error : Admit(body, options).errors) out.push_back(error.ToString());
  return out;
}

std::string WithCounts(int min, int max) {
  return absl::StrCat(
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
      "metadata: {name: web, namespace: prod}\nspec:\n"
      "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n"
      "  metrics: [{type: External, external: {metric: {name: q}, "
      "target: {type: Value, value: 1}}}]\n  minReplicas: ",
      min, "\n  maxReplicas: ", max, "\n");
}

TEST(AdmitTest, CountsAreRefusedInTheWordsOfTheVersion) {
  constexpr char kMin[] =
      "spec.maxReplicas: Invalid value: must be greater than or equal to `minReplicas`";
  const auto zero = [&](const AdmitOptions& options) {
    return ErrorsOf(WithCounts(1, 0), options);
  };
  EXPECT_THAT(zero(Version(35)),
              ElementsAre("spec.maxReplicas: Invalid value: must be greater than 0", kMin));
  EXPECT_THAT(
      zero(Version(36)),
      ElementsAre(kMin, "spec.maxReplicas: Required value: must be set and greater than 0"));
  EXPECT_THAT(zero(Version(37)), ElementsAre(kMin, "spec.maxReplicas: Required value"));
  EXPECT_THAT(zero(Version(37, {{"DeclarativeValidationBeta", false}})), zero(Version(36)));
  EXPECT_THAT(
      ErrorsOf(WithCounts(1, -2), Version(36)),
      ElementsAre("spec.maxReplicas: Invalid value: must be greater than or equal to 1", kMin));
  EXPECT_THAT(ErrorsOf(WithCounts(0, 3), Version(36)),
              ElementsAre("spec.minReplicas: Invalid value: must be greater than or equal to 1"));
  EXPECT_THAT(ErrorsOf(WithCounts(0, 3), Version(37)), IsEmpty());
  EXPECT_THAT(ErrorsOf(WithCounts(-1, 3), Version(37)),
              ElementsAre("spec.minReplicas: Invalid value: must be greater than or equal to 0"));
}

TEST(AdmitTest, GenerationIsTheServersSince137) {
  const std::string body = absl::StrCat(
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
      "metadata: {name: web, namespace: prod, generation: 7}\nspec:\n"
      "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  maxReplicas: 2\n");
  EXPECT_EQ(Admit(body, Version(36)).autoscaler->generation, 7);
  EXPECT_EQ(Admit(body, Version(37)).autoscaler->generation, 1);
  EXPECT_EQ(Admit(body, Version(37, {{"HPAGeneration", false}})).autoscaler->generation, 7);
}

// Equal errors of one value become one error; equal errors of two values stay two.
TEST(AdmitTest, NothingIsSaidTwiceSince137) {
  const std::string odd_type = V2("  metrics: [{type: Weather}]\n");
  EXPECT_EQ(ErrorsOf(odd_type, Version(36)).size(), 2u);
  EXPECT_EQ(ErrorsOf(odd_type, Version(37)).size(), 1u);
  const std::string labels =
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
      "metadata: {name: web, namespace: prod, labels: {a: -x, b: -y, c: -x}}\nspec:\n"
      "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  maxReplicas: 2\n";
  EXPECT_EQ(ErrorsOf(labels, Version(36)).size(), 3u);
  EXPECT_EQ(ErrorsOf(labels, Version(37)).size(), 2u);
}

TEST(AdmitTest, MetadataIsRefusedInTheWordsOfTheVersion) {
  const std::string body =
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
      "metadata:\n  name: web\n  namespace: prod\n"
      "  ownerReferences: [{apiVersion: a/b/c, kind: K, name: owner, uid: ''}]\n"
      "  managedFields: [{operation: Drop}]\nspec:\n"
      "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  maxReplicas: 2\n";
  EXPECT_THAT(
      ErrorsOf(body, Version(36)),
      ElementsAre("metadata.managedFields[0].operation: Invalid value: must be `Apply` or `Update`",
                  "metadata.ownerReferences.apiVersion: Invalid value: version must not be empty",
                  "metadata.ownerReferences.uid: Invalid value: must not be empty"));
  EXPECT_THAT(
      ErrorsOf(body, Version(37)),
      ElementsAre("metadata.managedFields[0].operation: Unsupported value: supported values: "
                  "\"Apply\", \"Update\"",
                  "metadata.ownerReferences[0].apiVersion: Invalid value: must be "
                  "<group>/<version> or <version>",
                  "metadata.ownerReferences[0].uid: Required value: must not be empty"));
}

TEST(AdmitTest, ToleranceNeedsItsGate) {
  const std::string body = V2("  behavior: {scaleUp: {tolerance: 0.2}}\n");
  const AdmissionResult off = Admit(body);
  ASSERT_TRUE(off.autoscaler.has_value());
  EXPECT_FALSE(off.autoscaler->behavior->scale_up.tolerance.has_value());
  const AdmissionResult on = Admit(body, AdmitAll());
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
