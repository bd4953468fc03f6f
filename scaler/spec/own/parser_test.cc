#include "scaler/spec/own/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Document>
OwnParseResult Parse(const Document& document) {
  return ParseOwnAutoscaler(document, TriggerTypeNames());
}

std::string Own(absl::string_view spec) {
  return absl::StrCat(R"(
apiVersion: flyball.dev/v1alpha1
kind: Autoscaler
metadata: {name: web, namespace: prod, creationTimestamp: "2026-03-01T12:00:00Z"}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 10
)",
                      spec);
}

TEST(ParseOwnAutoscalerTest, WithoutTriggersItIsAnHpa) {
  const OwnParseResult got = Parse(Own(""));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.autoscaler->ns, "prod");
  EXPECT_EQ(got.autoscaler->min_replicas, 1);
  ASSERT_EQ(got.autoscaler->metrics.size(), 1u);
  EXPECT_EQ(got.autoscaler->metrics[0].resource, "cpu");
  EXPECT_FALSE(got.autoscaler->pending_capacity);
  EXPECT_FALSE(got.own.mode.has_value());
  EXPECT_FALSE(got.own.cadence.interval.has_value());
  EXPECT_EQ(got.own.cooldown, absl::Minutes(5));
  EXPECT_EQ(got.created, absl::FromCivil(absl::CivilSecond(2026, 3, 1, 12), absl::UTCTimeZone()));
}

