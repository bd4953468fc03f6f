#include "adapter/resource_provider.h"

#include <functional>
#include <limits>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/barrier.h"
#include "adapter/testing/floor.h"
#include "base/go/url.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr char kRules[] = R"(
resourceRules:
  cpu: &rule
    containerQuery: 'cpu(<<.LabelMatchers>>) by <<.GroupBy>>'
    nodeQuery: 'cpu(<<.LabelMatchers>>) by <<.GroupBy>>'
    containerLabel: ctr
    resources: {overrides: {ns: {resource: namespace}, po: {resource: pods}, host: {resource: node}}}
  memory:
    <<: *rule
    containerQuery: 'mem(<<.LabelMatchers>>) by <<.GroupBy>>'
    nodeQuery: 'mem(<<.LabelMatchers>>) by <<.GroupBy>>'
  window: 90s
)";

Sample Container(const std::string& pod, const std::string& container, double value,
                 int64_t seconds = 100) {
  LabelSet labels = {{"ctr", container}, {"po", pod}};
  if (container.empty()) labels.erase(labels.begin());
  return {.labels = labels, .time = absl::FromUnixSeconds(seconds), .value = value};
}

Sample NodeSample(const std::string& node, double value) {
  return {.labels = {{"host", node}}, .time = absl::FromUnixSeconds(100), .value = value};
}

std::string Shown(const std::vector<PodMetrics>& pods) {
  return absl::StrJoin(pods, "; ", [](std::string* out, const PodMetrics& pod) {
    absl::StrAppend(out, pod.pod->ns, "/", pod.pod->name, " @", absl::ToUnixSeconds(pod.timestamp));
    for (const ContainerUsage& container : pod.containers) {
      absl::StrAppend(out, " ", container.name, ":", container.usage.cpu_milli, ",",
                      container.usage.memory_milli);
    }
  });
}

class ResourceProviderTest : public testing::Test {
 protected:
  explicit ResourceProviderTest(const TestFloor::Options& options = {}) : floor_(options) {
    for (const char* pod : {"a", "b"}) floor_.directory.Add("pods", "web", pod);
    floor_.directory.Add("pods", "db", "x");
    for (const char* node : {"n1", "n2"}) floor_.directory.Add("nodes", "", node);
    floor_.Load(CompileOrDie(kRules));
  }

  // Answers of the cpu and the memory query.
  void Answer(std::vector<Sample> cpu, std::vector<Sample> memory) {
    floor_.source.OnQuery([=](const std::string& promql) {
      return VectorOf(absl::StartsWith(promql, "cpu") ? cpu : memory);
    });
  }
  absl::StatusOr<ResourceMetricList<PodMetrics>> Pods(const std::string& ns,
                                                      const std::string& name = "") {
    return floor_.resource().Pods(ns, name, {}, absl::Seconds(60));
  }
  absl::StatusOr<ResourceMetricList<NodeMetrics>> Nodes(const std::string& name = "") {
    return floor_.resource().Nodes(name, {}, absl::Seconds(60));
  }

  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kInf = std::numeric_limits<double>::infinity();
  TestFloor floor_;
};

TEST_F(ResourceProviderTest, OnePairOfQueriesForEachNamespace) {
  ASSERT_TRUE(Pods("").ok());
  EXPECT_THAT(
      floor_.source.queries(),
      UnorderedElementsAre("cpu(ns=\"db\",po=\"x\") by po,ctr", "mem(ns=\"db\",po=\"x\") by po,ctr",
                           "cpu(ns=\"web\",po=~\"a|b\") by po,ctr",
                           "mem(ns=\"web\",po=~\"a|b\") by po,ctr"));
}

// As the original: what a field selector leaves out is not asked about.
TEST_F(ResourceProviderTest, OnlyWhatAListIsOfIsAskedFor) {
  const ObjectFilter only_a = {
      .labels = {}, .others = [](const kube::ObjectMeta& meta) { return meta.name == "a"; }};
  ASSERT_TRUE(floor_.resource().Pods("", "", only_a, absl::Seconds(60)).ok());
  EXPECT_THAT(floor_.source.queries(), UnorderedElementsAre("cpu(ns=\"web\",po=\"a\") by po,ctr",
                                                            "mem(ns=\"web\",po=\"a\") by po,ctr"));
  const ObjectFilter none = {.labels = {}, .others = [](const kube::ObjectMeta&) { return false; }};
  const auto nodes = floor_.resource().Nodes("", none, absl::Seconds(60));
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_TRUE(nodes->items.empty());
  EXPECT_EQ(floor_.source.queries().size(), 2u);  // no further one
}

