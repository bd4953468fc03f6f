#include "adapter/live/live.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "adapter/live/store/testing/any_time_store.h"
#include "adapter/live/store/testing/make_labels.h"
#include "promql/parser.h"

namespace flyball::adapter {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
const int64_t kNowMs = absl::ToUnixMillis(kNow);

TEST(LiveQuery, GivesVectorsScalarsAndRefusals) {
  live::AnyTimeStore store;
  Live live(store);
  ASSERT_TRUE(store.Append({{"__name__", "up"}, {"pod", "a"}}, kNowMs, 1).ok());
  ASSERT_TRUE(store.Append({{"__name__", "up"}, {"pod", "b"}}, kNowMs, 3).ok());
  const auto ask = [&live](absl::string_view query) {
    return live.Query(query, kNow, absl::Seconds(1));
  };

  const auto vector = ask("up * 2");
  ASSERT_TRUE(vector.ok()) << vector.status();
  ASSERT_EQ((*vector)->samples.size(), 2u);
  EXPECT_EQ((*vector)->samples[1].labels, (LabelSet{{"pod", "b"}}));
  EXPECT_EQ((*vector)->samples[1].value, 6);
  EXPECT_EQ((*vector)->samples[1].time, kNow);

  EXPECT_EQ((*ask("scalar(sum(up))"))->type, QueryResult::Type::kScalar);
  EXPECT_EQ((*ask("scalar(sum(up))"))->samples.at(0).value, 4);
  EXPECT_EQ((*ask("up[5m]"))->type, QueryResult::Type::kMatrix);
  EXPECT_TRUE((*ask("up[5m]"))->samples.empty());
  EXPECT_EQ((*ask("\"text\""))->type, QueryResult::Type::kString);
  EXPECT_EQ(ask("sum(").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ask("topk(NaN, up)").status().code(), absl::StatusCode::kInvalidArgument);
}

// Of a window that has lost its beginning a rate is too low.
TEST(LiveQuery, IsUnknownIfThereWasNoRoomForAllOfItsSamples) {
  SimulatedClock clock(kNow);
  live::Store store({.max_bytes = 100'000});
  const promql::Labels greedy = live::Named("greedy"), modest = live::Named("modest");
  for (int64_t ms = -100'000; ms < 0; ++ms) {
    const double value = static_cast<double>(ms * ms) / 7;
    ASSERT_TRUE(store.Append(greedy, {kNowMs + ms, value}, kNowMs).ok());
    if (ms % 1000 != 0) continue;
    ASSERT_TRUE(store.Append(modest, {kNowMs + ms, value}, kNowMs).ok());
  }
  ASSERT_GT(store.counts().forgotten_chunks, 0u);
  LiveOptions options;
  options.window.warmup = absl::Seconds(1);
  Live live(store, clock, options);
  const auto status = [&live](absl::string_view query) {
    return live.Query(query, kNow, absl::Seconds(1)).status();
  };
  EXPECT_EQ(
      status("1 + sum(rate(greedy[2m]))"),
      absl::UnavailableError("the live source had no room for all samples that the query needs of "
                             "{__name__=\"greedy\"}"));
  EXPECT_TRUE(absl::IsUnavailable(status("rate({__name__=~\".+\"}[2m])")));
  EXPECT_TRUE(absl::IsUnavailable(status("greedy offset 90s")));
  EXPECT_EQ(status("rate(modest[2m])"), absl::OkStatus());
  EXPECT_EQ(status("rate(greedy[1s])"), absl::OkStatus());
  EXPECT_EQ(status("greedy"), absl::OkStatus());
}

TEST(LiveQuery, IsUnknownIfItsSamplesAreDroppedWhileItReadsThem) {
  SimulatedClock clock(kNow);
  live::Store store({.max_bytes = 100'000});
  const promql::Labels greedy = live::Named("greedy");
  const auto append = [&](int64_t from_ms, int64_t to_ms) {
    for (int64_t ms = from_ms; ms < to_ms; ++ms) {
      const double value = static_cast<double>(ms * ms) / 7;
      ASSERT_TRUE(store.Append(greedy, {kNowMs + ms, value}, kNowMs).ok());
    }
  };
  append(-100'000, -99'000);
  const auto kept = [](const char* name) {
    return KeptSince({{promql::ParseSeriesSelector(name)->matchers, 0}});
  };
  std::function<void()> meanwhile = [] {};
  LiveOptions options;
  // It is called when the query looks for its series.
  options.eval.interrupted = [&meanwhile] {
    std::exchange(meanwhile, [] {})();
    return absl::OkStatus();
  };
  Live live(store, clock, options);
  live.SetKept(kept("greedy"));
  const auto status = [&live] {
    return live.Query("sum(rate(greedy[2m]))", kNow, absl::Seconds(1)).status();
  };
  EXPECT_EQ(status(), absl::OkStatus());
  // A reload, after which no rule reads them.
  meanwhile = [&] { live.SetKept(kept("modest")); };
  EXPECT_TRUE(absl::IsUnavailable(status()));
  live.SetKept(kept("greedy"));
  EXPECT_EQ(status(), absl::OkStatus());
  // There is no room for more of them.
  meanwhile = [&] { append(-99'000, 0); };
  EXPECT_TRUE(absl::IsUnavailable(status()));
  EXPECT_GT(store.counts().forgotten_chunks, 0u);
}

TEST(LiveSeries, ListsNamesSinceTheStart) {
  live::AnyTimeStore store;
  Live live(store);
  ASSERT_TRUE(store.Append({{"__name__", "x_total"}, {"pod", "a"}, {"ns", "w"}}, kNowMs, 1).ok());
  ASSERT_TRUE(store.Append({{"__name__", "x_total"}, {"pod", "b"}, {"ns", "w"}}, kNowMs, 1).ok());
  ASSERT_TRUE(store.Append({{"__name__", "x_old"}, {"ns", "w"}}, kNowMs - 120'000, 1).ok());
  ASSERT_TRUE(store.Append({{"__name__", "x_gone"}}, kNowMs, promql::StaleMarker()).ok());
  const auto names = [&live](absl::string_view selector, absl::Time start) {
    std::string text;
    const auto series = live.Series(selector, start, absl::Seconds(1));
    if (!series.ok()) return std::string(series.status().message());
    for (const SeriesName& name : *series) {
      text += name.name + "(";
      for (const std::string& label : name.labels) text += label + " ";
      text += ")";
    }
    return text;
  };
  EXPECT_EQ(names("{__name__=~\"x_.*\"}", kNow - absl::Minutes(1)), "x_total(ns pod )");
  EXPECT_EQ(names("{__name__=~\"x_.*\"}", kNow - absl::Minutes(2)), "x_old(ns )x_total(ns pod )");
  EXPECT_EQ(names("{pod=\"c\"}", kNow), "");
  EXPECT_EQ(names("", kNow), "1:1: parse error: no expression found in input");
  EXPECT_EQ(names("rate(x_total[1m])", kNow),
            "1:1: parse error: expected a series selector, got \"rate(x_total[1m])\"");
}

}  // namespace
}  // namespace flyball::adapter
