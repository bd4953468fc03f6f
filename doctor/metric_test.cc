#include "doctor/metric.h"

#include <functional>
#include <utility>

#include "doctor/test_findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::doctor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Time kNow = absl::FromUnixSeconds(1700000000);

scaler::MetricSpec PodsMetric() {
  scaler::MetricSpec spec;
  spec.type = scaler::MetricType::kPods;
  spec.type_text = "Pods";
  spec.metric = scaler::MakeMetricIdentifier("rps", std::nullopt);
  return spec;
}

scaler::MetricSpec CpuUtilization() {
  scaler::MetricSpec spec;
  spec.type = scaler::MetricType::kResource;
  spec.type_text = "Resource";
  spec.resource = "cpu";
  spec.target.average_utilization = 50;
  return spec;
}

MeasuredPods Pods(std::vector<std::string> names) {
  MeasuredPods measured;
  measured.ns = "shop";
  measured.selector = "app=web";
  for (std::string& name : names) {
    scaler::Pod pod;
    pod.name = std::move(name);
    pod.phase = scaler::PodPhase::kRunning;
    pod.containers.emplace_back().name = "main";
    measured.pods.push_back(std::move(pod));
  }
  return measured;
}

MetricItem Item(std::string object, std::string value, absl::Duration age = absl::Seconds(2)) {
  return {.object = std::move(object), .value = std::move(value), .at = kNow - age};
}

MetricFacts Answered(std::vector<MetricItem> items) {
  MetricFacts facts;
  facts.spec = PodsMetric();
  facts.answer = std::move(items);
  return facts;
}

TEST(CheckMetric, ShowsValueAndAge) {
  EXPECT_THAT(Lines(CheckMetric(Answered({Item("web-1", "1500m"), Item("web-2", "2")}),
                                Pods({"web-1", "web-2"}), kNow)),
              ElementsAre("good metric: Pods rps is web-1 1500m, web-2 2, 2 s old"));
}

TEST(CheckMetric, ShortensManyValues) {
  EXPECT_THAT(Lines(CheckMetric(Answered({Item("a", "1"), Item("b", "1"), Item("c", "1"),
                                          Item("d", "1"), Item("e", "1")}),
                                Pods({"a"}), kNow))[0],
              HasSubstr("a 1, b 1, c 1 and 2 more"));
}

TEST(CheckMetric, NamesPodsWithoutAValue) {
  EXPECT_THAT(Lines(CheckMetric(Answered({Item("web-1", "1")}), Pods({"web-1", "web-2"}), kNow))[1],
              HasSubstr("doubtful metric-pods: Pods rps: no value of web-2"));
}

TEST(CheckMetric, OldValuesAreDoubtful) {
  EXPECT_THAT(Lines(CheckMetric(Answered({Item("web-1", "1", absl::Minutes(6))}), Pods({"web-1"}),
                                kNow))[0],
              HasSubstr("doubtful metric: Pods rps is web-1 1, 360 s old"));
}

TEST(CheckMetric, MissesAContainersUsage) {
  MetricFacts facts = Answered({Item("web-1", "1")});
  facts.spec = CpuUtilization();
  facts.spec.target = {};
  facts.answer->front().complete = false;
  EXPECT_THAT(Lines(CheckMetric(facts, Pods({"web-1"}), kNow))[1],
              HasSubstr("bad metric-containers: Resource cpu: pod web-1 has no cpu"));
}

TEST(CheckMetric, WhatMayNotBeReadIsNotBroken) {
  MetricFacts facts = Answered({});
  facts.answer = absl::PermissionDeniedError("forbidden");
  EXPECT_THAT(Lines(CheckMetric(facts, Pods({}), kNow)),
              ElementsAre(HasSubstr("doubtful metric: Pods rps: forbidden")));
}

TEST(CheckMetric, SaysWhatTheApiSaidBesideTheCause) {
  MetricFacts facts = Answered({});
  facts.answer = absl::NotFoundError("the server could not find the metric rps for pods");
  facts.listed = false;
  facts.walk = Walk();
  EXPECT_THAT(Lines(CheckMetric(facts, Pods({}), kNow)),
              ElementsAre(AllOf(HasSubstr("no rule gives that name"),
                                HasSubstr("(the API: the server could not find the metric rps for "
                                          "pods; it does not list the metric)"))));
}

TEST(CheckMetric, OfOurOwnKindNeedsNoApi) {
  MetricFacts facts = Answered({});
  facts.answer = absl::NotFoundError("no such API");
  facts.in_process = true;
  Walk walk;
  walk.samples = 2;
  walk.promql = "sum(x)";
  facts.walk = walk;
  EXPECT_THAT(
      Lines(CheckMetric(facts, Pods({}), kNow)),
      ElementsAre("good metric: Pods rps: Prometheus has 2 samples for the scaler: sum(x)"));
}

