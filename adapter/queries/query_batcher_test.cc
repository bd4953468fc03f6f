#include "adapter/queries/query_batcher.h"

#include <atomic>
#include <new>
#include <thread>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "adapter/testing/fakes.h"
#include "adapter/testing/floor.h"
#include "base/go/url.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

// Without its notes.
absl::Status Bare(const absl::Status& status) {
  return absl::Status(status.code(), status.message());
}

using testing::ElementsAre;
using testing::SizeIs;

constexpr MonotonicTime kLater = absl::Hours(1);

// The first rule's objects can share a query, the second one's cannot.
constexpr char kRules[] = R"(
rules:
- {seriesQuery: m, resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}},
   metricsQuery: 'sum by (<<.GroupBy>>) (<<.Series>>{<<.LabelMatchers>>})'}
- {seriesQuery: m, resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}},
   metricsQuery: 'scalar(<<.Series>>{<<.LabelMatchers>>})'}
)";

// What the source answers: for each pod named in the query, its number.
std::vector<Sample> PodsIn(const std::string& promql) {
  std::vector<Sample> samples;
  for (int pod = 0; pod < 200; ++pod) {
    const std::string name = absl::StrCat("p", pod, "-");
    if (promql.find(name) == std::string::npos) continue;
    samples.push_back({.labels = {{"po", name}}, .time = absl::UnixEpoch(), .value = 1.0 * pod});
  }
  return samples;
}

class QueryBatcherTest : public testing::Test {
 protected:
  QueryBatcherTest() {
    source_.OnQuery([](const std::string& promql) { return VectorOf(PodsIn(promql)); });
  }

  std::unique_ptr<QueryBatcher> Make(BatcherOptions options = {}) {
    return std::make_unique<QueryBatcher>(source_, clock_, options, nullptr);
  }
  static std::string Pod(int number) { return absl::StrCat("p", number, "-"); }
  static bool Names(const std::string& promql, int pod) {
    return absl::StrContains(promql, Pod(pod));
  }
  static std::string Query(const std::string& pods) {
    return absl::StrCat("sum by (po) (m{ns=\"web\",po", pods, "})");
  }
  ObjectQuestion Question(std::vector<std::string> names, size_t rule = 0) {
    std::sort(names.begin(), names.end());
    return {.rule = rules_->custom[rule],
            .mapper = mapper_,
            .args = {.series = "m",
                     .resource = {"", "pods"},
                     .ns = "web",
                     .names = std::move(names),
                     .selector = {}}};
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  FakeSource source_;
  std::shared_ptr<const rules::CompiledRules> rules_ = CompileOrDie(kRules);
  std::shared_ptr<const kube::RestMapper> mapper_ =
      std::make_shared<const kube::RestMapper>(SmallCluster());
};

TEST_F(QueryBatcherTest, AnIdleGroupSendsTheQueryAsItIs) {
  auto batcher = Make();
  const auto got = batcher->QueryObjects(Question({Pod(7)}), kLater);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(got->values, ElementsAre(7.0));
  EXPECT_EQ(got->freshness.fresh_until, absl::Seconds(1));
  EXPECT_THAT(source_.queries(), ElementsAre(Query("=\"p7-\"")));
}

TEST_F(QueryBatcherTest, AnObjectOfAListIsNotAskedForAgain) {
  auto batcher = Make();
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1), Pod(2), "none"}), kLater).ok());
  const auto got = batcher->QueryObjects(Question({Pod(2)}), kLater);
  EXPECT_THAT(got->values, ElementsAre(2.0));
  // That there is no sample is also known.
  EXPECT_THAT(batcher->QueryObjects(Question({"none"}), kLater)->values, ElementsAre(std::nullopt));
  EXPECT_THAT(source_.queries(), SizeIs(1));
}

// Prometheus may refuse such a name: its failure is not that of the objects beside it.
TEST_F(QueryBatcherTest, ANameThatNoObjectHasIsAskedForAlone) {
  auto batcher = Make();
  for (const std::string& odd : {std::string("\xff"), std::string("a b"), std::string(254, 'a')}) {
    ASSERT_TRUE(batcher->QueryObjects(Question({odd}), kLater).ok());
    clock_.Advance(absl::Seconds(1));
    ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1)}), kLater).ok());
    EXPECT_EQ(source_.queries().back(), Query("=\"p1-\"")) << odd;
    clock_.Advance(absl::Minutes(1));
  }
}

