// What a resource provider tells of pods by one query is what it tells by two, but for the amount
// that nobody wants: on samples in memory, queried as Prometheus would.
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapter/live/live.h"
#include "adapter/live/store/testing/any_time_store.h"
#include "adapter/testing/floor.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

constexpr char kRules[] = R"(
resourceRules:
  cpu: &rule
    containerQuery: 'sum by (<<.GroupBy>>) (cpu{<<.LabelMatchers>>})'
    nodeQuery: 'sum by (<<.GroupBy>>) (cpu{<<.LabelMatchers>>})'
    containerLabel: ctr
    resources: {overrides: {ns: {resource: namespace}, po: {resource: pods}, host: {resource: node}}}
  memory:
    <<: *rule
    containerQuery: 'topk(100, mem{<<.LabelMatchers>>})'
)";

constexpr char kOneRule[] = R"(
resourceRules:
  cpu: &rule
    containerQuery: 'sum by (<<.GroupBy>>) (cpu{<<.LabelMatchers>>})'
    nodeQuery: 'sum by (<<.GroupBy>>) (cpu{<<.LabelMatchers>>})'
    containerLabel: ctr
    resources: {overrides: {ns: {resource: namespace}, po: {resource: pods}, host: {resource: node}}}
  memory:
    <<: *rule
    containerQuery: 'mem{<<.LabelMatchers>>} * 1'
)";

constexpr int kPods = 40;

std::string PodName(int pod) { return absl::StrCat("p", pod); }

std::string Shown(const ResourceMetricList<PodMetrics>& list, int64_t Usage::*amount) {
  return absl::StrJoin(list.items, "; ", [amount](std::string* out, const PodMetrics& pod) {
    absl::StrAppend(out, pod.pod->name, " @", absl::ToUnixSeconds(pod.timestamp));
    for (const ContainerUsage& container : pod.containers) {
      // Without the amount a container is 0 or not named.
      const int64_t milli = container.usage.*amount;
      if (milli != 0) absl::StrAppend(out, " ", container.name, ":", milli);
    }
  });
}

class PodAmountsTest : public testing::TestWithParam<NanValue> {
 protected:
  explicit PodAmountsTest(bool merge = true)
      : floor_({.queries = {.merge = merge}, .nan_value = GetParam()}) {
    for (int pod = 0; pod < kPods; ++pod) floor_.directory.Add("pods", "web", PodName(pod));
    floor_.source.OnQuery([this](const std::string& promql) {
      return live_.Query(promql, floor_.clock.WallNow(), absl::Seconds(10));
    });
    floor_.Load(CompileOrDie(kOneRule));
  }

  void Append(const std::string& series, const std::string& pod, const std::string& container,
              double value) {
    const LabelSet labels = {{"__name__", series}, {"ctr", container}, {"ns", "web"}, {"po", pod}};
    ASSERT_TRUE(store_.Append(labels, absl::ToUnixMillis(floor_.clock.WallNow()), value).ok());
  }
  // Of each pod up to three containers, with any of both amounts.
  void AppendAny(std::mt19937& random) {
    const auto value = [&random]() -> double {
      switch (random() % 12) {
        case 0: return std::numeric_limits<double>::quiet_NaN();
        case 1: return std::numeric_limits<double>::infinity();
        case 2: return -std::numeric_limits<double>::infinity();
        case 3: return 9223372036854774.0;  // the largest that is known
        case 4: return 9223372036854776.0;
        case 5: return -1;
        default: return static_cast<double>(random() % 100000) / 1000;
      }
    };
    for (int pod = 0; pod <= kPods; ++pod) {  // the last one is not there
      for (const char* container : {"a", "b", "c"}) {
        if (random() % 3 != 0) Append("cpu", PodName(pod), container, value());
        if (random() % 3 != 0) Append("mem", PodName(pod), container, value());
      }
    }
  }
  ResourceMetricList<PodMetrics> Ask(PodAmounts wanted) {
    auto answer = provider_.value().StandPods("web", {}, wanted)->Ask(absl::Seconds(10));
    EXPECT_TRUE(answer.ok()) << answer.status();
    return std::move(answer->list);
  }
  void MakeProvider() { provider_.emplace(floor_.resource()); }

  live::AnyTimeStore store_;
  Live live_{store_};
  TestFloor floor_;
  std::optional<ResourceProvider> provider_;
};

INSTANTIATE_TEST_SUITE_P(Nan, PodAmountsTest, testing::Values(NanValue::kZero, NanValue::kDrop));

TEST_P(PodAmountsTest, OneQueryTellsOfThePodsThatHaveBoth) {
  MakeProvider();
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    floor_.clock.Advance(absl::Hours(1));
    AppendAny(random);
    const ResourceMetricList<PodMetrics> both = Ask(PodAmounts::kBoth);
    EXPECT_FALSE(both.items.empty());
    EXPECT_LT(both.items.size(), static_cast<size_t>(kPods));
    const size_t queries = floor_.source.queries().size();
    EXPECT_EQ(Shown(Ask(PodAmounts::kCpu), &Usage::cpu_milli), Shown(both, &Usage::cpu_milli));
    EXPECT_EQ(Shown(Ask(PodAmounts::kMemory), &Usage::memory_milli),
              Shown(both, &Usage::memory_milli));
    EXPECT_EQ(floor_.source.queries().size(), queries + 2);
  }
}

