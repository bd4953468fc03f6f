#include "convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace flyball::convert {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ReadData(absl::string_view name) {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR "/test/data/convert/", name));
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

Conversion Convert(absl::string_view text) {
  return ConvertHttpObjects("h.yaml", text, ConvertOptions());
}

std::string Object(absl::string_view spec, absl::string_view annotations = "") {
  return absl::StrCat(
      "apiVersion: http.keda.sh/v1alpha1\nkind: HTTPScaledObject\nmetadata: {name: web, namespace: "
      "shop, annotations: {",
      annotations, "}}\nspec:\n  scaleTargetRef: {name: web, service: web, port: 8080}\n", spec);
}

std::string Route(absl::string_view spec) {
  return absl::StrCat(
      "apiVersion: http.keda.sh/v1beta1\nkind: InterceptorRoute\nmetadata: {name: web, namespace: "
      "shop}\nspec:\n  target: {service: web, port: 80}\n  scalingMetric: {concurrency: "
      "{targetValue: 5}}\n",
      spec);
}

constexpr char kScaledObject[] =
    "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: s, namespace: "
    "shop}\nspec: {scaleTargetRef: {name: web}, triggers: [{type: external-push, metadata: "
    "{interceptorRoute: web}}]}\n";

TEST(ConvertHttpObjectsTest, TheFileComesOutAsTheGoldenFile) {
  const Conversion got = ConvertHttpObjects("http.yaml", ReadData("http.yaml"), {});
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_EQ(got.yaml, ReadData("http-converted.yaml"));
}

TEST(ConvertHttpObjectsTest, TheAddOnsDefaultsAreWrittenOut) {
  const Conversion got = Convert(Object(""));
  EXPECT_THAT(got.errors, IsEmpty());
  for (const char* line :
       {"minReplicas: 0\n", "maxReplicas: 100\n", "cooldownPeriod: 300\n", "target: \"100\"\n",
        "targetUtilizationPercentage: \"100\"\n", "hosts: \"*\"\n", "service: web-front\n",
        "targetPort: \"8080\"\n", "# targetPort is the Service's port 8080: give Service web"}) {
    EXPECT_THAT(got.yaml, HasSubstr(line));
  }
}

TEST(ConvertHttpObjectsTest, AScaledObjectSaysTheBoundsOfARoute) {
  const Conversion got = Convert(Route("  rules: [{hosts: [a.b]}]\n") + kScaledObject);
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, HasSubstr("hosts: a.b\n"));
  EXPECT_THAT(got.yaml, HasSubstr("Target and bounds are those of ScaledObject s"));
}

TEST(ConvertHttpObjectsTest, TheFallbackAndTheBehaviorOfAScaledObjectAreCarriedOver) {
  const Conversion got = Convert(
      Route("  rules: [{hosts: [a.b]}]\n") +
      absl::StrReplaceAll(kScaledObject, {{"spec: {",
                                           "spec: {fallback: {failureThreshold: 4, replicas: 6}, "
                                           "idleReplicaCount: 0, "
                                           "advanced: {horizontalPodAutoscalerConfig: {behavior: "
                                           "{scaleUp: {stabilizationWindowSeconds: 7}}}}, "}}));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, HasSubstr("fallback:\n    failureThreshold: 4\n    replicas: 6\n"));
  EXPECT_THAT(got.yaml, HasSubstr("stabilizationWindowSeconds: 7\n"));
  EXPECT_THAT(got.yaml, HasSubstr("# not carried over: ScaledObject s: spec.idleReplicaCount: "));
  EXPECT_THAT(got.yaml, testing::Not(HasSubstr("nothing like it")));
}

TEST(ConvertHttpObjectsTest, NullIsAbsent) {
  const Conversion got = Convert(
      Route("  rules: [{hosts: [a.b], headers: }]\n") +
      absl::StrReplaceAll(kScaledObject, {{"spec: {",
                                           "spec: {advanced: {horizontalPodAutoscalerConfig: "
                                           "{behavior: {scaleUp: , scaleDown: {policies: , "
                                           "stabilizationWindowSeconds: 7}}}}, "}}));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml,
              HasSubstr("  behavior:\n    scaleDown:\n      stabilizationWindowSeconds: 7\n"));
  EXPECT_THAT(got.yaml, testing::Not(HasSubstr("~")));
}

TEST(ConvertHttpObjectsTest, CooldownsThatDoNotHoldAreNamed) {
  std::string scaled =
      absl::StrReplaceAll(kScaledObject, {{"spec: {", "spec: {initialCooldownPeriod: 60, "}});
  absl::StrAppend(&scaled, "status: {lastActiveTime: '2026-03-01T12:00:00Z'}\n");
  const std::string of_route = Convert(Route("  rules: [{hosts: [a.b]}]\n") + scaled).yaml;
  EXPECT_THAT(of_route, HasSubstr("# not carried over: ScaledObject s: spec.initialCooldownPeriod: "
                                  "a new Autoscaler with minReplicas of 0 "));
  EXPECT_THAT(of_route, HasSubstr("# not carried over: ScaledObject s: status.lastActiveTime: "));
  // The add-on has made the ScaledObject from the other one.
  const Conversion of_object =
      Convert(Object("  initialCooldownPeriod: 60\n") +
              absl::StrReplaceAll(scaled, {{"interceptorRoute", "httpScaledObject"}}));
  EXPECT_THAT(of_object.errors, IsEmpty());
  EXPECT_THAT(of_object.yaml,
              HasSubstr("# not carried over: spec.initialCooldownPeriod: a new Autoscaler with "));
  EXPECT_THAT(of_object.yaml,
              HasSubstr("# not carried over: ScaledObject s: status.lastActiveTime: a cooldown "));
  EXPECT_THAT(of_object.yaml, testing::Not(HasSubstr("ScaledObject s: spec.initialCool")));
}

