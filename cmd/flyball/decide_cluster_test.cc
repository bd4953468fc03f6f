#include "cmd/flyball/decide_cluster.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scaler/explain/explain.h"
#include "scaler/explain/given_case.h"

namespace flyball::cmd {
namespace {

using testing::HasSubstr;

// An API server with an answer for each path.
class FakeCluster : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    http::HttpAnswer answer;
    const auto found = answers.find(call.target);
    answer.status = found == answers.end() ? 404 : 200;
    answer.body = found == answers.end()
                      ? absl::StrCat(R"({"kind":"Status","message":"no )", call.target, R"("})")
                      : found->second;
    return answer;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("");
  }
  void Shutdown() override {}
  std::map<std::string, std::string> answers;
};

constexpr char kHpas[] = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers";

// A HorizontalPodAutoscaler on the Deployment of its name.
std::string Hpa(absl::string_view name, absl::string_view metrics) {
  return absl::StrCat(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",)",
                      R"("metadata":{"name":")", name, R"(","namespace":"shop"},"spec":{)",
                      R"("maxReplicas":9,"scaleTargetRef":{"apiVersion":"apps/v1",)",
                      R"("kind":"Deployment","name":")", name, R"("},"metrics":[)", metrics, "]}}");
}

// The metric with an average target of 10; `selector` has labels as JSON, or nothing.
std::string Metric(absl::string_view type, absl::string_view name, absl::string_view selector) {
  return absl::StrCat(
      R"({"type":")", type, R"(",")", type == "Pods" ? "pods" : "external",
      R"(":{"metric":{"name":")", name, R"(")",
      selector.empty() ? "" : absl::StrCat(R"(,"selector":{"matchLabels":)", selector, "}"),
      R"(},"target":{"type":"AverageValue","averageValue":"10"}}})");
}

// What the one pod has of the metric `rps`.
std::string PodValues(absl::string_view value) {
  return absl::StrCat(
      R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","items":[)",
      R"({"describedObject":{"kind":"Pod","name":"web-1","namespace":"shop"},)",
      R"("metric":{"name":"rps"},"timestamp":"2024-01-01T00:00:00Z","value":")", value, R"("}]})");
}

class ReadHpaTest : public testing::Test {
 protected:
  ReadHpaTest() {
    auto& answers = server_.answers;
    answers["/version"] = R"({"major":"1","minor":"35"})";
    answers["/api"] = R"({"kind":"APIVersions","versions":["v1"]})";
    answers["/api/v1"] =
        R"({"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list"]}]})";
    answers["/apis"] =
        R"({"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],)"
        R"("preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]})";
    answers["/apis/apps/v1"] =
        R"({"kind":"APIResourceList","resources":[{"name":"deployments","kind":"Deployment","namespaced":true,)"
        R"("verbs":["list"]},{"name":"deployments/scale","kind":"Scale","namespaced":true,)"
        R"("group":"autoscaling","version":"v1","verbs":["get"]}]})";
    SetMetrics(Metric("Pods", "rps", ""));
    SetScale("web", "a=b");
    answers["/api/v1/namespaces/shop/pods?labelSelector=a%3Db"] =
        R"({"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"web-1",)"
        R"("namespace":"shop","labels":{"a":"b"}},"status":{"phase":"Running",)"
        R"("startTime":"2020-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"True",)"
        R"("lastTransitionTime":"2020-01-01T00:00:10Z"}]}}]})";
  }

  // `other` is the name of a second HPA.
  void SetMetrics(absl::string_view metrics, absl::string_view other = "") {
    server_.answers[absl::StrCat(kHpas, "/web")] = Hpa("web", metrics);
    server_.answers[kHpas] = absl::StrCat(
        R"({"kind":"HorizontalPodAutoscalerList","apiVersion":"autoscaling/v2","items":[)",
        Hpa("web", metrics), other.empty() ? "" : absl::StrCat(",", Hpa(other, "")), "]}");
  }
  void SetScale(absl::string_view deployment, absl::string_view selector, int replicas = 1) {
    server_
        .answers[absl::StrCat("/apis/apps/v1/namespaces/shop/deployments/", deployment, "/scale")] =
        absl::StrCat(R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":")",
                     deployment, R"(","namespace":"shop"},"spec":{"replicas":)", replicas,
                     R"(},"status":{"replicas":1,"selector":")", selector, R"("}})");
  }
  void SetExternal(absl::string_view question, absl::string_view labels, absl::string_view value) {
    server_
        .answers[absl::StrCat("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/", question)] =
        absl::StrCat(R"({"kind":"ExternalMetricValueList","items":[{"metricName":"q",)",
                     R"("metricLabels":)", labels, R"(,"timestamp":"2024-01-01T00:00:00Z",)",
                     R"("value":")", value, R"("}]})");
  }
  // Reads and decides; without a test failure there are no gaps.
  scaler::GivenCase Decided() {
    const auto read = ReadHpa(server_, Clock::System(), "shop", "web");
    EXPECT_TRUE(read.ok()) << read.status();
    if (!read.ok()) return {};
    EXPECT_THAT(read->gaps, testing::IsEmpty());
    scaler::CaseOptions options;
    options.now = absl::FromUnixSeconds(1704067260);
    return scaler::DecideGiven(read->snapshot, read->snapshot.autoscalers[0], options);
  }

  FakeCluster server_;
};