TEST_F(ResourceProviderTest, AListIsAskedForOnceItIsAdmitted) {
  std::vector<size_t> asked;
  ObjectFilter filter;
  filter.admit = [&](const ListSize& size) {
    asked.push_back(size.items);
    return absl::ResourceExhaustedError("no room");
  };
  ResourceProvider provider = floor_.resource();
  EXPECT_TRUE(absl::IsResourceExhausted(provider.Pods("", "", filter, absl::Seconds(60)).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(provider.Nodes("", filter, absl::Seconds(60)).status()));
  EXPECT_THAT(asked, ElementsAre(3, 2));
  EXPECT_TRUE(floor_.source.queries().empty());
}

TEST_F(ResourceProviderTest, NodesAreOnePairOfQueries) {
  Answer({NodeSample("n2", 0.5), NodeSample("n1", 1), NodeSample("n1", 9)},
         {NodeSample("n1", 1024), NodeSample("n2", -7)});
  const auto got = Nodes();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(floor_.source.queries(),
              UnorderedElementsAre("cpu(host=~\"n1|n2\") by host", "mem(host=~\"n1|n2\") by host"));
  ASSERT_EQ(got->items.size(), 2u);
  EXPECT_EQ(got->items[0].usage.cpu_milli, 1000);  // the first sample
  EXPECT_EQ(got->items[0].usage.memory_milli, 1024000);
  EXPECT_EQ(got->items[1].usage.memory_milli, 0);
  EXPECT_EQ(got->items[0].window, absl::Seconds(90));
}

TEST_F(ResourceProviderTest, ContainersAreTheUnionSortedByName) {
  Answer({Container("a", "z", 1), Container("a", "b", 2), Container("a", "b", 3),
          Container("a", "", 4)},
         {Container("a", "z", 5, 99), Container("a", "m", 6)});
  const auto got = Pods("web", "a");
  ASSERT_TRUE(got.ok()) << got.status();
  // The last sample of b counts; what only one query has is 0 in the other; the earliest time.
  EXPECT_EQ(Shown(got->items), "web/a @99 :4000,0 b:3000,0 m:0,6000 z:1000,5000");
}

TEST_F(ResourceProviderTest, AStandingRequestIsToldWhenNothingChanged) {
  Answer({Container("a", "c", 1), Container("b", "c", 1)},
         {Container("a", "c", 1), Container("b", "c", 1)});
  ResourceProvider provider = floor_.resource();
  const auto standing = provider.StandPods("web", {}, PodAmounts::kBoth);
  const auto ask = [&](std::optional<int64_t> again_at) {
    floor_.clock.Advance(absl::Seconds(1));
    floor_.source.SayTheSameAt(again_at);
    return *standing->Ask(absl::Seconds(60));
  };
  EXPECT_EQ(Shown(ask(std::nullopt).list.items), "web/a @100 c:1000,1000; web/b @100 c:1000,1000");
  const auto same = ask(107);
  EXPECT_TRUE(same.unchanged);
  EXPECT_EQ(same.time, absl::FromUnixSeconds(107));
  EXPECT_EQ(same.list.items.size(), 0u);
  // The samples are the same, at their new time, but there is one pod more to ask for.
  floor_.directory.Add("pods", "web", "c");
  const auto more = ask(108);
  EXPECT_FALSE(more.unchanged);
  EXPECT_EQ(Shown(more.list.items), "web/a @100 c:1000,1000; web/b @100 c:1000,1000");
  EXPECT_TRUE(ask(109).unchanged);
  EXPECT_FALSE(ask(std::nullopt).unchanged);
  // After a failure all is told.
  EXPECT_TRUE(ask(110).unchanged);
  floor_.source.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  const auto failed = ask(111);
  EXPECT_FALSE(failed.unchanged);
  EXPECT_THAT(failed.list.degraded, HasSubstr("down"));
  Answer({Container("a", "c", 1)}, {Container("a", "c", 1)});
  EXPECT_EQ(Shown(ask(112).list.items), "web/a @100 c:1000,1000");
  EXPECT_TRUE(ask(113).unchanged);
}

TEST_F(ResourceProviderTest, AfterAFailureToListThePodsAllIsTold) {
  Answer({Container("a", "c", 1)}, {Container("a", "c", 1)});
  ResourceProvider provider = floor_.resource();
  const auto standing = provider.StandPods("web", {}, PodAmounts::kBoth);
  ASSERT_TRUE(standing->Ask(absl::Seconds(60)).ok());
  floor_.directory.FailLists(absl::UnavailableError("forbidden"));
  floor_.directory.Add("pods", "other", "x");  // so that they are listed anew
  EXPECT_FALSE(standing->Ask(absl::Seconds(60)).ok());
  floor_.directory.FailLists(absl::OkStatus());
  floor_.source.SayTheSameAt(107);
  const auto again = standing->Ask(absl::Seconds(60));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->unchanged);
  EXPECT_EQ(Shown(again->list.items), "web/a @100 c:1000,1000");
}

