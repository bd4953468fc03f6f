// Answers that tell when a sample comes that they were not made of.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "adapter/live/live.h"
#include "adapter/live/store/testing/make_labels.h"
#include "adapter/queries/query_flights.h"

namespace flyball::adapter {
namespace {

constexpr absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
constexpr absl::Duration kTimeout = absl::Seconds(1);

class LiveNewsTest : public testing::Test {
 protected:
  // At the clock's time.
  void Push(const std::string& name, double value, promql::LabelSet labels = {}) {
    const int64_t now_ms = absl::ToUnixMillis(clock_.WallNow());
    const absl::Status status =
        store_.Append(live::Named(name, std::move(labels)), {now_ms, value}, now_ms);
    ASSERT_TRUE(status.ok()) << status;
  }
  std::shared_ptr<const QueryResult> Query(const std::string& promql) {
    auto result = live_.Query(promql, clock_.WallNow(), kTimeout);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : nullptr;
  }
  StandingResult Ask(StandingQuery& query) {
    auto result = live_.Ask(query, clock_.WallNow(), kTimeout);
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  }

  live::Store store_;
  SimulatedClock clock_{kStart};
  Live live_{store_, clock_, {.debounce = absl::Milliseconds(20)}};
};

TEST_F(LiveNewsTest, AnAnswerIsOldOnceASampleCameThatItsQueryReads) {
  Push("x", 1, {{"pod", "a"}});
  const auto sum = Query("sum(x)");
  const auto of_b = Query("x{pod=\"b\"} + y");
  const auto constant = Query("1 + 1");
  ASSERT_TRUE(sum->read.told() && of_b->read.told() && constant->read.told());
  clock_.Advance(absl::Milliseconds(1));
  Push("z", 1);
  EXPECT_TRUE(sum->read.AreNewest());
  Push("x", 2, {{"pod", "a"}});
  EXPECT_FALSE(sum->read.AreNewest());
  EXPECT_TRUE(of_b->read.AreNewest());
  EXPECT_TRUE(Query("sum(x)")->read.AreNewest());
  EXPECT_FALSE(sum->read.AreNewest());
  Push("x", 2, {{"pod", "b"}});  // a series that was not there
  EXPECT_FALSE(of_b->read.AreNewest());
  EXPECT_TRUE(constant->read.AreNewest());
}

TEST_F(LiveNewsTest, FollowersAreCalledOnceAfterTheDebounce) {
  Push("x", 1);
  int called = 0, others = 0;
  const auto answer = Query("x"), other = Query("y");
  const auto& [samples, number] = answer->read.versions().at(0);
  const VersionFollowing following = samples->Follow(number, [&] { ++called; });
  const VersionFollowing unmoved =
      other->read.versions().at(0).samples->Follow(number, [&] { ++others; });
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(absl::Milliseconds(3));
    Push("x", 2 + i);
  }
  live_.CallFollowers();
  EXPECT_EQ(called, 0) << "12 ms after the first sample";
  clock_.Advance(absl::Milliseconds(8));
  live_.CallFollowers();
  live_.CallFollowers();
  EXPECT_EQ(called, 1);
  EXPECT_EQ(others, 0);
  // Of a number that has moved on already.
  const VersionFollowing late = samples->Follow(number, [&] { ++called; });
  clock_.Advance(absl::Milliseconds(20));
  live_.CallFollowers();
  EXPECT_EQ(called, 2);
}

TEST_F(LiveNewsTest, TheThreadCallsThem) {
  live_.Start();
  const auto answer = Query("x");
  absl::Notification called;
  const VersionFollowing following = answer->read.versions().at(0).samples->Follow(
      answer->read.versions().at(0).number, [&] { called.Notify(); });
  Push("x", 1);
  clock_.Advance(absl::Milliseconds(20));
  called.WaitForNotification();
}

TEST_F(LiveNewsTest, NothingIsWatchedForNobody) {
  { Query("sum(x)"); }
  const auto held = Query("sum(y)");
  clock_.Advance(absl::Milliseconds(20));
  // Without a watch, another answer begins with number 0 again.
  Push("x", 1);
  EXPECT_EQ(Query("sum(x)")->read.versions().at(0).number, 0u);
  Push("y", 1);
  EXPECT_NE(Query("sum(y)")->read.versions().at(0).number, 0u);
}

TEST_F(LiveNewsTest, AStandingQuerySaysUnchangedOfTheSameAnswer) {
  Push("x", 1, {{"pod", "a"}});
  StandingQuery query("sum by (pod) (x)");
  const StandingResult first = Ask(query);
  ASSERT_NE(first.result, nullptr);
  EXPECT_EQ(first.result->samples.at(0).labels, (LabelSet{{"pod", "a"}}));
  EXPECT_EQ(first.time, kStart);

  clock_.Advance(absl::Seconds(1));
  Push("x", 1, {{"pod", "a"}});
  EXPECT_FALSE(first.read.AreNewest());
  const StandingResult second = Ask(query);
  EXPECT_EQ(second.result, nullptr);
  EXPECT_EQ(second.time, kStart + absl::Seconds(1));
  EXPECT_TRUE(second.read.told() && second.read.AreNewest());

  clock_.Advance(absl::Seconds(1));
  Push("x", 2, {{"pod", "a"}});
  ASSERT_NE(Ask(query).result, nullptr);
  EXPECT_EQ(Ask(query).result, nullptr);
  Push("x", 2, {{"pod", "b"}});
  ASSERT_NE(Ask(query).result, nullptr);
  query.Forget();
  ASSERT_NE(Ask(query).result, nullptr);
}

TEST_F(LiveNewsTest, AnEmptyAnswerIsNeverUnchanged) {
  StandingQuery query("x");
  for (int i = 0; i < 2; ++i) {
    const StandingResult answer = Ask(query);
    ASSERT_NE(answer.result, nullptr);
    EXPECT_TRUE(answer.result->samples.empty());
    EXPECT_FALSE(answer.time.has_value());
  }
}

TEST_F(LiveNewsTest, EqualQueriesShareAnAnswerUntilASampleCame) {
  QueryFlights flights(live_, clock_, {.freshness = absl::Seconds(1)}, nullptr);
  const auto ask = [&] {
    auto fresh = flights.Query("sum(x)", clock_.MonotonicNow() + kTimeout);
    EXPECT_TRUE(fresh.ok()) << fresh.status();
    return fresh->result;
  };
  Push("x", 1);
  const auto first = ask();
  Push("y", 1);
  EXPECT_EQ(ask(), first);
  clock_.Advance(absl::Milliseconds(1));
  Push("x", 7);
  EXPECT_EQ(ask()->samples.at(0).value, 7);
  EXPECT_EQ(ask()->samples.at(0).value, 7);
}

TEST(LiveWindowTest, AQueryIsRefusedUntilItsWindowIsWhole) {
  live::Store store;
  SimulatedClock clock(kStart);
  Live live(store, clock,
            {.window = {.kept = std::make_shared<KeptSince>(
                            KeptSince({{{}, absl::ToUnixMillis(kStart)}})),
                        .warmup = absl::Seconds(10)},
             .refuses_unseen = true});
  const auto ask = [&](const std::string& promql) {
    StandingQuery query(promql);
    const absl::Status status = live.Query(promql, clock.WallNow(), kTimeout).status();
    EXPECT_EQ(live.Ask(query, clock.WallNow(), kTimeout).status(), status);
    return status;
  };
  ASSERT_TRUE(
      store.Append(live::Named("x"), {absl::ToUnixMillis(kStart), 1}, absl::ToUnixMillis(kStart))
          .ok());
  EXPECT_EQ(ask("x").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ask("x +").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(live.Series("x", kStart, kTimeout).ok());
  clock.Advance(absl::Seconds(10));
  EXPECT_TRUE(ask("x").ok());
  EXPECT_EQ(ask("rate(x[30s])").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ask("x + y{pod=\"a\"}").message(),
            "the live source gets no samples of {pod=\"a\",__name__=\"y\"}");
}

class UnseenQueryTest : public testing::Test {
 protected:
  void Push(double value) {
    const int64_t now_ms = absl::ToUnixMillis(clock_.WallNow());
    ASSERT_TRUE(store_.Append(live::Named("x"), {now_ms, value}, now_ms).ok());
  }
  static bool IsRefused(const absl::StatusOr<StandingResult>& answer) {
    return absl::IsUnavailable(answer.status());
  }
  absl::StatusOr<StandingResult> Ask() { return live_.Ask(query_, clock_.WallNow(), kTimeout); }

  live::Store store_;
  SimulatedClock clock_{kStart};
  Live live_{store_, clock_, {.refuses_unseen = true}};
  StandingQuery query_{"sum(x) or vector(0)"};
};

TEST_F(UnseenQueryTest, IsRefusedAgainOnceItsSeriesHaveEnded) {
  EXPECT_TRUE(IsRefused(Ask()));
  Push(3);
  EXPECT_FALSE(IsRefused(Ask()));
  clock_.Advance(absl::Seconds(1));
  Push(promql::StaleMarker());
  EXPECT_TRUE(IsRefused(Ask()));
  clock_.Advance(absl::Seconds(1));
  Push(4);
  EXPECT_FALSE(IsRefused(Ask()));
}

TEST_F(UnseenQueryTest, IsRefusedAgainOnceItReadsNoneOfTheSamples) {
  Push(3);
  clock_.Advance(absl::Minutes(4));
  EXPECT_FALSE(IsRefused(Ask()));
  clock_.Advance(absl::Minutes(2));
  EXPECT_TRUE(IsRefused(Ask()));
  StandingQuery ranged("sum(sum_over_time(x[8m]))");
  EXPECT_FALSE(IsRefused(live_.Ask(ranged, clock_.WallNow(), kTimeout)));
}

}  // namespace
}  // namespace flyball::adapter
