#include "convert/convert_scaled_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::convert {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ScaledObject(absl::string_view spec, absl::string_view annotations = "{}") {
  return absl::StrCat(
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: mailer, namespace: shop, "
      "annotations: ",
      annotations, "}\nspec:\n  scaleTargetRef: {name: mailer}\n", spec);
}

constexpr char kQuery[] = R"yaml(  triggers:
  - type: prometheus
    metadata: {serverAddress: "http://p:9090", query: "sum(q)", threshold: "5"}
)yaml";

Conversion Convert(absl::string_view text) {
  return ConvertScaledObjects("so.yaml", text, ConvertOptions());
}

TEST(ConvertScaledObjects, KedasDefaultsAreWrittenOut) {
  const Conversion got = Convert(ScaledObject(kQuery));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_EQ(got.yaml, R"yaml(---
# from ScaledObject mailer (so.yaml:1)
# Pause or delete the ScaledObject before this one acts: both would write one scale.
apiVersion: flyball.dev/v1alpha1
kind: Autoscaler
metadata:
  name: mailer
  namespace: shop
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: mailer
  minReplicas: 0
  maxReplicas: 100
  triggers:
    - type: prometheus
      metadata:
        serverAddress: "http://p:9090"
        query: "sum(q)"
        threshold: "5"
)yaml");
}

TEST(ConvertScaledObjects, WhatIsWrittenIsCarriedOver) {
  const Conversion got = Convert(absl::StrCat(
      R"(apiVersion: v1
kind: List
items:
- apiVersion: keda.sh/v1alpha1
  kind: TriggerAuthentication
  metadata: {name: login, namespace: shop}
  spec: {secretTargetRef: [{parameter: password, name: prom, key: pw}]}
---
)",
      ScaledObject(
          R"yaml(  minReplicaCount: 1
  maxReplicaCount: 9
  pollingInterval: 5
  cooldownPeriod: 60
  initialCooldownPeriod: 10
  fallback: {failureThreshold: 3, replicas: 4}
  advanced:
    restoreToOriginalReplicaCount: true
    horizontalPodAutoscalerConfig:
      behavior: {scaleDown: {stabilizationWindowSeconds: 60}}
  triggers:
  - type: cpu
    metricType: Utilization
    metadata: {value: "60"}
  - type: memory
    metricType: AverageValue
    metadata: {value: 100Mi, containerName: app}
  - type: prometheus
    name: jobs
    metricType: Value
    metadata: {serverAddress: "http://p:9090", query: "sum(q)", threshold: "5"}
    authenticationRef: {name: login}
)yaml",
          R"({autoscaling.keda.sh/paused: "true", autoscaling.keda.sh/paused-replicas: "3"})")));
  EXPECT_THAT(got.errors, IsEmpty());
  for (const char* line : {"minReplicas: 1\n",
                           "maxReplicas: 9\n",
                           "interval: \"5s\"\n",
                           "cooldownPeriod: 60\n",
                           "failureThreshold: 3\n",
                           "replicas: 4\n",
                           "stabilizationWindowSeconds: 60\n",
                           "averageUtilization: 60\n",
                           "type: ContainerResource\n",
                           "container: app\n",
                           "averageValue: \"100Mi\"\n",
                           "name: jobs\n",
                           "metricType: Value\n",
                           "parameter: password\n",
                           "name: prom\n",
                           "key: pw\n",
                           "paused: true\n",
                           "# not carried over: annotation autoscaling.keda.sh/paused-replicas.\n",
                           "# not carried over: spec.initialCooldownPeriod",
                           "# not carried over: spec.advanced.restoreToOriginalReplicaCount.\n"}) {
    EXPECT_THAT(got.yaml, HasSubstr(line));
  }
}

TEST(ConvertScaledObjects, WhatCannotBeSaidIsAnErrorWithItsPlace) {
  const struct {
    std::string spec;
    const char* error;
  } rows[] = {
      {"  triggers: [{type: kafka, metadata: {}}]\n",
       "so.yaml:6: spec.triggers[0].type: there is no kafka here"},
      {"  idleReplicaCount: 0\n", "so.yaml:6: spec.idleReplicaCount: there is no idle count"},
      {"  advanced: {scalingModifiers: {formula: a}}\n",
       "so.yaml:6: spec.advanced.scalingModifiers: there are no formulas"},
      {"  fallback: {failureThreshold: 1, replicas: 1, behavior: currentReplicas}\n",
       "so.yaml:6: spec.fallback.behavior: only static"},
      {"  maxReplicaCount: many\n", "so.yaml:6: spec.maxReplicaCount: expected a whole number"},
      {"  triggers: [{type: cpu, metadata: {value: '1'}}]\n",
       "so.yaml:6: spec.triggers[0].metricType: expected"},
      {"  triggers: [{type: cron, metadata: {}, authenticationRef: {name: login}}]\n",
       "so.yaml:6: spec.triggers[0].authenticationRef: give the TriggerAuthentication login"},
      {absl::StrCat("  triggers: [{type: prometheus, metadata: {serverAddress: http://p, "
                    "threshold: \"1\", query: ",
                    std::string(65'537, 'a'), "}}]\n"),
       "so.yaml:1: spec.triggers[0].metadata.query: Too long: may not be more than 65536 bytes"},
      {"  minReplicaCount: 5\n  maxReplicaCount: 2\n  triggers: [{type: cron, metadata: {}}]\n",
       "so.yaml:1: "},
      {"  triggers: [{type: prometheus, metadata: {serverAddress: 'http://p', query: up, "
       "threshold: many}}]\n",
       "so.yaml:1: spec.triggers[0].metadata.threshold: "},
  };
  for (const auto& row : rows) {
    const Conversion got = Convert(ScaledObject(row.spec));
    EXPECT_THAT(got.errors, ElementsAre(HasSubstr(row.error))) << row.spec;
    EXPECT_EQ(got.errors[0].find(row.error), 0u) << got.errors[0];
    EXPECT_EQ(got.yaml, "");
  }
}

TEST(ConvertScaledObjects, AuthenticationBySomethingElseIsRefused) {
  const Conversion got = Convert(absl::StrCat(
      "kind: TriggerAuthentication\nmetadata: {name: login, namespace: shop}\nspec: {podIdentity: "
      "{provider: aws}}\n---\n",
      ScaledObject(
          "  triggers: [{type: cron, metadata: {}, authenticationRef: {name: login}}]\n")));
  EXPECT_THAT(got.errors,
              ElementsAre(HasSubstr("login has podIdentity, and only secretTargetRef")));
}

TEST(ConvertScaledObjects, AFileWithoutOneIsAnError) {
  EXPECT_THAT(Convert("kind: Pod\n").errors, ElementsAre("so.yaml: no ScaledObject in it"));
  EXPECT_THAT(Convert("a: [").errors, ElementsAre(testing::StartsWith("so.yaml:")));
}

}  // namespace
}  // namespace flyball::convert