TEST(ConvertHttpObjectsTest, NothingIsLeftOutInSilence) {
  const Conversion got = Convert(
      Object("  strange: 1\n  timeouts: {other: 1s}\n  staticRoutes: [{}]\n  coldStart: {}\n",
             "http.keda.sh/strange: x, team: a"));
  EXPECT_THAT(got.errors, IsEmpty());
  for (const char* field :
       {"spec.strange", "spec.timeouts.other", "spec.staticRoutes", "spec.coldStart",
        "annotation http.keda.sh/strange", "annotation team"}) {
    EXPECT_THAT(got.yaml, HasSubstr(absl::StrCat("# not carried over: ", field)));
  }
}

// The add-on gives the annotations of an HTTPScaledObject to the ScaledObject that it makes.
TEST(ConvertHttpObjectsTest, WhatKedaDoesNotScaleIsPaused) {
  EXPECT_THAT(Convert(Object("", "autoscaling.keda.sh/paused-replicas: '0'")).yaml,
              HasSubstr("paused: true\n"));
  const std::string paused = absl::StrReplaceAll(
      kScaledObject, {{"{name: s,", "{name: s, annotations: {autoscaling.keda.sh/paused: ''},"}});
  const std::string of_object =
      absl::StrReplaceAll(paused, {{"interceptorRoute", "httpScaledObject"}});
  for (const std::string& text :
       {Object("") + of_object, Route("  rules: [{hosts: [a.b]}]\n") + paused}) {
    const Conversion got = Convert(text);
    EXPECT_THAT(got.errors, IsEmpty());
    EXPECT_THAT(got.yaml, HasSubstr("paused: true\n"));
  }
}

// Pods that speak gRPC understand no HTTP/1.1.
TEST(ConvertHttpObjectsTest, EachWordForHttp2OfTheServiceIsCarriedOver) {
  const auto with = [](absl::string_view protocol) {
    return Convert(
        absl::StrCat(Object(""),
                     "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
                     "spec: {ports: [{port: 8080, appProtocol: ",
                     protocol, "}]}\n"));
  };
  for (const char* protocol : {"kubernetes.io/h2c", "grpc", "h2c"}) {
    const Conversion got = with(protocol);
    EXPECT_THAT(got.errors, IsEmpty());
    EXPECT_THAT(got.yaml, HasSubstr("appProtocol: kubernetes.io/h2c\n")) << protocol;
  }
  EXPECT_THAT(with("http").yaml, testing::Not(HasSubstr("appProtocol")));
}

TEST(ConvertHttpObjectsTest, TimeoutsThatLiveObjectsHaveUnasked) {
  const Conversion got = Convert(Object("  timeouts: {conditionWait: 0s, responseHeader: 0s}\n"));
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_THAT(got.yaml, testing::Not(HasSubstr("imeout")));
}

TEST(ConvertHttpObjectsTest, WhatWouldRouteOtherwiseIsAnError) {
  const struct {
    std::string text;
    const char* error;
  } rows[] = {
      {Route("  rules: [{hosts: [a]}]\n"), "h.yaml:5: spec.target: the target is in the "},
      {Route("  rules: [{hosts: [a]}, {hosts: [b], headers: [{name: x}]}]\n") + kScaledObject,
       "h.yaml:7: spec.rules[1].headers: an Autoscaler has the same headers"},
      {Object("  headers: [{name: x, value: 'a,b'}]\n"),
       "h.yaml:6: spec.headers[0]: must not contain a comma"},
      {Object("  hosts: ['a b']\n"), "h.yaml:6: spec.hosts: \"a b\" is no"},
      {Object("  hosts: ['[::1]:80']\n"), "h.yaml:6: spec.hosts: \"[::1]\" is no"},
      {Object("  replicas: {min: 3, max: 2}\n"),
       "h.yaml:6: spec.replicas.max: Invalid value: must be greater than or equal to `min`"},
      {Object("  timeouts:\n    request: soon\n"), "h.yaml:7: spec.timeouts.request: "},
      {Object("  replicas: {min: many}\n"), "h.yaml:6: spec.replicas.min: expected a whole number"},
      {Object("") + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: "
                    "shop}\nspec: {ports: [{port: 1}]}\n",
       "h.yaml:5: spec.scaleTargetRef: Service web has no port 8080"},
      {"kind: Pod\n", "h.yaml: no HTTPScaledObject or InterceptorRoute in it"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Convert(row.text).errors, Contains(testing::StartsWith(row.error))) << row.text;
  }
}

}  // namespace
}  // namespace flyball::convert
