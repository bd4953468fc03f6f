#include "doctor/metric.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/testing/fakes.h"
#include "adapter/testing/floor.h"
#include "doctor/test_findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::doctor {
namespace {

using adapter::SeriesName;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Time kNow = absl::FromUnixSeconds(1700000000);

scaler::MetricSpec Spec(scaler::MetricType type, const std::string& metric,
                        const std::map<std::string, std::string>& labels = {}) {
  scaler::MetricSpec spec;
  spec.type = type;
  spec.type_text = std::string(scaler::MetricTypeName(type));
  std::optional<scaler::LabelSelector> selector;
  if (!labels.empty())
    selector = scaler::LabelSelector{.match_labels = labels, .match_expressions = {}};
  spec.metric = scaler::MakeMetricIdentifier(metric, selector);
  return spec;
}

std::string PathOf(const scaler::MetricSpec& spec) {
  return MetricPath(spec, "shop", "app=web,tier in (a)", "v1beta2",
                    *adapter::FakeDirectory().mapper())
      .value_or("none");
}

TEST(MetricPath, IsThatOfTheHpaController) {
  EXPECT_EQ(PathOf(Spec(scaler::MetricType::kPods, "rps", {{"verb", "GET"}})),
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps"
            "?labelSelector=app%3Dweb%2Ctier%20in%20%28a%29&metricLabelSelector=verb%3DGET");
  EXPECT_EQ(PathOf(Spec(scaler::MetricType::kExternal, "queue", {{"queue", "mail"}})),
            "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue"
            "?labelSelector=queue%3Dmail");
  EXPECT_EQ(PathOf(Spec(scaler::MetricType::kResource, "")),
            "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"
            "?labelSelector=app%3Dweb%2Ctier%20in%20%28a%29");
}

TEST(MetricPath, OfAnObjectHasItsResourceAndGroup) {
  scaler::MetricSpec spec = Spec(scaler::MetricType::kObject, "rps");
  spec.described_object = {"networking.k8s.io/v1", "Ingress", "front"};
  EXPECT_EQ(PathOf(spec),
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/ingresses.networking.k8s.io/"
            "front/rps");
  spec.described_object = {"v1", "Namespace", "any"};
  EXPECT_EQ(PathOf(spec), "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/metrics/rps");
  spec.described_object = {"v1", "Moon", "any"};
  EXPECT_EQ(PathOf(spec), "none");
}

// An API server that answers every question about a metric with 404.
class NoMetrics : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall&) override {
    http::HttpAnswer answer;
    answer.status = 404;
    answer.body = R"({"kind": "Status", "message": "no such metric", "code": 404})";
    return answer;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("no streams");
  }
  void Shutdown() override {}
};

constexpr char kRules[] = R"(
rules:
- seriesQuery: '{__name__=~"rps.*"}'
  resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
externalRules:
- seriesQuery: queue_len
  resources: {namespaced: false}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>})
)";

class WalkTest : public testing::Test {
 protected:
  // The walk of a metric with these series. `labels` has the values that `count by` returns for
  // each label.
  Walk WalkOf(const scaler::MetricSpec& spec, std::vector<SeriesName> series,
              std::map<std::string, std::vector<std::string>> labels) {
    source_.OnSeries([series](const std::string& selector) {
      std::vector<SeriesName> found;
      for (const SeriesName& one : series) {
        if ((one.name == "queue_len") == (selector == "queue_len")) found.push_back(one);
      }
      return found;
    });
    source_.OnQuery([labels](const std::string& promql) {
      std::vector<adapter::Sample> samples;
      for (const auto& [label, values] : labels) {
        if (!absl::StartsWith(promql, absl::StrCat("count by (", label, ") "))) continue;
        for (const std::string& value : values) samples.push_back({{{label, value}}, kNow, 1});
      }
      return adapter::VectorOf(std::move(samples));
    });
    const auto mapper = adapter::FakeDirectory().mapper();
    const Discovered discovered =
        DiscoverSeries(*adapter::CompileOrDie(kRules), source_, mapper, {.now = kNow});
    NoMetrics server;
    kube::ApiClient api(server, Clock::System());
    MetricLooker looker({.api = api,
                         .mapper = *mapper,
                         .discovered = &discovered,
                         .source = &source_,
                         .now = kNow});
    MeasuredPods measured;
    measured.ns = "shop";
    measured.pods.emplace_back().name = "web-1";
    facts_ = looker.Look(spec, measured);
    EXPECT_TRUE(facts_.walk.ok()) << facts_.walk.status();
    return facts_.walk.value_or(Walk());
  }

