#include "serve/live_flags.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "serve/flags.h"
#include "serve/server_options.h"

namespace flyball::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<ServeFlags> Parse(std::vector<std::string> more) {
  more.insert(more.begin(), {"--config=c.yaml", "--objects=folder"});
  return ParseServeFlags(more);
}

TEST(LiveFlags, AreOffByDefaultAndBodiesAreDropped) {
  const auto flags = Parse({});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_FALSE(flags->live.live());
  EXPECT_FALSE(ServerOptionsFrom(*flags)->listen.request.keep_bodies);
}

TEST(LiveFlags, ReachTheOptions) {
  const auto flags =
      Parse({"--metric-source=live", "--live-retention=5m", "--live-max-series=7",
             "--live-max-bytes=8", "--live-out-of-order-window=0", "--promql-dialect=2",
             "--live-lookback=1m", "--live-warmup=3s", "--live-debounce=4ms",
             "--live-max-request-bytes=9", "--live-max-request-unpacked-bytes=10"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  const live::StoreOptions store = StoreOptionsFrom(flags->live);
  EXPECT_EQ(store.retention_ms, 300'000);
  EXPECT_EQ(store.max_series, 7u);
  EXPECT_EQ(store.max_bytes, 8u);
  EXPECT_EQ(store.out_of_order_ms, 0);
  EXPECT_EQ(EvalOptionsFrom(flags->live).dialect, promql::Dialect::k2);
  EXPECT_EQ(EvalOptionsFrom(flags->live).lookback_ms, 60'000);
  const adapter::LiveOptions live = LiveOptionsFrom(flags->live);
  EXPECT_EQ(live.window.retention, absl::Minutes(5));
  EXPECT_EQ(live.window.warmup, absl::Seconds(3));
  EXPECT_EQ(live.debounce, absl::Milliseconds(4));
  EXPECT_FALSE(live.refuses_unseen);
  EXPECT_EQ(PushLimitsFrom(flags->live).max_uncompressed_bytes, 10u);
  const auto options = ServerOptionsFrom(*flags);
  EXPECT_TRUE(options->listen.request.keep_bodies);
  EXPECT_EQ(options->listen.request.max_body_bytes, 9u);
}

TEST(LiveFlags, WhatCannotBeIsRefused) {
  const auto message = [](const std::string& flag) {
    return std::string(Parse({"--metric-source=live", flag}).status().message());
  };
  EXPECT_THAT(message("--metric-source=lives"),
              HasSubstr("expected prometheus, live or prometheus+live, got \"lives\""));
  EXPECT_THAT(message("--live-keep=a{"), HasSubstr("--live-keep: \"a{\": 1:3: parse error"));
  EXPECT_THAT(message("--promql-dialect=4"), HasSubstr("expected 3 or 2, got \"4\""));
  EXPECT_THAT(message("--live-max-series=0"), HasSubstr("--live-max-series: expected more than 0"));
  EXPECT_THAT(message("--live-warmup=-1s"), HasSubstr("--live-warmup: expected 0 or more"));
  EXPECT_THAT(message("--live-scrape-annotated-pods=100ms"),
              HasSubstr("--live-scrape-annotated-pods: expected 0, or 200ms or more"));
  EXPECT_THAT(message("--live-retention=0"), HasSubstr("--live-retention: expected more than 0"));
}

TEST(LiveFlags, BothSourcesTakeTheFlagsOfBoth) {
  const auto flags = Parse(
      {"--metric-source=prometheus+live", "--live-retention=5m", "--prometheus-url=http://p"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_TRUE(flags->live.live() && flags->live.prometheus());
  EXPECT_TRUE(flags->warnings.empty());
  EXPECT_TRUE(LiveOptionsFrom(flags->live).refuses_unseen) << "what only Prometheus has";
}

TEST(LiveFlags, APrometheusThatIsNotAskedMayStillGiveSamplesOfBefore) {
  const auto given = Parse({"--metric-source=live", "--prometheus-url=http://p"});
  EXPECT_TRUE(given->live.warms() && given->warnings.empty());
  EXPECT_FALSE(Parse({"--metric-source=live"})->live.warms()) << "where there is one";
  EXPECT_TRUE(Parse({"--metric-source=prometheus+live"})->live.warms());
  EXPECT_FALSE(Parse({"--metric-source=prometheus"})->live.warms());
}

TEST(LiveFlags, OfTheSourceThatIsNotAskedAreNamed) {
  EXPECT_THAT(Parse({"--live-retention=5m"})->warnings,
              ElementsAre(HasSubstr("without --metric-source=live these flags have no effect: "
                                    "--live-retention")));
  EXPECT_THAT(
      Parse({"--metric-source=live", "--prometheus-url=http://p", "--live-warm-start=false"})
          ->warnings,
      ElementsAre(HasSubstr("with --metric-source=live these flags have no effect: "
                            "--prometheus-url")));
}

}  // namespace
}  // namespace flyball::serve