// The parts of a question come from the path of a request, which may hold any byte.
TEST_F(QueryBatcherTest, OtherQuestionsAreOtherGroups) {
  auto batcher = Make();
  ObjectQuestion one = Question({Pod(1)}), other = Question({Pod(1)});
  one.args.ns = "web";
  one.args.selector = {{"job", kube::Operator::kEquals, {"x"}}};
  for (const std::string& ns : {std::string("web\xffjob\xff"
                                            "2\xff"
                                            "1\xffx"),
                                std::string("web\xffjob\xff"
                                            "1\xff"
                                            "1\xffx"),
                                std::string("web\xffjob\xff"
                                            "0\xff"
                                            "1\xffx")}) {
    other.args.ns = ns;
    ASSERT_TRUE(batcher->QueryObjects(other, kLater).ok());
    ASSERT_TRUE(batcher->QueryObjects(one, kLater).ok());
    EXPECT_THAT(source_.queries().back(), testing::HasSubstr("ns=\"web\""))
        << source_.queries().size();
    clock_.Advance(absl::Minutes(1));
    batcher->Sweep();
  }
}

TEST_F(QueryBatcherTest, ManyPollersCostOneQueryASecond) {
  auto batcher = Make();
  for (int second = 0; second < 5; ++second) {
    const size_t before = source_.queries().size();
    for (int pod = 0; pod < 50; ++pod) {
      const auto got = batcher->QueryObjects(Question({Pod(pod)}), kLater);
      ASSERT_TRUE(got.ok());
      EXPECT_THAT(got->values, ElementsAre(1.0 * pod));
    }
    // In the first second each pod is new.
    EXPECT_EQ(source_.queries().size() - before, second == 0 ? 50u : 1u) << second;
    clock_.Advance(absl::Seconds(1));
  }
}

TEST_F(QueryBatcherTest, OneCallerAsksAheadWhileTheOthersGetWhatIsFresh) {
  auto batcher = Make();
  int asked = 0;
  source_.OnQuery([&](const std::string& promql) {
    if (++asked == 2) {  // while the second query is under way, both old values are given
      for (const int pod : {1, 2}) {
        EXPECT_THAT(batcher->QueryObjects(Question({Pod(pod)}), kLater)->values,
                    ElementsAre(1.0 * pod));
      }
    }
    clock_.Advance(absl::Milliseconds(10));
    return VectorOf(PodsIn(promql));
  });
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1), Pod(2)}), kLater).ok());
  clock_.Advance(absl::Milliseconds(950));  // 40 ms before 1 s
  const auto got = batcher->QueryObjects(Question({Pod(1)}), kLater);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->freshness.fresh_until, absl::Milliseconds(1960));
  EXPECT_EQ(batcher->QueryObjects(Question({Pod(2)}), kLater)->freshness.fresh_until,
            absl::Milliseconds(1960));
  EXPECT_EQ(asked, 2);
}

TEST_F(QueryBatcherTest, AFailureAheadOfTimeIsNotSeen) {
  auto batcher = Make();
  source_.OnQuery([&](const std::string& promql) {
    clock_.Advance(absl::Milliseconds(10));
    return VectorOf(PodsIn(promql));
  });
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1)}), kLater).ok());
  clock_.Advance(absl::Milliseconds(950));
  source_.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(1)}), kLater)->values, ElementsAre(1.0));
  clock_.Advance(absl::Milliseconds(40));
  EXPECT_FALSE(batcher->QueryObjects(Question({Pod(1)}), kLater).ok());
}

TEST_F(QueryBatcherTest, ObjectsNotAskedForRecentlyAreNotRefreshed) {
  auto batcher = Make();
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1)}), kLater).ok());
  clock_.Advance(absl::Seconds(3));
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(2)}), kLater).ok());
  EXPECT_THAT(source_.queries(), ElementsAre(Query("=\"p1-\""), Query("=\"p2-\"")));
}

