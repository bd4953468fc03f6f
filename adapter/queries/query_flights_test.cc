#include "adapter/queries/query_flights.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "adapter/testing/fakes.h"
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

class QueryFlightsTest : public testing::Test {
 protected:
  std::unique_ptr<QueryFlights> Make(FlightOptions options = {}) {
    return std::make_unique<QueryFlights>(source_, clock_, options, nullptr);
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  FakeSource source_;
};

TEST_F(QueryFlightsTest, AFreshResultIsGivenAgain) {
  auto flights = Make();
  const auto first = flights->Query("up", kLater);
  clock_.Advance(absl::Milliseconds(999));
  const auto again = flights->Query("up", kLater);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(again->result, first->result);
  EXPECT_EQ(again->freshness.fresh_until, absl::Seconds(1));
  EXPECT_THAT(source_.queries(), SizeIs(1));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_TRUE(flights->Query("up", kLater).ok());
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

TEST_F(QueryFlightsTest, OnlyWhoAskedHoldsWhatCountsTheResult) {
  auto flights = Make();
  const auto counted = std::make_shared<int>();
  source_.OnQuery([&](const std::string&) {
    auto result = std::make_shared<QueryResult>();
    result->counted = counted;
    return FakeSource::Result(std::move(result));
  });
  {
    const auto first = flights->Query("up", kLater);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->counted, counted);
    EXPECT_EQ(flights->Query("up", kLater)->counted, nullptr);
  }
  EXPECT_EQ(counted.use_count(), 1) << "a result that is kept is counted with those kept";
}

TEST_F(QueryFlightsTest, WhoWishesForAYoungerResultGetsOne) {
  auto flights = Make();
  const absl::Duration young = absl::Milliseconds(100);
  const auto first = flights->Query("up", kLater);
  clock_.Advance(absl::Milliseconds(100));
  EXPECT_EQ(flights->Query("up", kLater, young)->result, first->result);
  clock_.Advance(absl::Milliseconds(1));
  source_.OnQuery([&](const std::string&) {
    // The others are content with what there is.
    EXPECT_EQ(flights->Query("up", kLater)->result, first->result);
    return VectorOf({});
  });
  const auto second = flights->Query("up", kLater, young);
  EXPECT_NE(second->result, first->result);
  EXPECT_EQ(second->sent, absl::Milliseconds(101));
  EXPECT_EQ(flights->Query("up", kLater)->result, second->result);
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

TEST_F(QueryFlightsTest, AYoungerResultThatFailsIsAFailure) {
  auto flights = Make();
  const auto first = flights->Query("up", kLater);
  clock_.Advance(absl::Milliseconds(500));
  source_.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  const absl::Duration young = absl::Milliseconds(100);
  EXPECT_TRUE(absl::IsUnavailable(flights->Query("up", kLater, young).status()));
  EXPECT_TRUE(absl::IsUnavailable(flights->Query("up", kLater, young).status()));
  EXPECT_THAT(source_.queries(), SizeIs(2));  // the failure is given again for a while
  EXPECT_EQ(flights->Query("up", kLater)->result, first->result);
}

TEST_F(QueryFlightsTest, AStandingQueryAlwaysAsksTheSource) {
  auto flights = Make();
  source_.OnQuery([](const std::string&) {
    return VectorOf({{.labels = {}, .time = absl::FromUnixSeconds(1), .value = 1}});
  });
  StandingQuery up("up");
  ASSERT_NE(flights->Query("up", kLater)->result, nullptr);
  ASSERT_NE(flights->Ask(up, kLater)->result, nullptr);
  source_.SayTheSameAt(2);
  const auto second = flights->Ask(up, kLater);
  EXPECT_EQ(second->result, nullptr);
  EXPECT_EQ(second->time, absl::FromUnixSeconds(2));
  EXPECT_THAT(source_.queries(), SizeIs(3));
}

TEST_F(QueryFlightsTest, AgeCountsFromTheSending) {
  auto flights = Make();
  source_.OnQuery([this](const std::string&) {
    clock_.Advance(absl::Milliseconds(700));
    return VectorOf({});
  });
  const auto got = flights->Query("up", kLater);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->freshness.fresh_until, absl::Seconds(1));
  clock_.Advance(absl::Milliseconds(300));
  EXPECT_TRUE(flights->Query("up", kLater).ok());
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

// Each query takes 10 ms, so that from 4 * 10 ms before a result goes stale it is asked for anew.
class QueryFlightsAheadTest : public QueryFlightsTest {
 protected:
  QueryFlightsAheadTest() {
    source_.OnQuery([this](const std::string&) { return Take10Ms(); });
  }
  FakeSource::Result Take10Ms() {
    clock_.Advance(absl::Milliseconds(10));
    return VectorOf({});
  }
  void AdvanceTo(absl::Duration time) { clock_.Advance(time - clock_.MonotonicNow()); }

  std::unique_ptr<QueryFlights> flights_ = Make();
};

TEST_F(QueryFlightsAheadTest, OneCallerAsksAnewWhileTheOthersGetTheOldResult) {
  const auto first = flights_->Query("up", kLater);
  EXPECT_EQ(first->freshness.refresh_at, absl::Milliseconds(960));
  AdvanceTo(absl::Milliseconds(959));
  EXPECT_EQ(flights_->Query("up", kLater)->result, first->result);
  AdvanceTo(absl::Milliseconds(960));
  source_.OnQuery([&](const std::string&) {
    const auto other = flights_->Query("up", kLater);  // while the query is under way
    EXPECT_EQ(other->result, first->result);
    return Take10Ms();
  });
  const auto second = flights_->Query("up", kLater);
  EXPECT_NE(second->result, first->result);
  EXPECT_EQ(second->freshness.fresh_until, absl::Milliseconds(1960));
  EXPECT_EQ(flights_->Query("up", kLater)->result, second->result);
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

TEST_F(QueryFlightsAheadTest, WhoComesWhenTheOldResultIsStaleWaitsForTheQueryUnderWay) {
  ASSERT_TRUE(flights_->Query("up", kLater).ok());
  AdvanceTo(absl::Milliseconds(960));
  absl::Notification asked, release;
  source_.OnQuery([&](const std::string&) {
    asked.Notify();
    release.WaitForNotification();
    return VectorOf({});
  });
  std::thread leader([&] { EXPECT_TRUE(flights_->Query("up", kLater).ok()); });
  asked.WaitForNotification();
  AdvanceTo(absl::Seconds(1));
  std::thread joiner([&] { EXPECT_TRUE(flights_->Query("up", kLater).ok()); });
  clock_.AwaitWaits(1);
  release.Notify();
  leader.join();
  joiner.join();
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

TEST_F(QueryFlightsAheadTest, AFailureCountsWhenTheOldResultIsStale) {
  const auto first = flights_->Query("up", kLater);
  AdvanceTo(absl::Milliseconds(960));
  source_.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  for (int i = 0; i < 3; ++i) {
    const auto got = flights_->Query("up", kLater);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->result, first->result);
  }
  EXPECT_THAT(source_.queries(), SizeIs(2));
  AdvanceTo(absl::Seconds(1));
  EXPECT_EQ(Bare(flights_->Query("up", kLater).status()), absl::UnavailableError("down"));
  EXPECT_THAT(source_.queries(), SizeIs(2)) << "the failure of 40 ms ago is given again";
  AdvanceTo(absl::Milliseconds(1060));
  EXPECT_FALSE(flights_->Query("up", kLater).ok());
  EXPECT_THAT(source_.queries(), SizeIs(3));
}

TEST_F(QueryFlightsTest, DifferentQueriesAreNotMixedUp) {
  auto flights = Make();
  source_.OnQuery([](const std::string& promql) {
    return VectorOf(
        {{.labels = {}, .time = absl::UnixEpoch(), .value = promql == "a" ? 1.0 : 2.0}});
  });
  EXPECT_EQ((*flights->Query("a", kLater)).result->samples[0].value, 1);
  EXPECT_EQ((*flights->Query("b", kLater)).result->samples[0].value, 2);
}

TEST_F(QueryFlightsTest, ZeroFreshnessAsksEachTime) {
  auto flights = Make({.freshness = absl::ZeroDuration()});
  EXPECT_TRUE(flights->Query("up", kLater).ok());
  EXPECT_TRUE(flights->Query("up", kLater).ok());
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

TEST_F(QueryFlightsTest, EqualQueriesUnderWayAreOneEvenWithZeroFreshness) {
  auto flights = Make({.freshness = absl::ZeroDuration()});
  absl::Notification asked, release;
  source_.OnQuery([&](const std::string&) {
    asked.Notify();
    release.WaitForNotification();
    return VectorOf({});
  });
  std::thread leader([&] { EXPECT_TRUE(flights->Query("up", kLater).ok()); });
  asked.WaitForNotification();
  std::thread joiner([&] { EXPECT_TRUE(flights->Query("up", kLater).ok()); });
  clock_.AwaitWaits(1);
  release.Notify();
  leader.join();
  joiner.join();
  EXPECT_THAT(source_.queries(), SizeIs(1));
}

// The query under way may have read before the sample that this caller comes for.
TEST_F(QueryFlightsTest, WhoJoinsAQueryDuringWhichASampleCameHasItAskedAgain) {
  auto flights = Make();
  const auto samples = std::make_shared<SampleVersion>([] {});
  absl::Notification asked, release;
  std::atomic<int> calls = 0;
  source_.OnQuery([&](const std::string&) {
    auto result = std::make_shared<QueryResult>();
    result->read = SamplesRead({{samples, samples->Take()}});
    result->samples.push_back({.labels = {}, .time = {}, .value = static_cast<double>(++calls)});
    if (calls == 1) {
      asked.Notify();
      release.WaitForNotification();
    }
    return std::shared_ptr<const QueryResult>(std::move(result));
  });
  std::thread leader(
      [&] { EXPECT_EQ((*flights->Query("x", kLater)).result->samples[0].value, 1); });
  asked.WaitForNotification();
  samples->Mark();
  std::thread joiner(
      [&] { EXPECT_EQ((*flights->Query("x", kLater)).result->samples[0].value, 2); });
  clock_.AwaitWaits(1);
  release.Notify();
  leader.join();
  joiner.join();
  EXPECT_EQ((*flights->Query("x", kLater)).result->samples[0].value, 2);
}

TEST_F(QueryFlightsTest, AtMostOneASecondUnderLoad) {
  auto flights = Make();
  std::atomic<bool> stop{false};
  std::atomic<int> answers{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      while (!stop) {
        EXPECT_TRUE(flights->Query("up", absl::Hours(2)).ok());
        ++answers;
      }
    });
  }
  for (int tenth = 0; tenth < 50; ++tenth) {
    const int before = answers;
    while (answers < before + 4) std::this_thread::yield();
    clock_.Advance(absl::Milliseconds(100));
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  // 5 s have gone by: at 0, 1, 2, 3, 4 and 5.
  EXPECT_THAT(source_.queries(), SizeIs(testing::AllOf(testing::Ge(5), testing::Le(6))));
}

// What is given again, or had hardly any time, says nothing of the source.
TEST_F(QueryFlightsTest, CountsTheQueriesThatWereSentInVainSinceTheLastAnswer) {
  auto flights = Make();
  absl::Status outcome;
  source_.OnQuery([&](const std::string&) -> FakeSource::Result {
    if (outcome.ok()) return VectorOf({});
    return outcome;
  });
  const auto count_after = [&](absl::StatusCode code, const char* promql, MonotonicTime deadline) {
    outcome = absl::Status(code, "as asked for");
    flights->Query(promql, deadline).status().IgnoreError();
    return flights->unanswered();
  };
  const MonotonicTime later = absl::Hours(1), soon = absl::Milliseconds(1);
  EXPECT_EQ(count_after(absl::StatusCode::kOk, "answered", later), 0u);
  EXPECT_EQ(count_after(absl::StatusCode::kUnavailable, "failed", later), 1u);
  EXPECT_EQ(count_after(absl::StatusCode::kUnavailable, "failed", later), 1u) << "given again";
  EXPECT_EQ(count_after(absl::StatusCode::kOk, "answered", later), 1u) << "given again";
  EXPECT_EQ(count_after(absl::StatusCode::kDeadlineExceeded, "slow", soon), 1u);
  EXPECT_EQ(count_after(absl::StatusCode::kDeadlineExceeded, "slow", later), 2u);
  EXPECT_EQ(count_after(absl::StatusCode::kInvalidArgument, "refused", later), 0u);
}

TEST_F(QueryFlightsTest, AFailureIsGivenAgainForAMomentOnly) {
  auto flights = Make();
  source_.OnQuery([](const std::string&) { return absl::UnavailableError("down"); });
  EXPECT_EQ(Bare(flights->Query("up", kLater).status()), absl::UnavailableError("down"));
  clock_.Advance(absl::Milliseconds(99));
  EXPECT_EQ(Bare(flights->Query("up", kLater).status()), absl::UnavailableError("down"));
  EXPECT_THAT(source_.queries(), SizeIs(1));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Bare(flights->Query("up", kLater).status()), absl::UnavailableError("down"));
  EXPECT_THAT(source_.queries(), SizeIs(2));
}

TEST_F(QueryFlightsTest, TheSourceGetsTheTimeThatIsLeft) {
  auto flights = Make();
  clock_.Advance(absl::Seconds(3));
  EXPECT_TRUE(flights->Query("up", absl::Seconds(10)).ok());
  EXPECT_THAT(source_.timeouts(), ElementsAre(absl::Seconds(7)));
}

TEST_F(QueryFlightsTest, WhoWaitsDoesSoUntilItsOwnDeadline) {
  auto flights = Make();
  absl::Notification asked, release;
  source_.OnQuery([&](const std::string&) {
    asked.Notify();
    release.WaitForNotification();
    return VectorOf({});
  });
  std::thread leader([&] { EXPECT_TRUE(flights->Query("up", kLater).ok()); });
  asked.WaitForNotification();
  EXPECT_EQ(flights->Query("up", clock_.MonotonicNow()).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  release.Notify();
  leader.join();
}

TEST_F(QueryFlightsTest, WhenTheOneThatAsksRunsOutOfTimeAnotherAsks) {
  auto flights = Make();
  absl::Notification asked, release;
  std::atomic<int> calls{0};
  source_.OnQuery([&](const std::string&) -> FakeSource::Result {
    if (calls++ > 0) return VectorOf({});
    asked.Notify();
    release.WaitForNotification();
    return absl::DeadlineExceededError("slow");
  });
  std::thread leader([&] {
    EXPECT_EQ(Bare(flights->Query("up", kLater).status()), absl::DeadlineExceededError("slow"));
  });
  asked.WaitForNotification();
  std::thread joiner([&] { EXPECT_TRUE(flights->Query("up", kLater).ok()); });
  clock_.AwaitWaits(1);
  release.Notify();
  leader.join();
  joiner.join();
  EXPECT_EQ(calls, 2);
}

// As reading a large answer does for want of memory.
TEST_F(QueryFlightsTest, AQueryThatThrowsLeavesNobodyWaiting) {
  auto flights = Make();
  absl::Notification asked, release;
  source_.OnQuery([&](const std::string&) -> FakeSource::Result {
    asked.Notify();
    release.WaitForNotification();
    throw std::bad_alloc();
  });
  std::thread leader([&] { EXPECT_THROW((void)flights->Query("up", kLater), std::bad_alloc); });
  asked.WaitForNotification();
  std::thread joiner([&] {
    EXPECT_EQ(flights->Query("up", absl::Seconds(1)).status().code(), absl::StatusCode::kInternal);
  });
  clock_.AwaitWaits(1);
  release.Notify();
  leader.join();
  clock_.Advance(absl::Seconds(1));
  joiner.join();
  source_.OnQuery([](const std::string&) { return VectorOf({}); });
  EXPECT_TRUE(flights->Query("up", clock_.MonotonicNow()).ok());
}

TEST_F(QueryFlightsTest, TheNumberOfResultsKeptIsLimited) {
  auto flights = Make({.freshness = absl::Hours(1), .max_results = 32});
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(flights->Query(absl::StrCat("q", i), kLater).ok());
  }
  // Of 1000 results that are all fresh, those kept can be given again without a query.
  const size_t asked = source_.queries().size();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(flights->Query(absl::StrCat("q", i), kLater).ok());
  }
  EXPECT_GE(source_.queries().size() - asked, 1000u - 32u);
}

// Whoever asks for other things all the time makes the server keep no more of them than this.
TEST_F(QueryFlightsTest, ResultsAreKeptWithinTheirBytes) {
  constexpr size_t kSamples = 100;
  constexpr size_t kMaxBytes = 20 * kSamples * sizeof(Sample);
  auto flights = Make({.max_bytes = kMaxBytes});
  std::vector<std::weak_ptr<const QueryResult>> results;
  source_.OnQuery([&](const std::string&) {
    auto result = std::make_shared<QueryResult>();
    result->samples.resize(kSamples);
    results.push_back(result);
    return FakeSource::Result(std::move(result));
  });
  const auto kept = [&] {
    return std::count_if(results.begin(), results.end(),
                         [](const auto& r) { return !r.expired(); });
  };
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(flights->Query(absl::StrCat("m", i), kLater).ok());
    ASSERT_LE(kept(), 20) << i;
  }
  EXPECT_GT(kept(), 0);
  // A long query counts as well as its result.
  results.clear();
  ASSERT_TRUE(flights->Query(std::string(kMaxBytes, 'm'), kLater).ok());
  EXPECT_EQ(kept(), 0);
}