constexpr char kValues[] =
    "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps?labelSelector=a%3Db";

TEST_F(ReadHpaTest, ReadsWhatTheDecisionNeeds) {
  server_.answers[kValues] = PodValues("30");
  const auto read = ReadHpa(server_, Clock::System(), "shop", "web");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->server.minor, 35);
  EXPECT_THAT(scaler::ExplainText(Decided()), HasSubstr("goes from 1 to 3"));
}

// The controller asks with the selector and takes all that is answered.
TEST_F(ReadHpaTest, AnExternalAnswerNeedNotHaveTheLabelsOfItsSelector) {
  SetMetrics(Metric("External", "q", R"({"env":"prod"})"));
  SetExternal("q?labelSelector=env%3Dprod", R"({"queue":"a"})", "30");
  EXPECT_EQ(Decided().decision.desired, 3);
}

TEST_F(ReadHpaTest, EachSelectorHasItsOwnAnswer) {
  SetMetrics(absl::StrCat(Metric("External", "q", R"({"queue":"a"})"), ",",
                          Metric("External", "q", R"({"queue":"b"})")));
  SetExternal("q?labelSelector=queue%3Da", "{}", "20");
  SetExternal("q?labelSelector=queue%3Db", "{}", "30");
  const scaler::GivenCase given = Decided();
  ASSERT_EQ(given.readings.size(), 2u);
  EXPECT_THAT(given.readings[0].amounts_milli, testing::ElementsAre(20000));
  EXPECT_THAT(given.readings[1].amounts_milli, testing::ElementsAre(30000));
  EXPECT_THAT(scaler::ExplainText(given), testing::Not(HasSubstr("the files do not say")));
}

// Servers need not repeat the selector.
TEST_F(ReadHpaTest, APodsMetricMayBeAskedForWithAndWithoutASelector) {
  SetMetrics(
      absl::StrCat(Metric("Pods", "rps", R"({"code":"500"})"), ",", Metric("Pods", "rps", "")));
  const std::string failures = absl::StrCat(kValues, "&metricLabelSelector=code%3D500");
  server_.answers[failures] = PodValues("5");
  server_.answers[kValues] = PodValues("30");
  const scaler::GivenCase given = Decided();
  ASSERT_EQ(given.readings.size(), 2u);
  ASSERT_EQ(given.readings[0].samples.size(), 1u);
  ASSERT_EQ(given.readings[1].samples.size(), 1u);
  EXPECT_EQ(given.readings[0].samples[0].value_milli, 5000);
  EXPECT_EQ(given.readings[1].samples[0].value_milli, 30000);
  // What is not answered is unknown; the other answer does not stand in.
  server_.answers.erase(failures);
  const auto read = ReadHpa(server_, Clock::System(), "shop", "web");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->gaps, testing::ElementsAre(HasSubstr(failures)));
  const scaler::GivenCase without =
      scaler::DecideGiven(read->snapshot, read->snapshot.autoscalers[0], {});
  EXPECT_THAT(without.readings[0].error, HasSubstr("value of rps for pods"));
  EXPECT_EQ(without.readings[1].error, "");
}