TEST_F(QueryBatcherTest, WhatComesWhileAQueryIsUnderWayGoesOutTogether) {
  auto batcher = Make({.gather = absl::Hours(1)});
  absl::Notification asked, release;
  std::atomic<int> calls{0};
  source_.OnQuery([&](const std::string& promql) {
    if (calls++ == 0) {
      asked.Notify();
      release.WaitForNotification();
    }
    return VectorOf(PodsIn(promql));
  });
  const auto ask = [&](int pod) {
    const auto got = batcher->QueryObjects(Question({Pod(pod)}), kLater);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_THAT(got->values, ElementsAre(1.0 * pod));
  };
  std::thread first([&] { ask(0); });
  asked.WaitForNotification();
  std::vector<std::thread> others;
  for (int pod = 1; pod <= 8; ++pod) others.emplace_back([&, pod] { ask(pod); });
  clock_.AwaitWaits(8);
  release.Notify();
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_THAT(source_.queries(),
              ElementsAre(Query("=\"p0-\""), Query("=~\"p0-|p1-|p2-|p3-|p4-|p5-|p6-|p7-|p8-\"")));
}

TEST_F(QueryBatcherTest, GatheringEndsAfterItsWindow) {
  auto batcher = Make({.gather = absl::ZeroDuration()});
  absl::Notification asked, release;
  source_.OnQuery([&](const std::string& promql) {
    if (Names(promql, 0)) {
      if (!asked.HasBeenNotified()) asked.Notify();
      release.WaitForNotificationWithTimeout(absl::Seconds(10));
    }
    return VectorOf(PodsIn(promql));
  });
  std::thread first([&] { EXPECT_TRUE(batcher->QueryObjects(Question({Pod(0)}), kLater).ok()); });
  asked.WaitForNotification();
  // Answered although the first object's query hangs: that object is not asked for once more.
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(1)}), kLater)->values, ElementsAre(1.0));
  EXPECT_EQ(source_.queries().back(), Query("=\"p1-\""));
  release.Notify();
  first.join();
}

TEST_F(QueryBatcherTest, AQueryUnderWayThatAsksForTheObjectIsWaitedFor) {
  auto batcher = Make({.flights = {.freshness = absl::ZeroDuration()}, .gather = absl::Hours(1)});
  absl::Notification asked, release;
  source_.OnQuery([&](const std::string& promql) {
    asked.Notify();
    release.WaitForNotification();
    return VectorOf(PodsIn(promql));
  });
  std::thread list([&] {
    EXPECT_TRUE(batcher->QueryObjects(Question({Pod(1), Pod(2)}), kLater).ok());
  });
  asked.WaitForNotification();
  std::thread single([&] {
    EXPECT_THAT(batcher->QueryObjects(Question({Pod(2)}), kLater)->values, ElementsAre(2.0));
  });
  clock_.AwaitWaits(1);
  release.Notify();
  list.join();
  single.join();
  EXPECT_THAT(source_.queries(), SizeIs(1));
}

TEST_F(QueryBatcherTest, MergedQueriesHaveALimitOfNames) {
  auto batcher = Make({.max_names = 3});
  for (int pod = 0; pod < 10; ++pod) {
    ASSERT_TRUE(batcher->QueryObjects(Question({Pod(pod)}), kLater).ok());
  }
  for (const std::string& query : source_.queries()) EXPECT_LE(PodsIn(query).size(), 3u) << query;
  // One question may ask for more.
  std::vector<std::string> many;
  for (int pod = 0; pod < 10; ++pod) many.push_back(Pod(pod));
  clock_.Advance(absl::Seconds(5));
  EXPECT_THAT(batcher->QueryObjects(Question(many), kLater)->values, SizeIs(10));
}

TEST_F(QueryBatcherTest, MergedQueriesStayShortEnoughForAUrl) {
  auto batcher = Make({.max_url_bytes = 100});
  for (int pod = 0; pod < 20; ++pod) {
    ASSERT_TRUE(batcher->QueryObjects(Question({Pod(pod)}), kLater).ok());
  }
  size_t most = 0;
  for (const std::string& query : source_.queries()) {
    EXPECT_LE(go::QueryEscape(query).size(), 100u) << query;
    most = std::max(most, PodsIn(query).size());
  }
  EXPECT_GT(most, 2u) << "they are still merged";
  // One question may be longer.
  std::vector<std::string> many;
  for (int pod = 0; pod < 20; ++pod) many.push_back(Pod(pod));
  clock_.Advance(absl::Seconds(5));
  EXPECT_THAT(batcher->QueryObjects(Question(many), kLater)->values, SizeIs(20));
}

