#include "adapter/live/live.h"

#include <gtest/gtest.h>

#include <string>

#include "adapter/live/store/testing/any_time_store.h"

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
