#include "cmd/flyball/query_metric.h"

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::cmd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A server with answers by the beginning of the path, and 404 for all others.
class FakeServer : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    targets.push_back(call.target);
    http::HttpAnswer answer;
    answer.status = 404;
    answer.body = R"({"kind":"Status","message":"not found here"})";
    if (call.target == "/apis/custom.metrics.k8s.io") {
      answer.status = 200;
      answer.body = R"({"kind":"APIGroup","preferredVersion":{"version":"v1beta2"}})";
    } else if (absl::StartsWith(call.target, answers_at)) {
      answer.status = status;
      answer.body = body;
      if (!warning.empty()) answer.headers.emplace_back("Warning", warning);
    }
    return answer;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("");
  }
  void Shutdown() override {}

  std::string answers_at = "nowhere", body, warning;
  int status = 200;
  std::vector<std::string> targets;
};

TEST(CustomMetricPath, NamesObjectAndSelector) {
  MetricQuestion question = {.metric = "rps", .selector = "a=b", .ns = "shop"};
  EXPECT_EQ(
      CustomMetricPath(question, "v1beta2"),
      "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps?metricLabelSelector=a%3Db");
  question = {.metric = "rps", .object = "services/web", .selector = "", .ns = "shop"};
  EXPECT_EQ(CustomMetricPath(question, "v1beta1"),
            "/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/services/web/rps");
  question.object = "namespaces";
  EXPECT_EQ(CustomMetricPath(question, "v1beta1"),
            "/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/metrics/rps");
}

TEST(AnswerMetric, ShowsTheCustomMetric) {
  FakeServer server;
  server.answers_at = "/apis/custom.metrics.k8s.io/v1beta2/";
  server.body =
      R"({"kind":"MetricValueList","items":[{"describedObject":{"kind":"Pod","name":"web-1"},)"
      R"("metric":{"name":"rps"},"timestamp":"2023-11-14T22:13:20Z","value":"1500m"}]})";
  const auto text = AnswerMetric(server, {.metric = "rps", .selector = "", .ns = "shop"});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("web-1          1500m  2023-11-14T22:13:20Z"));
}

TEST(AnswerMetric, TriesTheExternalApiAndTellsWhatBothSay) {
  FakeServer server;
  const auto text = AnswerMetric(server, {.metric = "rps", .selector = "", .ns = "shop"});
  EXPECT_TRUE(absl::IsNotFound(text.status())) << text.status();
  EXPECT_THAT(std::string(text.status().message()),
              HasSubstr("custom: not found here; external: not found here"));
  EXPECT_THAT(server.targets,
              ElementsAre("/apis/custom.metrics.k8s.io",
                          "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps",
                          "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/rps"));
}

TEST(AnswerMetric, AFailureHasTheWarningThatNamesTheRule) {
  FakeServer server;
  server.answers_at = "/apis/custom.metrics.k8s.io/v1beta2/";
  server.status = 500;
  server.body = R"({"kind":"Status","message":"unable to fetch metrics"})";
  server.warning = "299 - \"the query of rules[0] (c.yaml:2) fails\"";
  const auto text = AnswerMetric(server, {.metric = "rps", .selector = "", .ns = "shop"});
  EXPECT_THAT(std::string(text.status().message()),
              HasSubstr("unable to fetch metrics (299 - \"the query of rules[0] (c.yaml:2) fails"));
}

TEST(AnswerMetric, GivesTheAnswerOfTheApiToMachines) {
  FakeServer server;
  server.answers_at = "/apis/custom.metrics.k8s.io/v1beta2/";
  server.body = R"({"kind":"MetricValueList","items":[]})";
  EXPECT_EQ(*AnswerMetric(server, {.metric = "rps", .selector = "", .ns = "shop", .json = true}),
            server.body);
}

TEST(RulesOfMetric, NamesTheRuleAndWhatFailed) {
  const char page[] =
      R"({"rules":[{"list":"rules","index":1,"where":"c.yaml:4","seriesQuery":"a_total",)"
      R"("metrics":["pods/b","pods/a"],"queries":{"failing":true,"lastFailure":)"
      R"j({"at":"2023-11-14T22:13:20Z","promql":"rate(a)","error":"parse error"}}},)j"
      R"({"list":"externalRules","index":0,"where":"c.yaml:9","seriesQuery":"q_len",)"
      R"("metrics":["q"],"queries":{}}]})";
  EXPECT_EQ(*RulesOfMetric(page, "a"),
            "made by rules[1] c.yaml:4 of a_total\n"
            "  failed at 2023-11-14T22:13:20Z: rate(a): parse error\n");
  EXPECT_EQ(*RulesOfMetric(page, "q"), "made by externalRules[0] c.yaml:9 of q_len\n");
  EXPECT_EQ(*RulesOfMetric(page, "other"), "made by no rule that is in force\n");
  EXPECT_FALSE(RulesOfMetric("[]", "q").ok());
}

TEST(MetricsTable, NamesTheRuleOfEachMetric) {
  const auto table = MetricsTable(
      R"({"rules":[{"list":"rules","index":1,"where":"c.yaml:4","metrics":["pods/b","pods/a"],)"
      R"("queries":{"failing":true}},)"
      R"({"list":"externalRules","index":0,"where":"c.yaml:9","metrics":["q"],"queries":{}}]})");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(*table,
            "API       METRIC  RULE\n"
            "custom    pods/a  rules[1] c.yaml:4  its query fails\n"
            "custom    pods/b  rules[1] c.yaml:4  its query fails\n"
            "external  q       externalRules[0] c.yaml:9\n");
  EXPECT_FALSE(MetricsTable("<html>").ok());
}

}  // namespace
}  // namespace flyball::cmd