TEST(ParseOwnAutoscalerTest, EveryFieldIsRead) {
  const OwnParseResult got = Parse(Own(R"(  minReplicas: 0
  cadence: {interval: 1m30.5s}
  mode: Act
  paused: true
  pendingCapacity: true
  cooldownPeriod: 90
  fallback: {failureThreshold: 5, replicas: 4}
  behavior: {scaleUp: {tolerance: 0.05}}
  triggers:
  - type: prometheus
    name: load
    metadata: {threshold: "5"}
    metricType: Value
    authenticationSecretRefs: [{parameter: token, name: api, key: t}]
status: {lastActiveTime: "2026-03-02T00:00:00Z", currentReplicas: 3}
)"));
  ASSERT_TRUE(got.ok()) << got.decode_error;
  EXPECT_THAT(got.autoscaler->metrics, IsEmpty());
  EXPECT_EQ(got.autoscaler->min_replicas, 0);
  EXPECT_EQ(got.autoscaler->status.current_replicas, 3);
  EXPECT_EQ(got.autoscaler->behavior->scale_up.tolerance->quantity.ToString(), "50m");
  EXPECT_EQ(got.own.cadence.interval, absl::Milliseconds(90'500));
  EXPECT_EQ(got.own.mode, Mode::kAct);
  EXPECT_TRUE(got.autoscaler->pending_capacity);
  EXPECT_TRUE(got.own.paused);
  EXPECT_EQ(got.own.cooldown, absl::Seconds(90));
  EXPECT_EQ(got.own.fallback->after_failures, 5);
  EXPECT_EQ(got.own.fallback->replicas, 4);
  ASSERT_EQ(got.own.triggers.size(), 1u);
  const TriggerSpec& trigger = got.own.triggers[0];
  EXPECT_EQ(trigger.type, "prometheus");
  EXPECT_EQ(trigger.name, "load");
  EXPECT_EQ(trigger.metadata.at("threshold"), "5");
  EXPECT_EQ(trigger.metric_type, "Value");
  EXPECT_EQ(trigger.secrets.at("token").secret, "api");
  EXPECT_EQ(trigger.secrets.at("token").key, "t");
  EXPECT_EQ(got.last_active, absl::FromCivil(absl::CivilSecond(2026, 3, 2), absl::UTCTimeZone()));
}

TEST(ParseOwnAutoscalerTest, AllErrorsComeAtOnceSortedByField) {
  const OwnParseResult got = Parse(Own(R"(  minReplicas: 12
  cadence: {interval: 100ms}
  mode: off
  metrics: [{type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: 0}}}]
)"));
  EXPECT_THAT(got.decode_error, HasSubstr("spec.mode: expected a string, got the bool false"));
  const OwnParseResult quoted = Parse(Own(R"(  minReplicas: 12
  cadence: {interval: 100ms}
  mode: "off"
  metrics: [{type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: 0}}}]
)"));
  std::vector<std::string> shown;
  for (const FieldError& error : quoted.errors) shown.push_back(error.ToString());
  EXPECT_THAT(
      shown,
      ElementsAre("spec.cadence.interval: Invalid value: must be from 200ms to 1h",
                  "spec.maxReplicas: Invalid value: must be greater than or equal to `minReplicas`",
                  "spec.metrics[0].pods.target.averageValue: Invalid value: must be positive",
                  R"(spec.mode: Unsupported value: supported values: "Act", "Advise", "Shadow")"));
}

// The API server takes it in a custom resource: nothing would be decided as long as it is there.
TEST(ParseOwnAutoscalerTest, AFinalizerNeedsNoDomain) {
  const OwnParseResult got = Parse(absl::StrReplaceAll(
      Own(""), {{"{name: web,", "{name: web, finalizers: [cleanup, kept for the audit],"}}));
  EXPECT_TRUE(got.ok()) << got.ErrorText();
}

// A line of a trigger with that key.
std::string Trigger(const std::string& key, size_t bytes) {
  return absl::StrCat("  - {type: cron, metadata: {", key, ": ", std::string(bytes, 'a'), "}}\n");
}

TEST(ParseOwnAutoscalerTest, MetadataOfTriggersHaveLimits) {
  const auto errors = [](const std::string& triggers) {
    std::vector<std::string> shown;
    for (const FieldError& error : Parse(Own(absl::StrCat("  triggers:\n", triggers))).errors) {
      shown.push_back(error.ToString());
    }
    return shown;
  };
  EXPECT_THAT(errors(Trigger("url", 8192) + Trigger("query", 65'536)), ElementsAre());
  EXPECT_THAT(errors(Trigger("hosts", 65'536)), ElementsAre());
  EXPECT_THAT(
      errors(Trigger("url", 8193) + Trigger("query", 65'537)),
      ElementsAre("spec.triggers[0].metadata.url: Too long: may not be more than 8192 bytes",
                  "spec.triggers[1].metadata.query: Too long: may not be more than 65536 bytes"));
  EXPECT_THAT(errors(Trigger(std::string(254, 'k'), 1)),
              ElementsAre("spec.triggers[0].metadata: Invalid value: must have keys of at most 253 "
                          "bytes"));
  EXPECT_THAT(errors(Trigger("query", 65'536) + Trigger("query", 65'536)),
              ElementsAre("spec.triggers: Invalid value: must have at most 131072 bytes of "
                          "metadata, has 131082"));
}

TEST(ParseOwnAutoscalerTest, OtherKindsAreNamed) {
  EXPECT_EQ(Parse("kind: Autoscaler").decode_error, "field `apiVersion` is missing");
  EXPECT_EQ(Parse("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler").decode_error,
            "expected kind Autoscaler, got HorizontalPodAutoscaler");
  EXPECT_EQ(Parse("").decode_error, "expected one object, got 0");
}

// The table that the custom resource definition is tested with too (test/e2e/own_kind_test.py).
std::vector<Node> Cases() {
  std::ifstream in(FLYBALL_SOURCE_DIR "/test/data/own_kind_cases.yaml");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  absl::StatusOr<std::vector<Node>> cases = ParseDocuments(text);
  return cases.ok() ? *cases : std::vector<Node>{};
}

Node Object(const Node& row) {
  absl::StatusOr<std::vector<Node>> base = ParseDocuments(Own(""));
  if (!base.ok()) return {};
  Node object = base->front();
  for (Member& member : object.members) {
    if (member.key != "spec") continue;
    if (row.Find("whole") != nullptr) member.value.members.clear();
    for (const Member& field : row.Find("spec")->members) {
      std::erase_if(member.value.members, [&](const Member& m) { return m.key == field.key; });
      member.value.members.push_back(field);
    }
  }
  return object;
}

class OwnKindCaseTest : public testing::TestWithParam<Node> {};

TEST_P(OwnKindCaseTest, IsJudgedAsStated) {
  const OwnParseResult got = Parse(Object(GetParam()));
  const absl::string_view field = GetParam().FindText("refused");
  std::vector<std::string> errors = {got.decode_error};
  for (const FieldError& error : got.errors) errors.push_back(error.ToString());
  if (field.empty() || absl::StartsWith(GetParam().FindText("only"), "definition")) {
    EXPECT_TRUE(got.ok()) << absl::StrJoin(errors, "\n");
  } else {
    EXPECT_FALSE(got.ok());
    EXPECT_THAT(absl::StrJoin(errors, "\n"), HasSubstr(std::string(field)));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, OwnKindCaseTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.FindText("case")); });

}  // namespace
}  // namespace flyball::scaler
