#include "adapter/adapter.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "adapter/queries/choosing_source.h"
#include "adapter/testing/fakes.h"
#include "adapter/testing/floor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "prometheus/text_serializer.h"

namespace flyball::adapter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kCustomOnly[] = R"(
rules:
- {seriesQuery: m, resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}},
   metricsQuery: 'sum by (<<.GroupBy>>) (<<.Series>>{<<.LabelMatchers>>})'}
)";
constexpr char kExternalOnly[] = R"(
externalRules:
- {seriesQuery: m, metricsQuery: 'sum(<<.Series>>)', resources: {namespaced: false}}
)";

class AdapterTest : public testing::Test {
 protected:
  AdapterTest() {
    source_.OnSeries([](const std::string&) {
      return std::vector<SeriesName>{{"m", {"ns", "po"}}};
    });
    source_.OnQuery([](const std::string&) {
      return VectorOf({{.labels = {{"po", "a"}}, .time = absl::UnixEpoch(), .value = 2}});
    });
  }

  std::unique_ptr<Adapter> Make(const std::string& rules) {
    return std::make_unique<Adapter>(Adapter::Deps{.source = source_,
                                                   .directory = directory_,
                                                   .clock = Clock::System(),
                                                   .metrics = &metrics_},
                                     AdapterOptions{}, CompileOrDie(rules));
  }
  static void WaitUntilReady(const Adapter& adapter) {
    while (!adapter.ready()) std::this_thread::yield();
  }
  std::string MetricsText() {
    return ::prometheus::TextSerializer().Serialize(registry_.Collect());
  }
  static CustomMetricRequest OnePod() {
    CustomMetricRequest request;
    request.resource = "pods";
    request.ns = "web";
    request.name = "a";
    request.metric = "m";
    return request;
  }

  ::prometheus::Registry registry_;
  AdapterMetrics metrics_{registry_};
  FakeSource source_;
  FakeDirectory directory_;
};

TEST_F(AdapterTest, AnswersAfterItsFirstRound) {
  auto adapter = Make(kCustomOnly);
  EXPECT_FALSE(adapter->ready());
  EXPECT_EQ(adapter->providers().custom->Get(OnePod()).status().code(),
            absl::StatusCode::kNotFound);
  adapter->Start();
  WaitUntilReady(*adapter);
  const auto got = adapter->providers().custom->Get(OnePod());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->items[0].value_milli, 2000);
  EXPECT_EQ(adapter->RuleStatuses()[0].series, 1u);
}

TEST_F(AdapterTest, AnApiWithoutRulesHasNoProvider) {
  auto adapter = Make(kCustomOnly);
  EXPECT_NE(adapter->providers().custom, nullptr);
  EXPECT_EQ(adapter->providers().external, nullptr);
  EXPECT_EQ(adapter->providers().resource, nullptr);
  adapter->SetRules(CompileOrDie(kExternalOnly));
  EXPECT_EQ(adapter->providers().custom, nullptr);
  EXPECT_NE(adapter->providers().external, nullptr);
}

TEST_F(AdapterTest, ReloadKeepsWhatWasDiscovered) {
  auto adapter = Make(kCustomOnly);
  adapter->Start();
  WaitUntilReady(*adapter);
  source_.OnSeries([](const std::string&) { return absl::UnavailableError("down"); });
  adapter->SetRules(CompileOrDie(kExternalOnly));
  EXPECT_THAT(*adapter->providers().external->ListAll(), ElementsAre("m"));
}

TEST_F(AdapterTest, StopWaitsForASeriesQueryUnderWay) {
  absl::Notification asked, release;
  source_.OnSeries([&](const std::string&) {
    asked.Notify();
    release.WaitForNotification();
    return std::vector<SeriesName>();
  });
  auto adapter = Make(kCustomOnly);
  adapter->Start();
  asked.WaitForNotification();
  std::thread stopper([&] { adapter->Stop(); });
  release.Notify();
  stopper.join();
  // Requests are still answered.
  EXPECT_EQ(adapter->providers().custom->Get(OnePod()).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(AdapterTest, APrometheusThatHangsDelaysNoRuleOfTheLiveSource) {
  std::string rules = "rules:";
  for (const std::string name : {"a", "b", "c", "d", "live"}) {
    absl::StrAppend(&rules, "\n- {seriesQuery: ", name,
                    ", source: ", name == "live" ? "live" : "prometheus",
                    ", resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}}, "
                    "metricsQuery: 'sum by (<<.GroupBy>>) (<<.Series>>{<<.LabelMatchers>>})'}");
  }
  FakeSource live;
  live.OnSeries([](const std::string& selector) {
    return std::vector<SeriesName>{{selector, {"ns", "po"}}};
  });
  absl::Notification release;
  source_.OnSeries([&](const std::string&) {
    release.WaitForNotification();
    return std::vector<SeriesName>();
  });
  ChoosingSource both(live, source_, Clock::System(), absl::Minutes(10));
  Adapter adapter({.source = both, .directory = directory_, .clock = Clock::System()},
                  AdapterOptions{}, CompileOrDie(rules));
  adapter.Start();
  const auto listed = [&] { return !adapter.providers().custom->ListAll()->empty(); };
  const MonotonicTime end = Clock::System().MonotonicNow() + absl::Seconds(10);
  while (!listed() && Clock::System().MonotonicNow() < end) std::this_thread::yield();
  EXPECT_TRUE(listed());
  release.Notify();
}

TEST_F(AdapterTest, TellsAboutItselfInMetrics) {
  auto adapter = Make(kCustomOnly);
  adapter->Start();
  WaitUntilReady(*adapter);
  ASSERT_TRUE(adapter->providers().custom->Get(OnePod()).ok());
  metrics_.OnRequest("/api/v1/query", "http://prom:9090", absl::Milliseconds(7));
  const std::string text = MetricsText();
  EXPECT_THAT(text, HasSubstr("prometheus_adapter_prometheus_client_request_duration_seconds_count{"
                              "path=\"/api/v1/query\",server=\"http://prom:9090\"} 1"));
  EXPECT_THAT(text, HasSubstr("flyball_relist_series_queries_total{result=\"success\"} 1"));
  EXPECT_THAT(text, HasSubstr("flyball_rules_series{list=\"rules\",rule=\"0\"} 1"));
  EXPECT_THAT(text, HasSubstr("flyball_rules_failing{list=\"rules\",rule=\"0\"} 0"));
  EXPECT_THAT(text, HasSubstr("flyball_rules_metrics{api=\"custom\"} 2"));
  EXPECT_THAT(text, HasSubstr("flyball_query_requests_total{outcome=\"sent\"} 1"));

  adapter->SetRules(CompileOrDie(kExternalOnly));
  EXPECT_THAT(MetricsText(), Not(HasSubstr("flyball_rules_series{list=\"rules\"")));
  EXPECT_THAT(MetricsText(),
              HasSubstr("flyball_rules_series{list=\"externalRules\",rule=\"0\"} 1"));
}

}  // namespace
}  // namespace flyball::adapter
