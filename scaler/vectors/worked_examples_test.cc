// Examples of what happens around the math: the content of pod and metric documents, admission, and
// the target's scale. The controller of Kubernetes 1.34.4 gave the expected results. The numbers in
// the names only tell the examples apart.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scaler/vectors/vectors.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::json;

constexpr char kNow[] = "2026-01-28T02:00:10Z";
constexpr char kSampleTime[] = "2026-01-28T02:00:00Z";
constexpr char kHourAgo[] = "2026-01-28T01:00:00Z";

struct ContainerUse {
  std::string name, request, usage;
};

Json Pod(const std::string& name, const std::vector<ContainerUse>& containers) {
  Json list = Json::array();
  for (const ContainerUse& c : containers) {
    list.push_back({{"name", c.name}, {"resources", {{"requests", {{"cpu", c.request}}}}}});
  }
  return {{"metadata", {{"name", name}, {"labels", {{"app", "web"}}}}},
          {"spec", {{"containers", list}}},
          {"status",
           {{"phase", "Running"},
            {"startTime", kHourAgo},
            {"conditions",
             {{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", kHourAgo}}}}}}};
}

Json PodMetrics(const std::string& name, const std::vector<ContainerUse>& containers) {
  Json list = Json::array();
  for (const ContainerUse& c : containers)
    list.push_back({{"name", c.name}, {"usage", {{"cpu", c.usage}}}});
  return {{"metadata", {{"name", name}}},
          {"timestamp", kSampleTime},
          {"window", "30s"},
          {"containers", list}};
}

Json Scenario(const Json& metric, int spec_replicas) {
  return {
      {"id", "example"},
      {"config",
       {{"tolerance", 0.1},
        {"downscaleStabilizationSeconds", 300},
        {"cpuInitializationPeriodSeconds", 300},
        {"initialReadinessDelaySeconds", 30}}},
      {"autoscaler",
       {{"apiVersion", "autoscaling/v2"},
        {"kind", "HorizontalPodAutoscaler"},
        {"metadata", {{"name", "web"}, {"namespace", "prod"}}},
        {"spec",
         {{"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "web"}}},
          {"minReplicas", 1},
          {"maxReplicas", 100000},
          {"metrics", {metric}}}}}},
      {"ticks",
       {{{"now", kNow},
         {"scale",
          {{"specReplicas", spec_replicas},
           {"statusReplicas", spec_replicas},
           {"selector", "app=web"}}},
         {"pods", Json::array()},
         {"metrics", Json::object()}}}}};
}

// One External metric with AverageValue 10 that asks for `wanted` replicas.
Json Wants(int wanted, int spec_replicas) {
  Json scenario = Scenario({{"type", "External"},
                            {"external",
                             {{"metric", {{"name", "q"}}},
                              {"target", {{"type", "AverageValue"}, {"averageValue", "10"}}}}}},
                           spec_replicas);
  scenario["ticks"][0]["metrics"]["external"] = {{{"metric", "q"},
                                                  {"selector", ""},
                                                  {"items",
                                                   {{{"metricName", "q"},
                                                     {"value", std::to_string(10 * wanted)},
                                                     {"timestamp", kSampleTime}}}}}};
  return scenario;
}

Json WithPods(Json scenario, const std::vector<std::vector<ContainerUse>>& pods) {
  Json& tick = scenario["ticks"][0];
  tick["metrics"]["resource"]["items"] = Json::array();
  for (size_t i = 0; i < pods.size(); ++i) {
    const std::string name = "p" + std::to_string(i + 1);
    tick["pods"].push_back(Pod(name, pods[i]));
    tick["metrics"]["resource"]["items"].push_back(PodMetrics(name, pods[i]));
  }
  return scenario;
}

Json CpuUtilization(int percent) {
  return {
      {"type", "Resource"},
      {"resource",
       {{"name", "cpu"}, {"target", {{"type", "Utilization"}, {"averageUtilization", percent}}}}}};
}

Json ContainerUtilization(const std::string& container, int percent) {
  return {{"type", "ContainerResource"},
          {"containerResource",
           {{"name", "cpu"},
            {"container", container},
            {"target", {{"type", "Utilization"}, {"averageUtilization", percent}}}}}};
}

Json Tick(const Json& scenario) {
  const LineAnswer answer = AnswerLine(Json{{"scenario", scenario}}.dump(), 1);
  EXPECT_TRUE(answer.ok) << answer.text;
  const Json result = Json::parse(answer.text);
  EXPECT_EQ(result["admission"]["errors"], Json::array());
  return result["ticks"][0];
}

std::string Reason(const Json& tick, const std::string& type) {
  for (const Json& condition : tick["status"]["conditions"]) {
    if (condition["type"] == type) return condition["reason"].get<std::string>();
  }
  return "";
}

TEST(WorkedExamples, No9EachSampleRoundsUp) {
  const Json tick =
      Tick(WithPods(Scenario(CpuUtilization(20), 2),
                    {{{"app", "20m", "505634152n"}}, {{"app", "20m", "523202787n"}}}));
  EXPECT_EQ(tick["proposals"][0]["replicas"], 258);
  const Json& current = tick["status"]["currentMetrics"][0]["resource"]["current"];
  EXPECT_EQ(current["averageUtilization"], 2575) << "(506 + 524) * 100 / 40";
  EXPECT_EQ(current["averageValue"], "515m");
  EXPECT_EQ(tick["scaleWrites"][0]["replicas"], 4);
  EXPECT_EQ(Reason(tick, "ScalingLimited"), "ScaleUpLimit");
}

TEST(WorkedExamples, No45AContainerThatNoPodHas) {
  const Json tick = Tick(WithPods(Scenario(ContainerUtilization("nope", 50), 2),
                                  {{{"app", "1", "900m"}}, {{"app", "1", "900m"}}}));
  EXPECT_EQ(tick["desiredReplicas"].get<int>(), 0) << "the status before had none";
  EXPECT_FALSE(tick["rescaled"].get<bool>());
  EXPECT_EQ(Reason(tick, "ScalingActive"), "FailedGetContainerResourceMetric");
  EXPECT_EQ(Reason(tick, "AbleToScale"), "SucceededGetScale");
  EXPECT_NE(tick["proposals"][0]["error"].get<std::string>().find(
                "did not receive metrics for targeted pods (pods might be unready)"),
            std::string::npos);
}

TEST(WorkedExamples, No46ABusyNeighbourDoesNotCount) {
  const std::vector<ContainerUse> pod = {{"app", "1", "900m"}, {"log", "1", "5"}};
  const Json tick = Tick(WithPods(Scenario(ContainerUtilization("app", 50), 2), {pod, pod}));
  EXPECT_EQ(tick["proposals"][0]["replicas"], 4) << "1.8 * 2 = 3.6";
  EXPECT_EQ(tick["scaleWrites"][0]["replicas"], 4);
  EXPECT_EQ(Reason(tick, "ScalingLimited"), "DesiredWithinRange");
}

TEST(WorkedExamples, No108ToleranceWhoseSumIsAHairBelowTheRatio) {
  Json scenario = Wants(136, 100);
  scenario["config"]["featureGates"]["HPAConfigurableTolerance"] = true;
  scenario["autoscaler"]["spec"]["behavior"]["scaleUp"] = {{"tolerance", "360m"}};
  const Json tick = Tick(scenario);
  EXPECT_EQ(tick["proposals"][0]["replicas"], 136) << "1 + 0.36 is 1.3599999999999999";
  EXPECT_EQ(tick["scaleWrites"][0]["replicas"], 136);
}

TEST(WorkedExamples, No109ToleranceIsDroppedWhileItsGateIsOff) {
  Json scenario = Wants(12, 10);
  scenario["autoscaler"]["spec"]["behavior"]["scaleUp"] = {{"tolerance", "500m"}};
  const Json tick = Tick(scenario);
  EXPECT_EQ(tick["scaleWrites"][0]["replicas"], 12);
  EXPECT_EQ(tick["status"]["currentMetrics"][0]["external"]["current"]["averageValue"], "12");
}

TEST(WorkedExamples, No110TwoConflictsThenSuccess) {
  Json scenario = Wants(9, 3);
  scenario["ticks"][0]["faults"]["updateScale"] = {"conflict", "conflict", "ok"};
  const Json tick = Tick(scenario);
  ASSERT_EQ(tick["scaleWrites"].size(), 3u);
  EXPECT_EQ(tick["scaleWrites"][2]["replicas"], 6) << "at most twice the count, or 4";
  EXPECT_EQ(tick["scaleWrites"][2]["outcome"], "ok");
  EXPECT_EQ(Reason(tick, "AbleToScale"), "SucceededRescale");
  EXPECT_EQ(Reason(tick, "ScalingLimited"), "ScaleUpLimit");
}

TEST(WorkedExamples, No112TargetNotFound) {
  Json scenario = Wants(9, 3);
  scenario["ticks"][0]["faults"]["getScale"] = "notfound";
  const Json tick = Tick(scenario);
  EXPECT_FALSE(tick["rescaled"].get<bool>());
  EXPECT_EQ(Reason(tick, "AbleToScale"), "FailedGetScale");
  EXPECT_EQ(tick["events"][0]["reason"], "FailedGetScale");
}

TEST(WorkedExamples, No114ARivalWithoutPodsIsNoRival) {
  Json scenario = Wants(9, 3);
  scenario["otherAutoscalers"] = {
      {{"namespace", "prod"}, {"name", "rival"}, {"selector", "app=web"}}};
  const Json tick = Tick(scenario);
  EXPECT_EQ(tick["scaleWrites"][0]["replicas"], 6);
  EXPECT_EQ(Reason(tick, "ScalingActive"), "ValidMetricFound");
}

TEST(WorkedExamples, No115AnEmptySelector) {
  Json scenario = Wants(9, 3);
  scenario["ticks"][0]["scale"]["selector"] = "";
  const Json tick = Tick(scenario);
  EXPECT_FALSE(tick["rescaled"].get<bool>());
  EXPECT_EQ(Reason(tick, "ScalingActive"), "InvalidSelector");
  EXPECT_EQ(Reason(tick, "AbleToScale"), "SucceededGetScale");
  EXPECT_EQ(tick["events"][0]["reason"], "SelectorRequired");
}

}  // namespace
}  // namespace flyball::scaler