TEST_F(ResourceProviderTest, WhereOneOfTheTwoChangedTheOtherIsAsItWas) {
  Answer({Container("a", "c", 1), Container("b", "c", 1)},
         {Container("b", "c", 5), Container("a", "d", 6), Container("other", "c", 7)});
  ResourceProvider provider = floor_.resource();
  const auto standing = provider.StandPods("web", {}, PodAmounts::kBoth);
  const auto ask = [&] { return *standing->Ask(absl::Seconds(60)); };
  ask();
  Answer({Container("b", "c", 2, 107), Container("a", "c", 3, 107)}, {});
  for (const int64_t at : {105, 106}) {
    floor_.source.SayTheSameAt(at, "mem");
    const auto got = ask();
    EXPECT_FALSE(got.unchanged);
    EXPECT_EQ(Shown(got.list.items),
              absl::StrCat("web/a @", at, " c:3000,0 d:0,6000; web/b @", at, " c:2000,5000"));
  }
}

// Asks for the pods of `web` again and again.
class ResourceProviderAgainTest : public ResourceProviderTest {
 protected:
  // Each query does `then` before it is answered.
  void Ask(std::function<void()> then) {
    floor_.source.OnQuery([this, then = std::move(then)](const std::string&) {
      then();
      return VectorOf({Container("a", "c", 1), Container("b", "c", 1)});
    });
    const auto answer = standing_->Ask(absl::Seconds(60));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->list.items.size(), 2u);
  }

 private:
  ResourceProvider provider_ = floor_.resource();
  const std::unique_ptr<StandingPods> standing_ = provider_.StandPods("web", {}, PodAmounts::kBoth);
};

TEST_F(ResourceProviderAgainTest, AfterQuickAnswersTheCallerAsksForBothItself) {
  Ask([] {});
  const std::thread::id self = std::this_thread::get_id();
  Ask([self] { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST_F(ResourceProviderAgainTest, AfterSlowAnswersBothAreAskedForAtOnce) {
  Ask([] {});
  Ask([this] { floor_.clock.Advance(absl::Milliseconds(3)); });  // 6 ms in all
  // Neither ends before the other has begun.
  auto* const both = new absl::Barrier(2);
  Ask([both] {
    if (both->Block()) delete both;
  });
}

TEST_F(ResourceProviderTest, APodNeedsBoth) {
  Answer({Container("a", "c", 1), Container("b", "c", 1)}, {Container("b", "c", 1)});
  const auto got = Pods("web");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Shown(got->items), "web/b @100 c:1000,1000");
  EXPECT_EQ(got->degraded, "");
}

TEST_F(ResourceProviderTest, NegativeAndNanAreZeroInfiniteLeavesThePodOut) {
  Answer({Container("a", "c", kNaN), Container("b", "c", kInf)},
         {Container("a", "c", -kInf), Container("b", "c", 1)});
  const auto got = Pods("web");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Shown(got->items), "web/a @100 c:0,0");
}

TEST_F(ResourceProviderTest, OfARepeatedContainerTheLastReadingCounts) {
  Answer({Container("a", "c", kInf), Container("a", "c", 1), Container("b", "c", 1),
          Container("b", "c", kInf)},
         {Container("a", "c", 1), Container("b", "c", 1)});
  const auto got = Pods("web");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Shown(got->items), "web/a @100 c:1000,1000");
}

TEST_F(ResourceProviderTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(Pods("web", "zz").status(), absl::NotFoundError("pods \"zz\" not found"));
  EXPECT_EQ(Nodes("zz").status(), absl::NotFoundError("node \"zz\" not found"));
  EXPECT_THAT(floor_.source.queries(), ElementsAre());
}

TEST_F(ResourceProviderTest, NoObjectsNeedNoQuery) {
  const auto got = Pods("empty");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(got->items.empty());
  EXPECT_THAT(floor_.source.queries(), ElementsAre());
}

TEST_F(ResourceProviderTest, AFailingNamespaceIsLeftOutAndTold) {
  floor_.source.OnQuery([](const std::string& promql) -> FakeSource::Result {
    if (absl::StartsWith(promql, "mem(ns=\"db\"")) return absl::UnavailableError("shard is down");
    return VectorOf({Container("a", "c", 1), Container("x", "c", 1)});
  });
  const auto got = Pods("");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Shown(got->items), "web/a @100 c:1000,1000");
  EXPECT_EQ(got->degraded, "pods of db left out: shard is down");
  EXPECT_EQ(got->freshness.fresh_until, absl::ZeroDuration());
}