TEST_F(QueryBatcherTest, AMergedQueryThatIsRefusedIsAskedForEachCallerAlone) {
  auto batcher = Make();
  source_.OnQuery([](const std::string& promql) -> FakeSource::Result {
    const std::vector<Sample> samples = PodsIn(promql);
    if (samples.size() > 1) return absl::InvalidArgumentError("response code 414");
    return VectorOf(samples);
  });
  for (int pod = 1; pod <= 3; ++pod) {
    EXPECT_THAT(batcher->QueryObjects(Question({Pod(pod)}), kLater)->values, ElementsAre(pod));
  }
  EXPECT_THAT(source_.queries(), ElementsAre(Query("=\"p1-\""), Query("=~\"p1-|p2-\""),
                                             Query("=\"p2-\""), Query("=\"p3-\"")));
  clock_.Advance(absl::Minutes(2));
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(4)}), kLater)->values, ElementsAre(4.0));
  EXPECT_THAT(source_.queries(), SizeIs(5));
}

TEST_F(QueryBatcherTest, DifferentSelectorsNamespacesAndRulesDoNotMix) {
  auto batcher = Make();
  ObjectQuestion plain = Question({Pod(1)});
  ObjectQuestion selected = plain;
  selected.args.selector = {{.key = "k", .op = kube::Operator::kEquals, .values = {"v"}}};
  ObjectQuestion elsewhere = plain;
  elsewhere.args.ns = "other";
  for (const ObjectQuestion* question : {&plain, &selected, &elsewhere}) {
    ASSERT_TRUE(batcher->QueryObjects(*question, kLater).ok());
  }
  EXPECT_THAT(source_.queries(),
              ElementsAre(Query("=\"p1-\""), "sum by (po) (m{k=\"v\",ns=\"web\",po=\"p1-\"})",
                          "sum by (po) (m{ns=\"other\",po=\"p1-\"})"));
}

class QueryBatcherAloneTest : public QueryBatcherTest, public testing::WithParamInterface<bool> {};

// With merge off, or for a rule that does not treat objects apart.
TEST_P(QueryBatcherAloneTest, EachQuestionIsItsOwnQuery) {
  const bool merge = GetParam();
  const size_t rule = merge ? 1 : 0;
  auto batcher = Make({.merge = merge});
  for (int round = 0; round < 2; ++round) {
    for (int pod = 1; pod <= 2; ++pod) {
      const auto got = batcher->QueryObjects(Question({Pod(pod)}, rule), kLater);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_THAT(got->values, ElementsAre(1.0 * pod));
    }
  }
  // Equal ones are still one.
  const char* const open = merge ? "scalar(m{ns=\"web\",po=\"" : "sum by (po) (m{ns=\"web\",po=\"";
  EXPECT_THAT(source_.queries(),
              ElementsAre(absl::StrCat(open, "p1-\"})"), absl::StrCat(open, "p2-\"})")));
}

INSTANTIATE_TEST_SUITE_P(Reasons, QueryBatcherAloneTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Rule" : "MergeOff"; });

class QueryBatcherFailureTest : public QueryBatcherTest,
                                public testing::WithParamInterface<absl::StatusCode> {
 protected:
  // The source answers no query that asks for pod 1.
  void FailForOne() {
    source_.OnQuery([](const std::string& promql) -> FakeSource::Result {
      if (Names(promql, 1)) return absl::Status(GetParam(), "not for pod 1");
      return VectorOf(PodsIn(promql));
    });
  }
};

TEST_P(QueryBatcherFailureTest, OfOneObjectIsNotThatOfOthers) {
  auto batcher = Make();
  FailForOne();
  EXPECT_EQ(batcher->QueryObjects(Question({Pod(1)}), kLater).status().code(), GetParam());
  for (int pod = 2; pod <= 3; ++pod) {
    const auto got = batcher->QueryObjects(Question({Pod(pod)}), kLater);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_THAT(got->values, ElementsAre(1.0 * pod));
  }
  // The others are still merged, and it is asked for alone.
  EXPECT_THAT(source_.queries(),
              ElementsAre(Query("=\"p1-\""), Query("=\"p2-\""), Query("=~\"p2-|p3-\"")));
  clock_.Advance(absl::Seconds(1));
  EXPECT_FALSE(batcher->QueryObjects(Question({Pod(1)}), kLater).ok());
  EXPECT_EQ(source_.queries().back(), Query("=\"p1-\""));
}

TEST_P(QueryBatcherFailureTest, OfAMergedQueryIsAskedForEachCallerAlone) {
  auto batcher = Make();
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1), Pod(2), Pod(3)}), kLater).ok());
  clock_.Advance(absl::Seconds(1));
  FailForOne();
  const auto got = batcher->QueryObjects(Question({Pod(2)}), kLater);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(got->values, ElementsAre(2.0));
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(3)}), kLater)->values, ElementsAre(3.0));
  EXPECT_FALSE(batcher->QueryObjects(Question({Pod(1)}), kLater).ok());
  EXPECT_THAT(source_.queries(),
              ElementsAre(Query("=~\"p1-|p2-|p3-\""), Query("=~\"p1-|p2-|p3-\""), Query("=\"p2-\""),
                          Query("=\"p3-\""), Query("=\"p1-\"")));
}