TEST_P(PodAmountsTest, OneQueryThatTakesTooLongIsTwoTheNextTime) {
  MakeProvider();
  Append("cpu", "p0", "a", 1);
  Append("mem", "p0", "a", 2);
  floor_.source.OnQuery([this](const std::string& promql) -> FakeSource::Result {
    if (absl::StrContains(promql, "cpu{") && absl::StrContains(promql, "mem{")) {
      return absl::DeadlineExceededError("slow");
    }
    return live_.Query(promql, floor_.clock.WallNow(), absl::Seconds(10));
  });
  const auto standing = provider_.value().StandPods("web", {}, PodAmounts::kCpu);
  const auto failed = standing->Ask(absl::Seconds(10));
  ASSERT_TRUE(failed.ok()) << failed.status();
  EXPECT_NE(failed->list.degraded, "");
  for (int round = 0; round < 2; ++round) {
    const auto answer = standing->Ask(absl::Seconds(10));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(Shown(answer->list, &Usage::cpu_milli),
              absl::StrCat("p0 @", absl::ToUnixSeconds(floor_.clock.WallNow()), " a:1000"));
    floor_.directory.Add("pods", "web", absl::StrCat("new", round));  // which asks anew
  }
  EXPECT_EQ(floor_.source.queries().size(), 5u);
  floor_.source.OnQuery([this](const std::string& promql) {
    return live_.Query(promql, floor_.clock.WallNow(), absl::Seconds(10));
  });
  floor_.clock.Advance(absl::Minutes(2));
  EXPECT_TRUE(standing->Ask(absl::Seconds(10)).ok());
  EXPECT_EQ(floor_.source.queries().size(), 6u) << "after a while one again";
}

TEST_P(PodAmountsTest, ACallWithHardlyAnyTimeLeavesTheQueryOne) {
  MakeProvider();
  Append("cpu", "p0", "a", 1);
  Append("mem", "p0", "a", 2);
  floor_.source.OnQuery(
      [](const std::string&) { return absl::DeadlineExceededError("no time left"); });
  const auto standing = provider_.value().StandPods("web", {}, PodAmounts::kCpu);
  for (int round = 0; round < 2; ++round) ASSERT_TRUE(standing->Ask(absl::Milliseconds(10)).ok());
  EXPECT_EQ(floor_.source.queries().size(), 2u);
}

// Of what is best of all others nothing is known.
TEST_P(PodAmountsTest, WhatIsNotSeenToTellPodsApartIsAskedByItself) {
  floor_.Load(CompileOrDie(kRules));
  MakeProvider();
  Append("cpu", "p0", "a", 1);
  Append("mem", "p0", "a", 2);
  const ResourceMetricList<PodMetrics> list = Ask(PodAmounts::kCpu);
  ASSERT_EQ(list.items.size(), 1u);
  EXPECT_EQ(list.items[0].containers[0].usage.memory_milli, 2000);
  EXPECT_EQ(floor_.source.queries().size(), 2u);
}

class PodAmountsApartTest : public PodAmountsTest {
 protected:
  PodAmountsApartTest() : PodAmountsTest(/*merge=*/false) {}
};

INSTANTIATE_TEST_SUITE_P(Nan, PodAmountsApartTest, testing::Values(NanValue::kZero));

TEST_P(PodAmountsApartTest, WithoutMergingTheQueriesAreTheOriginals) {
  MakeProvider();
  Append("cpu", "p0", "a", 1);
  Append("mem", "p0", "a", 2);
  EXPECT_EQ(Shown(Ask(PodAmounts::kMemory), &Usage::memory_milli),
            absl::StrCat("p0 @", absl::ToUnixSeconds(floor_.clock.WallNow()), " a:2000"));
  EXPECT_EQ(floor_.source.queries().size(), 2u);
}

TEST_P(PodAmountsTest, WhereTheOneQueryFailsTheTwoAreAsked) {
  MakeProvider();
  Append("cpu", "p0", "a", 1);
  Append("mem", "p0", "a", 2);
  floor_.source.OnQuery([this](const std::string& promql) -> FakeSource::Result {
    if (absl::StrContains(promql, " and ")) return absl::UnavailableError("414");
    return live_.Query(promql, floor_.clock.WallNow(), absl::Seconds(10));
  });
  const auto standing = provider_->StandPods("web", {}, PodAmounts::kCpu);
  for (const size_t queries : {3u, 5u}) {  // from then on only the two
    const auto answer = standing->Ask(absl::Seconds(10));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(Shown(answer->list, &Usage::cpu_milli),
              absl::StrCat("p0 @", absl::ToUnixSeconds(floor_.clock.WallNow()), " a:1000"));
    EXPECT_EQ(floor_.source.queries().size(), queries);
  }
}

}  // namespace
}  // namespace flyball::adapter