TEST(CheckRequests, MissesThoseOfOneContainer) {
  EXPECT_THAT(Lines(CheckRequests(CpuUtilization(), Pods({"web-1"}))),
              ElementsAre("bad requests: missing request for cpu in container main of Pod web-1 | "
                          "set resources.requests.cpu of each container in the target's pod "
                          "template"));
}

TEST(CheckRequests, AreOfNoInterestToAverageValues) {
  scaler::MetricSpec spec = CpuUtilization();
  spec.target = {};
  spec.target.average_value = scaler::MakeTargetAmount(*kube::Quantity::Parse("100m"));
  EXPECT_THAT(Lines(CheckRequests(spec, Pods({"web-1"}))), IsEmpty());
}

// A walk that found everything; each row removes something.
Walk Whole() {
  Walk walk;
  walk.rule = "config.yaml:2";
  walk.series = "rps_total";
  walk.labels = {"exported_pod", "namespace", "pod"};
  walk.wanted = "pods";
  walk.object_label = "pod";
  walk.namespace_label = "namespace";
  walk.promql = "sum(rps_total)";
  walk.joined = true;
  walk.namespaces = {"shop"};
  walk.objects = {"web-1"};
  walk.objects_that_exist = 1;
  return walk;
}

struct MetricRow {
  std::string name;
  std::function<void(Walk&)> breaks;
  std::string text, fix;
};

class BrokenLinkTest : public testing::TestWithParam<MetricRow> {};

TEST_P(BrokenLinkTest, Row) {
  Walk walk = Whole();
  GetParam().breaks(walk);
  const std::string line = Line(BrokenLink("Pods rps", walk, Pods({"web-1"})));
  EXPECT_THAT(line, AllOf(HasSubstr("bad "), HasSubstr(GetParam().text), HasSubstr(" | "),
                          HasSubstr(GetParam().fix)));
}

INSTANTIATE_TEST_SUITE_P(
    Links, BrokenLinkTest,
    testing::Values(
        MetricRow{"NoRuleAtAll", [](Walk& w) { w = Walk(); }, "no rule gives that name",
                  "docs/rules-by-example.md"},
        MetricRow{"ASimilarName",
                  [](Walk& w) {
                    w = Walk();
                    w.similar = {"rps_per_second"};
                  },
                  "similar: rps_per_second", "correct the metric's name"},
        MetricRow{"ForAnotherResource", [](Walk& w) { w.made_for = {"services"}; },
                  "gives it for services and not for pods", "resources.overrides at config.yaml:2"},
        MetricRow{"ForAnotherResourceWithAHint",
                  [](Walk& w) {
                    w.made_for = {"services"};
                    w.better_label = "exported_pod";
                  },
                  "has the labels exported_pod, namespace, pod",
                  "resources.overrides.exported_pod"},
        MetricRow{"TheQueryIsRefused",
                  [](Walk& w) { w.asked = absl::InvalidArgumentError("parse error"); },
                  "the query of rule config.yaml:2 fails: parse error: sum(rps_total)",
                  "correct metricsQuery"},
        MetricRow{"NoNamespaceLabel",
                  [](Walk& w) {
                    w.labels = {"exported_pod", "pod"};
                  },
                  "rps_total has no label namespace, only exported_pod, pod",
                  "set a label namespace"},
        MetricRow{"AnotherNamespace", [](Walk& w) { w.namespaces = {"bank"}; },
                  "rps_total has namespace bank and not shop", "honorLabels"},
        MetricRow{"TheExportersName",
                  [](Walk& w) {
                    w.objects = {"exporter-1"};
                    w.objects_that_exist = 0;
                    w.better_label = "exported_pod";
                  },
                  "label pod of rps_total is exporter-1, which is none of the target's pods; label "
                  "exported_pod is",
                  "resources.overrides.exported_pod at config.yaml:2"},
        MetricRow{"NamesOfNobody",
                  [](Walk& w) {
                    w.objects = {"old-1"};
                    w.objects_that_exist = 0;
                  },
                  "is old-1, which is none of the target's pods",
                  "map the label that has their names"},
        MetricRow{"NoSampleNow",
                  [](Walk& w) {
                    w.objects = {};
                    w.objects_that_exist = 0;
                  },
                  "has no sample in namespace shop now", "Targets"},
        MetricRow{"TheQueryLosesThem", [](Walk&) {}, "the series are there, and this gives nothing",
                  "by (<<.GroupBy>>)"},
        MetricRow{"ExternalWithoutSamples", [](Walk& w) { w.joined = false; },
                  "Prometheus has nothing for sum(rps_total)", "selector"},
        MetricRow{"OnlyTheServerHasNothing", [](Walk& w) { w.samples = 3; },
                  "Prometheus has 3 samples", "/debug/rules"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::doctor