// Callers that are given one and the same failure are not as many queries that failed.
TEST_P(QueryBatcherFailureTest, OfOneObjectThatManyAskForIsNotThatOfOthers) {
  auto batcher = Make();
  FailForOne();
  for (int caller = 0; caller < 20; ++caller) {
    EXPECT_EQ(batcher->QueryObjects(Question({Pod(1)}), kLater).status().code(), GetParam());
  }
  const auto got = batcher->QueryObjects(Question({Pod(2)}), kLater);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(got->values, ElementsAre(2.0));
}

// What was answered is merged again; after a minute all is.
TEST_P(QueryBatcherFailureTest, IsForgottenAfterAMinute) {
  auto batcher = Make();
  FailForOne();
  EXPECT_FALSE(batcher->QueryObjects(Question({Pod(1)}), kLater).ok());
  source_.OnQuery([](const std::string& promql) { return VectorOf(PodsIn(promql)); });
  clock_.Advance(absl::Minutes(1));
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(1)}), kLater)->values, ElementsAre(1.0));
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(2)}), kLater)->values, ElementsAre(2.0));
  EXPECT_EQ(source_.queries().back(), Query("=~\"p1-|p2-\""));
}

INSTANTIATE_TEST_SUITE_P(Codes, QueryBatcherFailureTest,
                         testing::Values(absl::StatusCode::kInvalidArgument,
                                         absl::StatusCode::kUnavailable,
                                         absl::StatusCode::kDeadlineExceeded),
                         [](const auto& info) { return absl::StatusCodeToString(info.param); });

TEST_F(QueryBatcherTest, AnObjectThatIsAnsweredIsMergedAgain) {
  auto batcher = Make();
  source_.OnQuery([](const std::string&) { return absl::UnavailableError("restarting"); });
  EXPECT_FALSE(batcher->QueryObjects(Question({Pod(1), Pod(2)}), kLater).ok());
  source_.OnQuery([](const std::string& promql) { return VectorOf(PodsIn(promql)); });
  for (int pod = 1; pod <= 2; ++pod) {
    EXPECT_THAT(batcher->QueryObjects(Question({Pod(pod)}), kLater)->values, ElementsAre(pod));
  }
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(3)}), kLater)->values, ElementsAre(3.0));
  EXPECT_EQ(source_.queries().back(), Query("=~\"p1-|p2-|p3-\""));
}

// A source that answers nothing at all is not asked for each object.
TEST_F(QueryBatcherTest, WhileTheSourceSeemsDownAFailureReachesAllAndIsForgottenSoon) {
  auto batcher = Make();
  source_.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  const auto ask_all = [&] {
    for (int pod = 0; pod < 100; ++pod) {
      EXPECT_EQ(Bare(batcher->QueryObjects(Question({Pod(pod)}), kLater).status()),
                absl::UnavailableError("down"));
    }
  };
  ask_all();
  const size_t first = source_.queries().size();
  EXPECT_LE(first, 10u);
  for (int second = 0; second < 10; ++second) {
    clock_.Advance(absl::Seconds(1));
    ask_all();
  }
  EXPECT_LE(source_.queries().size() - first, 20u);
  clock_.Advance(absl::Milliseconds(100));
  source_.OnQuery([](const std::string& promql) { return VectorOf(PodsIn(promql)); });
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(50)}), kLater)->values, ElementsAre(50.0));
}

