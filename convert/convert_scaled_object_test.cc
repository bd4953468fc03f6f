#include "convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::convert {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

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
                           "# It is paused for the annotation autoscaling.keda.sh/paused.\n",
                           "# It is paused for the annotation autoscaling.keda.sh/paused-replicas, "
                           "at the replicas that the target has.\n",
                           "# not carried over: spec.initialCooldownPeriod: a new Autoscaler with "
                           "minReplicas of 0 whose triggers are inactive goes to zero at its first "
                           "decision; keep minReplicas at 1 at first.\n",
                           "# not carried over: spec.advanced.restoreToOriginalReplicaCount.\n"}) {
    EXPECT_THAT(got.yaml, HasSubstr(line));
  }
}

TEST(ConvertScaledObjects, TriggersOfAllTypesAreCarriedOver) {
  const std::map<absl::string_view, const char*> metadata = {
      {"cron", "timezone: UTC, start: 0 8 * * *, end: 0 18 * * *, desiredReplicas: '3'"},
      {"external", "scalerAddress: 's:9090'"},
      {"external-push", "scalerAddress: 's:9090'"},
      {"http", "service: web, targetPort: '80'"},
      {"kubernetes-workload", "podSelector: app=worker, value: '2'"},
      {"metrics-api", "url: 'http://a', valueLocation: b, targetValue: '1'"},
      {"prometheus", "serverAddress: 'http://p:9090', query: up, threshold: '5'"},
  };
  for (const absl::string_view type : scaler::TriggerTypeNames()) {
    ASSERT_TRUE(metadata.contains(type)) << type;
    const Conversion got = Convert(ScaledObject(
        absl::StrCat("  triggers: [{type: ", type, ", metadata: {", metadata.at(type), "}}]\n")));
    EXPECT_THAT(got.errors, IsEmpty()) << type;
    EXPECT_THAT(got.yaml, HasSubstr(absl::StrCat("- type: ", type, "\n")));
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
      {"  minReplicaCount: 1\n  triggers: [{type: cpu, metadata: {value: '1'}}]\n",
       "so.yaml:7: spec.triggers[0].metricType: expected"},
      {"  triggers: [{type: cron, metadata: {}, authenticationRef: {name: login}}]\n",
       "so.yaml:6: spec.triggers[0].authenticationRef: put the TriggerAuthentication login into "
       "the file"},
      {"  triggers: [{type: cron, metadata: {}, authenticationRef: {name: login, kind: "
       "ClusterTriggerAuthentication}}]\n",
       "so.yaml:6: spec.triggers[0].authenticationRef: login is a ClusterTriggerAuthentication: "
       "copy its Secrets into this namespace, put a TriggerAuthentication that names them into "
       "the file, and refer to that"},
      {absl::StrCat("  triggers: [{type: prometheus, metadata: {serverAddress: http://p, "
                    "threshold: \"1\", query: ",
                    std::string(65'537, 'a'), "}}]\n"),
       "so.yaml:6: spec.triggers[0].metadata.query: Too long: may not be more than 65536 bytes"},
      {"  triggers: [{type: prometheus, metadata: {serverAddress: 'http://p', query: up, "
       "threshold: many}}]\n",
       "so.yaml:6: spec.triggers[0].metadata.threshold: "},
      {"  triggers: [{type: cron, metadata: {desiredReplicas: 5}}]\n",
       "so.yaml:6: spec.triggers[0].metadata[desiredReplicas]: expected a string"},
  };
  for (const auto& row : rows) {
    const bool complete = absl::StrContains(row.spec, "triggers:");
    const Conversion got = Convert(ScaledObject(row.spec + (complete ? "" : kQuery)));
    EXPECT_THAT(got.errors, ElementsAre(StartsWith(row.error))) << row.spec;
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

TEST(ConvertScaledObjects, ErrorsNameTheFieldsAndLinesOfTheFile) {
  const Conversion got = Convert(ScaledObject(R"yaml(  minReplicaCount: 6
  maxReplicaCount: 4
  fallback: {failureThreshold: x}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        scaleDown: {stabilizationWindowSeconds: -1}
  triggers:
  - type: kafka
    metadata: {}
  - type: cpu
    metricType: Utilization
    metadata: {value: "0"}
  - type: memory
    metricType: AverageValue
    metadata: {value: "100 Mi"}
  - type: cron
    metadata:
      timezone: Mars/Base
      start: "0 8 * * *"
      end: soon
      desiredReplicas: "3"
  - type: prometheus
    metricType: Utilization
    metadata:
      serverAddress: http://p
      query: up
      threshold: many
)yaml"));
  EXPECT_THAT(
      got.errors,
      testing::UnorderedElementsAre(
          StartsWith("so.yaml:7: spec.maxReplicaCount: Invalid value: must be greater than or "
                     "equal to `minReplicaCount`"),
          "so.yaml:8: spec.fallback.failureThreshold: expected a whole number",
          StartsWith("so.yaml:12: spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown."
                     "stabilizationWindowSeconds: Invalid value: must be "),
          StartsWith("so.yaml:14: spec.triggers[0].type: there is no kafka here"),
          "so.yaml:18: spec.triggers[1].metadata.value: Invalid value: must be greater than 0",
          "so.yaml:21: spec.triggers[2].metadata.value: expected a quantity like 500m, 2 or 1Gi",
          StartsWith("so.yaml:24: spec.triggers[3].metadata.timezone: "),
          StartsWith("so.yaml:26: spec.triggers[3].metadata.end: "),
          StartsWith("so.yaml:29: spec.triggers[4].metricType: "),
          StartsWith("so.yaml:33: spec.triggers[4].metadata.threshold: expected a number")));
}

TEST(ConvertScaledObjects, OfAnObjectWithoutTriggersAndNameAllIsTold) {
  EXPECT_THAT(Convert("kind: ScaledObject\nmetadata: {generateName: a}\nspec: {}\n").errors,
              testing::IsSupersetOf({StartsWith("so.yaml:2: metadata.name: must not be empty"),
                                     StartsWith("so.yaml:3: spec.triggers: Forbidden: must "),
                                     StartsWith("so.yaml:3: spec.minReplicaCount: "),
                                     StartsWith("so.yaml:3: spec.scaleTargetRef.name: ")}));
}

// KEDA writes an empty scalingModifiers into each object that has anything else in `advanced`.
TEST(ConvertScaledObjects, EmptyModifiersAreNone) {
  for (const char* modifiers : {"{}", "", "{formula: '', target: '', metricType: }"}) {
    const Conversion got = Convert(
        ScaledObject(absl::StrCat("  advanced:\n    scalingModifiers: ", modifiers, "\n", kQuery)));
    EXPECT_THAT(got.errors, IsEmpty()) << modifiers;
    EXPECT_THAT(got.yaml, HasSubstr("threshold: \"5\"\n"));
  }
  for (const char* modifiers : {"formula: a", "target: '5'", "metricType: Value"}) {
    EXPECT_THAT(Convert(ScaledObject(absl::StrCat("  advanced: {scalingModifiers: {", modifiers,
                                                  "}}\n", kQuery)))
                    .errors,
                ElementsAre(StartsWith("so.yaml:6: spec.advanced.scalingModifiers: ")));
  }
}

TEST(ConvertScaledObjects, WhatIsPausedStaysPaused) {
  const struct {
    const char* annotation;
    bool paused;
  } rows[] = {{"paused: 'true'", true},
              {"paused: 'yes'", true},
              {"paused: ''", true},
              {"paused: 'False'", false},
              {"paused: '0'", false},
              {"paused-replicas: '0'", true},
              {"paused-replicas: ''", true},
              {"paused-scale-in: 'f'", false},
              {"paused-scale-out: 'f'", false},
              {"force-activation: 'f'", false}};
  for (const auto& row : rows) {
    const Conversion got =
        Convert(ScaledObject(kQuery, absl::StrCat("{autoscaling.keda.sh/", row.annotation, "}")));
    EXPECT_THAT(got.errors, IsEmpty());
    EXPECT_EQ(got.yaml.find("paused: true\n") != std::string::npos, row.paused) << row.annotation;
    EXPECT_THAT(got.yaml, Not(HasSubstr("selectPolicy"))) << row.annotation;
    EXPECT_THAT(got.yaml, HasSubstr("minReplicas: 0\n")) << row.annotation;
  }
}

TEST(ConvertScaledObjects, ADirectionThatIsPausedStaysPaused) {
  const auto convert = [](absl::string_view direction, absl::string_view min) {
    return Convert(ScaledObject(
        absl::StrCat("  minReplicaCount: ", min,
                     "\n  advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: "
                     "{stabilizationWindowSeconds: 7, selectPolicy: Max}}}}\n",
                     kQuery),
        absl::StrCat("{autoscaling.keda.sh/paused-scale-", direction, ": 'true'}")));
  };
  constexpr char kNoDown[] =
      "scaleDown:\n      stabilizationWindowSeconds: 7\n      selectPolicy: Disabled\n";
  constexpr char kNoUp[] = "scaleUp:\n      selectPolicy: Disabled\n";
  const Conversion in = convert("in", "2"), out = convert("out", "2");
  EXPECT_THAT(in.yaml, HasSubstr(kNoDown));
  EXPECT_THAT(in.yaml, HasSubstr("minReplicas: 2\n"));
  EXPECT_THAT(out.yaml, HasSubstr(kNoUp));
  EXPECT_THAT(in.yaml + out.yaml, Not(HasSubstr("paused: true")));
  // Leaving and entering zero replicas does not depend on the behavior.
  const Conversion never_sleeps = convert("in", "0"), never_wakes = convert("out", "0");
  EXPECT_THAT(never_sleeps.yaml, HasSubstr(kNoDown));
  EXPECT_THAT(never_sleeps.yaml, HasSubstr("minReplicas: 1\n"));
  EXPECT_THAT(never_sleeps.yaml, HasSubstr("# minReplicas was 0; it is 1 here for the annotation "
                                           "autoscaling.keda.sh/paused-scale-in"));
  EXPECT_THAT(never_wakes.yaml, HasSubstr("paused: true\n"));
  EXPECT_THAT(
      never_wakes.yaml,
      HasSubstr("# It is paused for the annotation autoscaling.keda.sh/paused-scale-out: "));
}

TEST(ConvertScaledObjects, ForcedActivationIsALeastCount) {
  EXPECT_THAT(Convert(ScaledObject(kQuery, "{autoscaling.keda.sh/force-activation: 'true'}")).yaml,
              HasSubstr("minReplicas: 1\n"));
}

// A cooldown that the status of a live object shows may be running.
TEST(ConvertScaledObjects, ARunningCooldownIsNamed) {
  constexpr char kActive[] = "status: {lastActiveTime: '2026-03-01T12:00:00Z'}\n";
  EXPECT_THAT(
      Convert(ScaledObject(kQuery) + kActive).yaml,
      HasSubstr("# not carried over: status.lastActiveTime: a cooldown that is running ends "
                "with the first decision; keep minReplicas at 1 until it is over.\n"));
  for (const char* never : {"  cooldownPeriod: 0\n", "  minReplicaCount: 1\n"}) {
    const Conversion got = Convert(absl::StrCat(ScaledObject(never), kQuery, kActive));
    EXPECT_THAT(got.errors, IsEmpty());
    EXPECT_THAT(got.yaml, Not(HasSubstr("lastActiveTime")));
  }
  const Conversion got = Convert(ScaledObject(kQuery));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, Not(HasSubstr("lastActiveTime")));
}

TEST(ConvertScaledObjects, NullIsAbsent) {
  const Conversion got = Convert(ScaledObject(
      absl::StrCat("  cooldownPeriod:\n  minReplicaCount:\n  maxReplicaCount:\n"
                   "  pollingInterval:\n  initialCooldownPeriod:\n  idleReplicaCount:\n"
                   "  advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleUp: }}}\n"
                   "  fallback: {failureThreshold: , replicas: 3, behavior: }\n",
                   kQuery)));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, Not(HasSubstr("cooldownPeriod")));
  EXPECT_THAT(got.yaml, Not(HasSubstr("~")));
  EXPECT_THAT(got.yaml, HasSubstr("  fallback:\n    replicas: 3\n"));
}

TEST(ConvertScaledObjects, NothingIsLeftOutInSilence) {
  const Conversion got = Convert(R"yaml(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: web
  labels: {app: web, scaledobject.keda.sh/name: web}
  ownerReferences: [{kind: Queue, name: q}]
  annotations:
    team: a
    scaledobject.keda.sh/transfer-hpa-ownership: "true"
    kubectl.kubernetes.io/last-applied-configuration: "{}"
spec:
  scaleTargetRef: {name: web, envSourceContainerName: app}
  minReplicas: 3
  pollingInterval: 60
  advanced: {horizontalPodAutoscalerConfig: {name: x}, other: 1}
  fallback: {failureThreshold: 1, replicas: 1, strange: 1}
  triggers:
  - {type: cpu, name: c, metricType: AverageValue, metadata: {value: "1", odd: "x"}}
  - type: cron
    useCachedMetrics: true
    metadata: {timezone: UTC, start: "0 8 * * *", end: "0 18 * * *", desiredReplicas: "3"}
)yaml");
  EXPECT_THAT(got.errors, IsEmpty());
  for (const char* field :
       {"metadata.ownerReferences", "annotation team",
        "annotation scaledobject.keda.sh/transfer-hpa-ownership", "spec.minReplicas",
        "spec.pollingInterval", "spec.scaleTargetRef.envSourceContainerName",
        "spec.advanced.horizontalPodAutoscalerConfig.name", "spec.advanced.other",
        "spec.fallback.strange", "spec.triggers[0].name", "spec.triggers[0].metadata.odd",
        "spec.triggers[1].useCachedMetrics"}) {
    EXPECT_THAT(got.yaml, HasSubstr(absl::StrCat("# not carried over: ", field)));
  }
  EXPECT_THAT(got.yaml, Not(HasSubstr("last-applied")));
  EXPECT_THAT(got.yaml, HasSubstr("  labels:\n    app: web\nspec:\n"));
}

TEST(ConvertScaledObjects, ATimeoutWithoutEffectIsNamed) {
  const auto yaml = [](absl::string_view timeout) {
    const Conversion got = Convert(ScaledObject(absl::StrCat(
        "  triggers:\n  - type: metrics-api\n    metadata: {url: 'http://a', valueLocation: b, "
        "targetValue: '1', timeout: '",
        timeout, "'}\n")));
    EXPECT_THAT(got.errors, IsEmpty());
    return got.yaml;
  };
  for (const char* longer : {"11s", "10001"}) {
    EXPECT_THAT(yaml(longer), HasSubstr("# spec.triggers[0].metadata.timeout counts as 10s, the "
                                        "longest that there is.\n"));
  }
  for (const char* no_longer : {"10s", "10000"}) {
    EXPECT_THAT(yaml(no_longer), Not(HasSubstr("counts as")));
  }
}

// KEDA's names count all triggers.
TEST(ConvertScaledObjects, NamesThatMoveAreTold) {
  const auto yaml = [](absl::string_view first, absl::string_view second) {
    const Conversion got =
        Convert(ScaledObject(absl::StrCat("  triggers: [", first, ", ", second, "]\n")));
    EXPECT_THAT(got.errors, IsEmpty());
    return got.yaml;
  };
  constexpr char kCpu[] = "{type: cpu, metricType: Utilization, metadata: {value: '60'}}";
  constexpr char kOther[] =
      "{type: prometheus, metadata: {serverAddress: 'http://p', query: up, threshold: '5'}}";
  EXPECT_THAT(yaml(kCpu, kOther),
              HasSubstr("# spec.triggers[1]: names of its metrics begin with s0-, in KEDA with "
                        "s1-, since cpu and memory are no triggers here.\n"));
  EXPECT_THAT(yaml(kOther, kCpu), Not(HasSubstr("begin with")));
}

constexpr char kLogin[] =
    "kind: TriggerAuthentication\nmetadata: {name: login, namespace: shop}\n"
    "spec: {podIdentity: {provider: none}, env: , secretTargetRef: [";

// KEDA reads how to authenticate from Secrets too; an Autoscaler would ask without credentials.
TEST(ConvertScaledObjects, AParameterThatIsNoSecretIsRefused) {
  const auto convert = [](absl::string_view parameters) {
    std::string refs;
    for (const absl::string_view parameter : absl::StrSplit(parameters, ',')) {
      absl::StrAppend(&refs, "{parameter: ", parameter, ", name: s, key: k},");
    }
    return Convert(absl::StrCat(
        kLogin, refs, "]}\n---\n",
        ScaledObject("  triggers:\n  - {type: cpu, metricType: Utilization, metadata: {value: "
                     "'5'}}\n  - type: metrics-api\n    metadata: {url: 'http://x', "
                     "valueLocation: a, targetValue: '1'}\n    authenticationRef: {name: "
                     "login}\n")));
  };
  EXPECT_THAT(convert("username,password").errors, IsEmpty());
  EXPECT_THAT(convert("username,authMode,passwrod").errors,
              ElementsAre("so.yaml:14: spec.triggers[1].authenticationRef: \"authMode\" is read "
                          "from the metadata alone",
                          "so.yaml:14: spec.triggers[1].authenticationRef: \"passwrod\" is no "
                          "parameter of this type"));
}

TEST(ConvertScaledObjects, AScaledJobIsNamed) {
  const Conversion got = Convert(absl::StrCat(
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\nmetadata: {name: render}\nspec: {}\n---\n",
      ScaledObject(kQuery)));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, HasSubstr("# not carried over: ScaledJob render: Flyball makes no Jobs, so "
                                  "leave it to KEDA.\n"));
}

TEST(ConvertScaledObjects, AFileWithoutOneIsAnError) {
  EXPECT_THAT(Convert("kind: Pod\n").errors, ElementsAre("so.yaml: no ScaledObject in it"));
  EXPECT_THAT(Convert("a: [").errors, ElementsAre(StartsWith("so.yaml:")));
}

}  // namespace
}  // namespace flyball::convert
