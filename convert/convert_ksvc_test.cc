#include "convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scaler/spec/document.h"

namespace flyball::convert {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string ReadData(absl::string_view name) {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR "/test/data/convert/", name));
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

Conversion Convert(absl::string_view text) {
  return ConvertKnativeServices("k.yaml", text, ConvertOptions());
}

// A Service whose revision has these annotations and this spec.
std::string Service(absl::string_view annotations, absl::string_view spec,
                    absl::string_view more = "") {
  return absl::StrCat(
      "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
      "spec:\n  template:\n    metadata: {annotations: {",
      annotations, "}}\n    spec: {", spec, "}\n", more);
}

constexpr char kPods[] = "containers: [{image: a}]";

TEST(ConvertKnativeServicesTest, TheListComesOutAsTheGoldenFile) {
  const Conversion got = ConvertKnativeServices("ksvc.yaml", ReadData("ksvc.yaml"), {});
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_EQ(got.yaml, ReadData("ksvc-converted.yaml"));
}

TEST(ConvertKnativeServicesTest, KnativesDefaultsAreWrittenOut) {
  const Conversion got = Convert(Service("", kPods));
  EXPECT_THAT(got.errors, IsEmpty());
  for (const char* line :
       {"activationTimeout: \"300s\"\n", "requestTimeout: \"300s\"\n", "queue: \"10000\"\n",
        "# Knative holds any number of requests", "ConfigMap config-autoscaler is not read",
        "targetPort: \"8080\"\n", "terminationGracePeriodSeconds: 302\n",
        "preStop:\n              sleep:\n", "# Knative sent SIGTERM after a pod's last request",
        "enableServiceLinks: false\n", "containerPort: 8080\n", "name: user-container\n",
        "value: \"8080\"\n", "minReplicas: 0\n", "maxReplicas: 100\n",
        "# max-scale sets no limit: maxReplicas is 100"}) {
    EXPECT_THAT(got.yaml, HasSubstr(line));
  }
}

// Kubernetes refuses a pause that is longer than the grace period, which counts from the deletion.
TEST(ConvertKnativeServicesTest, TheGracePeriodBeginsWithThePauseBeforeSigterm) {
  const Conversion got = Convert(Service("", absl::StrCat("timeoutSeconds: 1, ", kPods)));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, HasSubstr("preStop:\n              sleep:\n                seconds: 2\n"));
  EXPECT_THAT(got.yaml, HasSubstr("terminationGracePeriodSeconds: 3\n"));
}

TEST(ConvertKnativeServicesTest, NothingIsLeftOutInSilence) {
  const Conversion got = Convert(
      Service("autoscaling.knative.dev/strange: a, "
              "queue.sidecar.serving.knative.dev/memory-resource-limit: "
              "1Gi",
              "idleTimeoutSeconds: 5, responseStartTimeoutSeconds: 6, containers: [{image: a}]",
              "  traffic: [{revisionName: web-1, percent: 100, tag: old}]\n  strange: 1\n"));
  EXPECT_THAT(got.errors, IsEmpty());
  for (const char* remark :
       {"annotation autoscaling.knative.dev/strange",
        "annotation queue.sidecar.serving.knative.dev/memory-resource-limit: there is no proxy",
        "spec.template.spec.idleTimeoutSeconds", "spec.template.spec.responseStartTimeoutSeconds",
        "spec.traffic[0]: 100 % to revision web-1 by the tag old", "spec.strange: "}) {
    EXPECT_THAT(got.yaml, HasSubstr(absl::StrCat("# not carried over: ", remark)));
  }
}