// It answers neither a merged query nor those of the callers that then ask apart.
TEST_F(QueryBatcherTest, WhileTheSourceHangsOnlyAFewCallersAskApart) {
  constexpr int kPods = 30;
  constexpr MonotonicTime kFirstFails = absl::Seconds(5), kOthersFail = absl::Seconds(20);
  auto batcher = Make();
  std::vector<std::string> pods;
  for (int pod = 0; pod < kPods; ++pod) pods.push_back(Pod(pod));
  ASSERT_TRUE(batcher->QueryObjects(Question(pods), kLater).ok());
  clock_.Advance(absl::Seconds(1));

  absl::Mutex mutex;
  const bool answered = false;
  source_.OnQuery([&](const std::string& promql) -> FakeSource::Result {
    const bool merged = PodsIn(promql).size() > 1;
    const absl::MutexLock lock(&mutex);
    clock_.Await(mutex, absl::Condition(&answered), merged ? kFirstFails : kOthersFail);
    if (merged) return absl::DeadlineExceededError("no answer");
    return absl::UnavailableError("a proxy had no answer");
  });
  std::vector<std::thread> callers;
  const auto ask = [&](int pod, MonotonicTime deadline) {
    callers.emplace_back([this, pod, deadline, &batcher] {
      EXPECT_FALSE(batcher->QueryObjects(Question({Pod(pod)}), deadline).ok());
    });
  };
  ask(0, kFirstFails);
  clock_.AwaitWaits(1);
  for (int pod = 1; pod < kPods; ++pod) ask(pod, kLater);
  clock_.AwaitWaits(kPods);
  clock_.Advance(kFirstFails - clock_.MonotonicNow());
  // All but the first wait once more: for the source, or for their turn.
  clock_.AwaitWaits(2 * kPods - 1);
  EXPECT_THAT(source_.queries(), SizeIs(2 + 8));
  // Then it seems down, and most of the callers are told so.
  clock_.Advance(kOthersFail - clock_.MonotonicNow());
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(source_.queries().size(), 2u + 2 * 8);
}

TEST_F(QueryBatcherTest, AQueryThatHadHardlyAnyTimeSaysNothingOfItsObjects) {
  auto batcher = Make();
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1), Pod(2)}), kLater).ok());
  clock_.Advance(absl::Seconds(1));
  constexpr absl::Duration kHardlyAny = absl::Milliseconds(1);
  source_.OnQuery([&](const std::string&) {
    clock_.Advance(kHardlyAny);
    return absl::DeadlineExceededError("slow");
  });
  constexpr int kCallers = 10;
  for (int caller = 0; caller < kCallers; ++caller) {
    EXPECT_EQ(
        Bare(
            batcher->QueryObjects(Question({Pod(1)}), clock_.MonotonicNow() + kHardlyAny).status()),
        absl::DeadlineExceededError("slow"));
  }
  EXPECT_THAT(source_.queries(), SizeIs(1 + kCallers)) << "nobody asks twice";
  source_.OnQuery([](const std::string& promql) { return VectorOf(PodsIn(promql)); });
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(1)}), kLater)->values, ElementsAre(1.0));
  EXPECT_EQ(source_.queries().back(), Query("=~\"p1-|p2-\"")) << "they are still merged";
}

TEST_F(QueryBatcherTest, AQueryThatThrowsLeavesNobodyWaiting) {
  auto batcher = Make();
  const auto answer = [](const std::string& promql) { return VectorOf(PodsIn(promql)); };
  const auto refuse = [&](absl::Status status) {
    source_.OnQuery([status](const std::string&) { return status; });
    EXPECT_EQ(batcher->QueryObjects(Question({Pod(1), Pod(2)}), kLater).status().code(),
              status.code());
    clock_.Advance(absl::Seconds(1));
  };
  const auto throws = [&] {
    source_.OnQuery([](const std::string&) -> FakeSource::Result { throw std::bad_alloc(); });
    EXPECT_THROW((void)batcher->QueryObjects(Question({Pod(1)}), kLater), std::bad_alloc);
  };
  throws();
  source_.OnQuery(answer);
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1)}), clock_.MonotonicNow()).ok());
  clock_.Advance(absl::Seconds(1));
  // From now on each caller asks alone; while the source does not answer, only a few at once.
  refuse(absl::InvalidArgumentError("too long"));
  for (int i = 0; i < 8; ++i) throws();
  refuse(absl::UnavailableError("down"));
  source_.OnQuery(answer);
  const auto got = batcher->QueryObjects(Question({Pod(1)}), clock_.MonotonicNow());
  EXPECT_TRUE(got.ok()) << got.status();
}