// Whoever has series in Prometheus chooses how long their labels are.
TEST_F(QueryFlightsTest, EachSampleCountsWithItsOwnLabels) {
  constexpr size_t kLong = 10'000;
  auto flights = Make({.max_bytes = 20 * kLong});
  std::vector<std::weak_ptr<const QueryResult>> results;
  source_.OnQuery([&](const std::string&) {
    auto result = std::make_shared<QueryResult>();
    result->samples.resize(2);
    result->samples[1].labels = {{"a", std::string(kLong, 'x')}};
    results.push_back(result);
    return FakeSource::Result(std::move(result));
  });
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(flights->Query(absl::StrCat("m", i), kLater).ok());
  EXPECT_LE(std::count_if(results.begin(), results.end(),
                          [](const auto& result) { return !result.expired(); }),
            20);
}

// What is asked for again and again takes no more each time, so nothing else has to go for it.
TEST_F(QueryFlightsTest, WhatIsAskedAgainCountsOnce) {
  auto flights = Make({.max_bytes = 100'000});
  const auto other = flights->Query("other", kLater);
  for (int i = 0; i < 1000; ++i) {
    clock_.Advance(absl::Microseconds(100));
    ASSERT_TRUE(flights->Query(std::string(1000, 'm'), kLater, absl::ZeroDuration()).ok());
  }
  EXPECT_THAT(source_.queries(), SizeIs(1001));
  EXPECT_EQ(flights->Query("other", kLater)->result, other->result);
}

}  // namespace
}  // namespace flyball::adapter
