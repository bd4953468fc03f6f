#include "serve/live_flags.h"

#include "absl/strings/str_cat.h"
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
  const auto flags = Parse({"--metric-source=live", "--live-retention=5m", "--live-max-series=7",
                            "--live-max-bytes=8", "--live-out-of-order-window=0",
                            "--promql-dialect=2", "--live-lookback=1m",
                            "--live-max-request-bytes=9", "--live-max-request-unpacked-bytes=10"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  const live::StoreOptions store = StoreOptionsFrom(flags->live);
  EXPECT_EQ(store.retention_ms, 300'000);
  EXPECT_EQ(store.max_series, 7u);
  EXPECT_EQ(store.max_bytes, 8u);
  EXPECT_EQ(store.out_of_order_ms, 0);
  EXPECT_EQ(EvalOptionsFrom(flags->live).dialect, promql::Dialect::k2);
  EXPECT_EQ(EvalOptionsFrom(flags->live).lookback_ms, 60'000);
  EXPECT_EQ(PushLimitsFrom(flags->live).max_uncompressed_bytes, 10u);
  const auto options = ServerOptionsFrom(*flags);
  EXPECT_TRUE(options->listen.request.keep_bodies);
  EXPECT_EQ(options->listen.request.max_body_bytes, 9u);
}

TEST(LiveFlags, WhatCannotBeIsRefused) {
  const auto message = [](const std::string& flag) {
    return std::string(Parse({"--metric-source=live", flag}).status().message());
  };
  EXPECT_THAT(message("--metric-source=lives"), HasSubstr("expected prometheus or live, got \"l"));
  EXPECT_THAT(message("--live-keep=a{"), HasSubstr("--live-keep: \"a{\": 1:3: parse error"));
  EXPECT_THAT(message("--promql-dialect=4"), HasSubstr("expected 3 or 2, got \"4\""));
  EXPECT_THAT(message("--live-max-series=0"), HasSubstr("--live-max-series: expected more than 0"));
  EXPECT_THAT(message("--live-retention=0"), HasSubstr("--live-retention: expected more than 0"));
}

TEST(LiveFlags, OfTheSourceThatIsNotAskedAreNamed) {
  EXPECT_THAT(Parse({"--live-retention=5m"})->warnings,
              ElementsAre(HasSubstr("without --metric-source=live these flags have no effect: "
                                    "--live-retention")));
  EXPECT_THAT(Parse({"--metric-source=live", "--prometheus-url=http://p"})->warnings,
              ElementsAre(HasSubstr("with --metric-source=live these flags have no effect: "
                                    "--prometheus-url")));
}

}  // namespace
}  // namespace flyball::serve