TEST_F(QueryBatcherTest, OnlyVectorsHaveObjects) {
  source_.OnQuery([](const std::string&) {
    auto scalar = std::make_shared<QueryResult>();
    scalar->type = QueryResult::Type::kScalar;
    return FakeSource::Result(std::move(scalar));
  });
  for (const size_t rule : {0u, 1u}) {
    auto batcher = Make();
    EXPECT_EQ(batcher->QueryObjects(Question({Pod(1)}, rule), kLater).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
}

TEST_F(QueryBatcherTest, AResourceWithoutLabelIsNotFound) {
  auto batcher = Make();
  for (const size_t rule : {0u, 1u}) {
    ObjectQuestion question = Question({"s"}, rule);
    question.args.resource = {"", "services"};
    EXPECT_EQ(batcher->QueryObjects(question, kLater).status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_THAT(source_.queries(), SizeIs(0));
}

TEST_F(QueryBatcherTest, SweepForgetsIdleGroupsAndLosesNothing) {
  auto batcher = Make({.max_groups = 16});
  for (int i = 0; i < 100; ++i) {
    ObjectQuestion question = Question({Pod(i)});
    question.args.ns = absl::StrCat("ns", i);
    ASSERT_TRUE(batcher->QueryObjects(question, kLater).ok());
    EXPECT_THAT(batcher->QueryObjects(question, kLater)->values, ElementsAre(1.0 * i));
  }
  clock_.Advance(absl::Minutes(1));
  batcher->Sweep();
  EXPECT_THAT(batcher->QueryObjects(Question({Pod(3)}), kLater)->values, ElementsAre(3.0));
}

// Questions that differ each time are answered, and not kept beyond that.
TEST_F(QueryBatcherTest, GroupsAreKeptWithinTheirBytes) {
  constexpr size_t kMaxBytes = 1 << 20;
  auto batcher = Make({.max_group_bytes = kMaxBytes});
  std::vector<std::string> pods;
  for (int i = 100; i < 300; ++i) pods.push_back(Pod(i));
  size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    ObjectQuestion question = Question(pods);
    question.args.ns = absl::StrCat("ns", i);
    ASSERT_TRUE(batcher->QueryObjects(question, kLater).ok());
    most = std::max(most, batcher->group_bytes());
  }
  EXPECT_GT(most, kMaxBytes / 2);
  EXPECT_LT(most, kMaxBytes + kMaxBytes / 8);
  clock_.Advance(absl::Minutes(1));
  batcher->Sweep();
  EXPECT_EQ(batcher->group_bytes(), 0u);
}

// Whoever may ask can think of any number of names, and of a selector that Prometheus refuses.
TEST_F(QueryBatcherTest, NamesAreRememberedWithinTheBytesOfGroups) {
  constexpr size_t kMaxBytes = 64 << 10;
  auto batcher = Make({.max_group_bytes = kMaxBytes});
  ASSERT_TRUE(batcher->QueryObjects(Question({Pod(1)}), kLater).ok());
  for (const bool refused : {true, false}) {
    source_.OnQuery([refused](const std::string& promql) -> FakeSource::Result {
      if (refused) return absl::InvalidArgumentError("bad_data");
      return VectorOf(PodsIn(promql));
    });
    for (int i = 0; i < 2000; ++i) {
      const auto got = batcher->QueryObjects(Question({absl::StrCat("none-", i)}), kLater);
      ASSERT_EQ(got.ok(), !refused);
    }
    EXPECT_LT(batcher->group_bytes(), 3 * kMaxBytes) << "it grows by doubling";
    EXPECT_GT(batcher->group_bytes(), kMaxBytes);
    clock_.Advance(absl::Minutes(2));
    batcher->Sweep();
    EXPECT_EQ(batcher->group_bytes(), 0u);
  }
}

TEST_F(QueryBatcherTest, AQuestionThatTakesMoreThanAllGroupsMayIsAskedAlone) {
  auto batcher = Make({.max_group_bytes = 4096});
  ObjectQuestion large = Question({Pod(1)});
  large.args.selector = {
      {.key = std::string(5000, 'k'), .op = kube::Operator::kExists, .values = {}}};
  const auto got = batcher->QueryObjects(large, kLater);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(got->values, ElementsAre(1.0));
  EXPECT_EQ(batcher->group_bytes(), 0u);
}

}  // namespace
}  // namespace flyball::adapter