// As for the controller, which lists pods at another moment than the metrics API does.
TEST_F(ReadHpaTest, SamplesOfPodsThatAreNotListedCount) {
  SetMetrics(R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"AverageValue",)"
             R"("averageValue":"1"}}})");
  const auto pod = [](absl::string_view name, absl::string_view cpu) {
    return absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"shop"},)",
                        R"("timestamp":"2024-01-01T00:00:00Z","window":"15s","containers":[)",
                        R"({"name":"app","usage":{"cpu":")", cpu, R"("}}]})");
  };
  server_.answers["/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods?labelSelector=a%3Db"] =
      absl::StrCat(R"({"kind":"PodMetricsList","items":[)", pod("web-1", "1"), ",",
                   pod("web-2", "5"), "]}");
  const scaler::GivenCase given = Decided();
  ASSERT_EQ(given.readings.size(), 1u);
  EXPECT_EQ(given.readings[0].samples.size(), 2u);
  EXPECT_EQ(given.decision.desired, 3);  // a mean of 3 cores, where 1 is wanted
}

TEST_F(ReadHpaTest, AMetricThatFailsIsAGap) {
  const auto read = ReadHpa(server_, Clock::System(), "shop", "web");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->gaps.size(), 1u);
  EXPECT_THAT(read->gaps[0], HasSubstr("/pods/*/rps"));
}

TEST_F(ReadHpaTest, AnObjectOfAnUnknownKindIsAGap) {
  std::string& hpa = server_.answers[absl::StrCat(kHpas, "/web")];
  hpa = absl::StrReplaceAll(
      hpa, {{R"({"type":"Pods","pods":{)",
             R"({"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Moon",)"
             R"("name":"m"},)"}});
  const auto read = ReadHpa(server_, Clock::System(), "shop", "web");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->gaps, testing::ElementsAre("rps: the cluster knows no Moon of v1"));
}

TEST_F(ReadHpaTest, AVersionThatIsNotToldIsTheNewest) {
  server_.answers.erase("/version");
  const auto read = ReadHpa(server_, Clock::System(), "shop", "web");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->server.minor, scaler::kNewestMinor);
  EXPECT_THAT(read->gaps[0], HasSubstr("/version: "));
}

TEST_F(ReadHpaTest, AnotherHpaOverTheSamePodsStopsIt) {
  server_.answers[kValues] = PodValues("30");
  SetMetrics(Metric("Pods", "rps", ""), "other");
  SetScale("other", "c=d");
  EXPECT_EQ(Decided().decision.desired, 3);
  SetScale("other", "a");
  EXPECT_THAT(Decided().decision.status.conditions,
              testing::Contains(testing::Field(&scaler::Condition::reason, "AmbiguousSelector")));
}

// Blue and green have one selector, and one of them has no replicas.
TEST_F(ReadHpaTest, AnotherHpaOverTheSamePodsDoesNotStopItWhileItsScalingIsDisabled) {
  server_.answers[kValues] = PodValues("30");
  SetMetrics(Metric("Pods", "rps", ""), "other");
  SetScale("other", "a=b", 0);
  const scaler::GivenCase given = Decided();
  EXPECT_EQ(given.decision.desired, 3);
  EXPECT_THAT(given.notes, testing::Contains(HasSubstr("other selects the same pods")));
}

TEST_F(ReadHpaTest, AnotherHpaWithoutATargetIsNoGap) {
  server_.answers[kValues] = PodValues("30");
  SetMetrics(Metric("Pods", "rps", ""), "other");
  EXPECT_EQ(Decided().decision.desired, 3);
}

TEST_F(ReadHpaTest, OthersThatCannotBeReadAreAGap) {
  server_.answers[kValues] = PodValues("30");
  server_.answers.erase(kHpas);
  const auto unlisted = ReadHpa(server_, Clock::System(), "shop", "web");
  ASSERT_TRUE(unlisted.ok()) << unlisted.status();
  EXPECT_THAT(unlisted->gaps, testing::ElementsAre(HasSubstr("horizontalpodautoscalers: no ")));
  SetMetrics(Metric("Pods", "rps", ""), "other");
  SetScale("other", "a");
  server_.answers["/apis/apps/v1/namespaces/shop/deployments/other/scale"] = "{}";
  const auto unscaled = ReadHpa(server_, Clock::System(), "shop", "web");
  ASSERT_TRUE(unscaled.ok()) << unscaled.status();
  EXPECT_THAT(unscaled->gaps, testing::ElementsAre(HasSubstr("the scale of hpa other: ")));
}

TEST_F(ReadHpaTest, WithoutTheHpaThereIsNothing) {
  const auto read = ReadHpa(server_, Clock::System(), "shop", "nobody");
  EXPECT_TRUE(absl::IsNotFound(read.status())) << read.status();
}

}  // namespace
}  // namespace flyball::cmd
