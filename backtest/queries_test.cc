#include "backtest/queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/objects/manifest_objects.h"

namespace flyball::backtest {
namespace {

using scaler::MetricSpec;
using scaler::MetricType;
using testing::HasSubstr;

constexpr char kRules[] =
    "rules:\n"
    "- seriesQuery: http_requests_total{namespace!=\"\"}\n"
    "  resources: {template: <<.Resource>>}\n"
    "  name: {matches: ^(.*)_total$, as: \"${1}_per_second\"}\n"
    "  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[1m])) by (<<.GroupBy>>)\n"
    "externalRules:\n"
    "- seriesQuery: queue_len\n"
    "  resources: {overrides: {namespace: {resource: namespace}}}\n"
    "  metricsQuery: max(<<.Series>>{<<.LabelMatchers>>}) by (queue)\n"
    "resourceRules:\n"
    "  cpu:\n"
    "    containerQuery: sum(rate(cpu_seconds{<<.LabelMatchers>>}[1m])) by (<<.GroupBy>>)\n"
    "    nodeQuery: node_cpu{<<.LabelMatchers>>}\n"
    "    resources: {template: <<.Resource>>}\n"
    "    containerLabel: container\n"
    "  memory:\n"
    "    containerQuery: sum(memory_bytes{<<.LabelMatchers>>}) by (<<.GroupBy>>)\n"
    "    nodeQuery: node_memory{<<.LabelMatchers>>}\n"
    "    resources: {template: <<.Resource>>}\n"
    "    containerLabel: container\n"
    "  window: 1m\n";

class TotalQueriesTest : public testing::Test {
 protected:
  TotalQueriesTest() {
    const rules::CompileResult compiled = rules::CompileRules(kRules, "config.yaml");
    EXPECT_NE(compiled.rules, nullptr);
    rules_ = compiled.rules;
    const auto table = [](const char* name, std::vector<std::string> labels) {
      std::vector<adapter::SeriesName> found = {{name, std::move(labels)}};
      return std::make_shared<const adapter::SeriesTable>(std::move(found));
    };
    registry_ = adapter::SeriesRegistry::Build(
        {.custom = {{rules_->custom[0],
                     table("http_requests_total", {"namespace", "pod", "service"})}},
         .external = {{rules_->external[0], table("queue_len", {"namespace", "queue"})}},
         .mapper = mapper_},
        nullptr);
    autoscaler_.ns = "shop";
    autoscaler_.name = "web";
    autoscaler_.scale_target = {"apps/v1", "Deployment", "web"};
  }

  std::string Query(MetricSpec metric) {
    autoscaler_.metrics = {std::move(metric)};
    const auto queries = TotalQueries(
        autoscaler_,
        {.rules = *rules_, .registry = *registry_, .mapper = *mapper_, .given = given_});
    return queries[0].ok() ? *queries[0] : std::string(queries[0].status().message());
  }

  static MetricSpec Metric(MetricType type, const std::string& name) {
    MetricSpec metric;
    metric.type = type;
    if (type == MetricType::kResource) {
      metric.resource = name;
    } else {
      metric.metric = scaler::MakeMetricIdentifier(name, std::nullopt);
    }
    return metric;
  }

  const std::shared_ptr<const kube::RestMapper> mapper_ = kube::ManifestObjects({}).mapper();
  std::shared_ptr<const rules::CompiledRules> rules_;
  std::shared_ptr<const adapter::SeriesRegistry> registry_;
  std::map<std::string, std::string> given_;
  scaler::Autoscaler autoscaler_;
};

TEST_F(TotalQueriesTest, PodsAreThoseThatTheTargetNames) {
  EXPECT_EQ(Query(Metric(MetricType::kPods, "http_requests_per_second")),
            "sum(rate(http_requests_total{namespace=\"shop\",pod=~\"web-[a-z0-9]+-[a-z0-9]{5}\"}"
            "[1m])) by (pod)");
  autoscaler_.scale_target = {"apps/v1", "StatefulSet", "db.1"};
  EXPECT_THAT(Query(Metric(MetricType::kPods, "http_requests_per_second")),
              HasSubstr(R"(pod=~"db\\.1-[0-9]+")"));
  autoscaler_.scale_target.kind = "statefulset";
  EXPECT_THAT(Query(Metric(MetricType::kPods, "http_requests_per_second")),
              HasSubstr(R"(pod=~"db\\.1-[0-9]+")"));
}

TEST_F(TotalQueriesTest, OtherObjectsAndSeriesAsAnHpaAsksForThem) {
  MetricSpec object = Metric(MetricType::kObject, "http_requests_per_second");
  for (const char* kind : {"Service", "service"}) {
    object.described_object = {"v1", kind, "front"};
    EXPECT_EQ(
        Query(object),
        "sum(rate(http_requests_total{namespace=\"shop\",service=\"front\"}[1m])) by (service)");
  }
  MetricSpec external = Metric(MetricType::kExternal, "queue_len");
  scaler::LabelSelector mail;
  mail.match_labels = {{"queue", "mail"}};
  external.metric = scaler::MakeMetricIdentifier("queue_len", mail);
  EXPECT_EQ(Query(external), "max(queue_len{queue=\"mail\",namespace=\"shop\"}) by (queue)");
}

TEST_F(TotalQueriesTest, ResourcesByResourceRules) {
  EXPECT_THAT(Query(Metric(MetricType::kResource, "cpu")),
              HasSubstr("pod=~\"web-[a-z0-9]+-[a-z0-9]{5}\""));
  EXPECT_THAT(Query(Metric(MetricType::kResource, "gpu")),
              HasSubstr("resource gpu: the rule file has no resourceRules for it; --query "
                        "'gpu=PROMQL' says what its total was"));
}

TEST_F(TotalQueriesTest, AGivenQueryWins) {
  given_["gpu"] = "sum(gpus_used)";
  EXPECT_EQ(Query(Metric(MetricType::kResource, "gpu")), "sum(gpus_used)");
  EXPECT_THAT(Query(Metric(MetricType::kPods, "other")),
              HasSubstr("pods metric other: no rule finds a series for it"));
}

}  // namespace
}  // namespace flyball::backtest