TEST_F(ResourceProviderTest, AFailingSourceLeavesNodesOut) {
  floor_.source.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  const auto got = Nodes();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(got->items.empty());
  EXPECT_THAT(got->degraded, HasSubstr("down"));
}

TEST_F(ResourceProviderTest, OutOfTimeIsAnError) {
  floor_.source.OnQuery([this](const std::string&) {
    floor_.clock.Advance(absl::Seconds(60));
    return absl::DeadlineExceededError("slow");
  });
  EXPECT_EQ(Nodes().status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ResourceProviderTest, ADirectoryThatCannotListIsItsOwnError) {
  floor_.directory.FailLists(absl::UnavailableError("no API server"));
  EXPECT_EQ(Pods("").status(), absl::UnavailableError("no API server"));
}

TEST_F(ResourceProviderTest, AnAnswerIsFreshForTheAgeOfItsQueries) {
  const auto got = Pods("web");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->freshness.fresh_until, floor_.clock.MonotonicNow() + absl::Seconds(1));
  EXPECT_EQ(got->freshness.epoch, floor_.resource().Epoch());
}

constexpr char kKeepsNamespaces[] = R"(
resourceRules:
  cpu: &rule
    containerQuery: 'sum by (ns,<<.GroupBy>>) (cpu{<<.LabelMatchers>>})'
    nodeQuery: 'sum by (<<.GroupBy>>) (cpu{<<.LabelMatchers>>})'
    containerLabel: ctr
    resources: {overrides: {ns: {resource: namespace}, po: {resource: pods}, host: {resource: node}}}
  memory:
    <<: *rule
    containerQuery: 'sum by (ns,<<.GroupBy>>) (mem{<<.LabelMatchers>>})'
)";

TEST_F(ResourceProviderTest, ATemplateThatGroupsByNamespaceNeedsOnePairForAll) {
  floor_.Load(CompileOrDie(kKeepsNamespaces));
  floor_.directory.Add("pods", "db", "a");
  floor_.source.OnQuery([](const std::string&) {
    Sample web = Container("a", "c", 1), db = Container("a", "c", 2),
           other = Container("a", "c", 3);
    web.labels.insert(web.labels.begin() + 1, {"ns", "web"});
    db.labels.insert(db.labels.begin() + 1, {"ns", "db"});
    other.labels.insert(other.labels.begin() + 1, {"ns", "other"});
    return VectorOf({web, db, other});
  });
  const auto got = Pods("");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Shown(got->items), "db/a @100 c:2000,2000; web/a @100 c:1000,1000");
  EXPECT_THAT(floor_.source.queries(),
              UnorderedElementsAre("sum by (ns,po,ctr) (cpu{po=~\"a|b|x\"})",
                                   "sum by (ns,po,ctr) (mem{po=~\"a|b|x\"})"));
  // One namespace alone is asked for as ever.
  ASSERT_TRUE(Pods("web").ok());
  EXPECT_THAT(floor_.source.queries(),
              testing::Contains("sum by (ns,po,ctr) (cpu{ns=\"web\",po=~\"a|b\"})"));
}

class ResourceProviderShortTest : public ResourceProviderTest {
 protected:
  ResourceProviderShortTest() : ResourceProviderTest({.queries = {.max_url_bytes = 65}}) {}
};

TEST_F(ResourceProviderShortTest, AQueryForAllNamespacesStaysShortEnoughForAUrl) {
  floor_.Load(CompileOrDie(kKeepsNamespaces));
  for (const char* pod : {"b", "c", "d"}) floor_.directory.Add("pods", "db", pod);
  ASSERT_TRUE(Pods("").ok());
  const auto queries = floor_.source.queries();
  EXPECT_THAT(queries, testing::SizeIs(testing::Gt(2u)));
  for (const std::string& query : queries) EXPECT_LE(go::QueryEscape(query).size(), 65u) << query;
}

class ResourceProviderApartTest : public ResourceProviderTest {
 protected:
  ResourceProviderApartTest() : ResourceProviderTest({.queries = {.merge = false}}) {}
};

TEST_F(ResourceProviderApartTest, WithoutMergingEachNamespaceIsAskedForAlone) {
  floor_.Load(CompileOrDie(kKeepsNamespaces));
  ASSERT_TRUE(Pods("").ok());
  EXPECT_THAT(floor_.source.queries(),
              UnorderedElementsAre("sum by (ns,po,ctr) (cpu{ns=\"db\",po=\"x\"})",
                                   "sum by (ns,po,ctr) (mem{ns=\"db\",po=\"x\"})",
                                   "sum by (ns,po,ctr) (cpu{ns=\"web\",po=~\"a|b\"})",
                                   "sum by (ns,po,ctr) (mem{ns=\"web\",po=~\"a|b\"})"));
}

}  // namespace
}  // namespace flyball::adapter