  adapter::FakeSource source_;
  MetricFacts facts_;
};

TEST_F(WalkTest, FindsTheLabelThatTheScrapeRenamed) {
  const Walk walk = WalkOf(
      Spec(scaler::MetricType::kPods, "rps"), {{"rps", {"exported_pod", "namespace", "pod"}}},
      {{"namespace", {"shop"}}, {"pod", {"exporter-1"}}, {"exported_pod", {"web-1", "web-9"}}});
  EXPECT_EQ(walk.rule, "test.yaml:3");
  EXPECT_EQ(walk.series, "rps");
  EXPECT_EQ(walk.promql, R"(sum(rps{namespace="shop",pod="web-1"}) by (pod))");
  EXPECT_THAT(walk.objects, ElementsAre("exporter-1"));
  EXPECT_EQ(walk.objects_that_exist, 0u);
  EXPECT_EQ(walk.better_label, "exported_pod");
  EXPECT_THAT(source_.queries(),
              testing::Contains(R"(count by (pod) ({__name__="rps",namespace="shop"}))"));
}

TEST_F(WalkTest, FindsWhatTheNameIsGivenFor) {
  const Walk walk = WalkOf(Spec(scaler::MetricType::kPods, "rps"), {{"rps", {"namespace"}}}, {});
  EXPECT_THAT(walk.made_for, ElementsAre("namespaces"));
  EXPECT_THAT(walk.labels, ElementsAre("namespace"));
}

TEST_F(WalkTest, TellsSeriesWithoutANamespace) {
  const Walk walk = WalkOf(Spec(scaler::MetricType::kPods, "rps"), {{"rps", {"pod"}}}, {});
  EXPECT_THAT(walk.made_for, IsEmpty());
  EXPECT_THAT(walk.labels, ElementsAre("pod"));
  EXPECT_EQ(walk.namespace_label, "namespace");
}

TEST_F(WalkTest, FindsSimilarNames) {
  const Walk walk = WalkOf(Spec(scaler::MetricType::kPods, "rps"),
                           {{"rps_per_second", {"namespace", "pod"}}}, {});
  EXPECT_EQ(walk.rule, "");
  EXPECT_THAT(walk.similar, ElementsAre("rps_per_second"));
}

TEST_F(WalkTest, SendsTheQueryOfAnExternalMetric) {
  const Walk walk = WalkOf(Spec(scaler::MetricType::kExternal, "queue_len", {{"queue", "mail"}}),
                           {{"queue_len", {"queue"}}}, {});
  EXPECT_EQ(walk.promql, R"(sum(queue_len{queue="mail"}))");
  EXPECT_EQ(walk.samples, 0u);
  EXPECT_FALSE(walk.joined);
}

TEST_F(WalkTest, WithoutRulesThereIsNoWalk) {
  NoMetrics server;
  kube::ApiClient api(server, Clock::System());
  const auto mapper = adapter::FakeDirectory().mapper();
  MetricLooker looker({.api = api, .mapper = *mapper, .now = kNow});
  const MetricFacts facts = looker.Look(Spec(scaler::MetricType::kPods, "rps"), {});
  EXPECT_EQ(facts.answer.status().message(), "no such metric");
  EXPECT_FALSE(facts.walk.ok());
}

}  // namespace
}  // namespace flyball::doctor