TEST(ConvertKnativeServicesTest, WhatMakesNoSenseIsAnErrorWithItsPlace) {
  const struct {
    std::string text;
    const char* error;
  } rows[] = {
      {Service("autoscaling.knative.dev/window: 1s", kPods),
       "k.yaml:6: spec.template.metadata.annotations: expected 6s <= 1s <= 1h0m0s"},
      {Service("autoscaling.knative.dev/class: other.example.com", kPods),
       "k.yaml:6: spec.template.metadata.annotations: the class other.example.com is neither"},
      {Service("autoscaling.knative.dev/class: hpa.autoscaling.knative.dev", kPods),
       "k.yaml:6: spec.template.metadata.annotations: class hpa.autoscaling.knative.dev without"},
      {Service("", "containers: [{image: a}, {image: b}]"),
       "k.yaml:7: spec.template.spec.containers: exactly one container must take requests"},
      {Service("", "containers: 5"), "k.yaml:7: spec.template.spec.containers: exactly one"},
      {Service("", "containers: [{image: a, env: {}}]"),
       "k.yaml:7: spec.template.spec.containers[0].env: expected a list"},
      {Service("serving.knative.dev/progress-deadline: soon", kPods),
       "k.yaml:6: spec.template.metadata.annotations: serving.knative.dev/progress-deadline is"},
      {"apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\nspec: {}\n",
       "k.yaml:4: spec.template.spec: is missing"},
      {"apiVersion: serving.knative.dev/v1alpha1\nkind: Service\nmetadata: {name: a}\n",
       "k.yaml:1: expected apiVersion serving.knative.dev/v1, got"},
      {"apiVersion: v1\nkind: Service\n", "k.yaml: no Service of Knative in it"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Convert(row.text).errors, Contains(testing::StartsWith(row.error))) << row.text;
  }
}

TEST(ConvertKnativeServicesTest, ARevisionAloneIsConverted) {
  const Conversion got = Convert(
      "apiVersion: serving.knative.dev/v1\nkind: Revision\nmetadata: {name: web-00001, labels: "
      "{serving.knative.dev/configuration: web, app: web-00001}, annotations: "
      "{autoscaling.knative.dev/target: '5'}}\nspec: {containers: [{image: a}]}\n");
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, HasSubstr("target: \"5\"\n"));
  EXPECT_THAT(got.yaml, HasSubstr("name: web-00001-pods\n"));
  EXPECT_THAT(got.yaml, Not(HasSubstr("serving.knative.dev/configuration")));
}

TEST(ConvertKnativeServicesTest, NullIsAbsent) {
  const Conversion got = Convert(Service(
      "", "affinity: , containers: [{image: a, resources: {limits: }, readinessProbe: {exec: }}]"));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, HasSubstr("readinessProbe:\n            tcpSocket:\n"));
  EXPECT_THAT(got.yaml, Not(HasSubstr("~")));
}

TEST(ConvertKnativeServicesTest, BesideKnativeTheServiceHasAnotherName) {
  const Conversion got = ConvertKnativeServices("k.yaml", Service("", kPods),
                                                {.mode = "", .beside = true, .dialect = {}});
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, HasSubstr("service: web-front\n"));
  EXPECT_THAT(got.yaml, HasSubstr("  name: web-front\n"));
}

TEST(ConvertKnativeServicesTest, TheScalerKnowsHowLongAStartMayTake) {
  const Conversion got = Convert(Service("serving.knative.dev/progress-deadline: 1800s", kPods));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, HasSubstr("progressDeadlineSeconds: 1800\n"));
  EXPECT_THAT(got.yaml, HasSubstr("progressDeadline: \"1800s\"\n"));
}

// The files of both ways are applied one after the other, the second one while callers move.
TEST(ConvertKnativeServicesTest, NoFileSetsTheReplicas) {
  for (const char* const scale : {"0", "3"}) {
    const std::string text =
        Service(absl::StrCat("autoscaling.knative.dev/initial-scale: '", scale, "'"), kPods);
    for (const bool beside : {false, true}) {
      const Conversion got =
          ConvertKnativeServices("k.yaml", text, {.mode = "", .beside = beside, .dialect = {}});
      EXPECT_THAT(got.errors, IsEmpty());
      EXPECT_THAT(got.yaml, Not(HasSubstr(" replicas:")));
      EXPECT_THAT(got.yaml, HasSubstr(absl::StrCat("kubectl scale deployment web --namespace shop "
                                                   "--replicas=",
                                                   scale, "\n")));
    }
  }
}

TEST(ConvertKnativeServicesTest, ATextCannotEndItsComment) {
  const Conversion got = Convert(Service("\"autoscaling.knative.dev/a\\nkind: Pod\": x", kPods));
  for (const absl::string_view line : absl::StrSplit(got.yaml, '\n')) {
    EXPECT_FALSE(absl::StartsWith(line, "kind: Pod")) << got.yaml;
  }
}

}  // namespace
}  // namespace flyball::convert
