#include "serve/scaler_flags.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "serve/flags.h"

namespace flyball::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::StatusOr<ServeFlags> Parse(std::vector<std::string> more) {
  more.insert(more.begin(), "--config=c.yaml");
  return ParseServeFlags(more);
}

TEST(ScalerFlags, AreOffByDefault) {
  const auto flags = Parse({});
  ASSERT_TRUE(flags.ok());
  EXPECT_FALSE(flags->scaler.enabled);
}

TEST(ScalerFlags, DefaultsAreTheControllers) {
  const auto flags = Parse({"--scaler"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  const scaler::ScalerOptions options = ScalerOptionsFrom(flags->scaler);
  EXPECT_EQ(options.mode, scaler::Mode::kShadow);
  EXPECT_FALSE(options.act_on_hpas);
  EXPECT_EQ(options.sync_period, absl::Seconds(15));
  EXPECT_EQ(options.controller.tolerance, 0.1);
  EXPECT_EQ(options.controller.downscale_stabilization, absl::Minutes(5));
  EXPECT_EQ(options.controller.cpu_initialization_period, absl::Minutes(5));
  EXPECT_EQ(options.controller.initial_readiness_delay, absl::Seconds(30));
  EXPECT_TRUE(flags->scaler.leader_elect);
}

TEST(ScalerFlags, AModeIsKnownInAnyCase) {
  const auto flags = Parse({"--scaler", "--scaler-mode=ACT"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(ScalerOptionsFrom(flags->scaler).mode, scaler::Mode::kAct);
}

TEST(ScalerFlags, ReachTheOptions) {
  const auto flags = Parse(
      {"--scaler", "--scaler-mode=act", "--scaler-hpa", "--scaler-shards=4",
       "--scaler-namespace=shop,bank,shop", "--scaler-namespace=mail",
       "--scaler-status-interval=1m", "--scaler-write-qps=7.5", "--scaler-write-burst=9",
       "--scaler-lease-duration=30s", "--scaler-lease-renew-deadline=20s",
       "--scaler-lease-retry-period=4s", "--horizontal-pod-autoscaler-sync-period=1s",
       "--horizontal-pod-autoscaler-tolerance=0",
       "--horizontal-pod-autoscaler-downscale-stabilization=0s",
       "--scaler-trigger-allow-addresses=127.0.0.0/8,::1", "--scaler-trigger-secrets=referenced"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  const scaler::ScalerOptions options = ScalerOptionsFrom(flags->scaler);
  EXPECT_EQ(options.mode, scaler::Mode::kAct);
  EXPECT_TRUE(options.act_on_hpas);
  EXPECT_THAT(options.namespaces, testing::ElementsAre("shop", "bank", "mail"));
  EXPECT_EQ(options.status_interval, absl::Minutes(1));
  EXPECT_EQ(options.writes_per_second, 7.5);
  EXPECT_EQ(options.write_burst, 9);
  EXPECT_EQ(options.request_timeout, absl::Seconds(5));  // the margin is 10 s
  EXPECT_TRUE(options.trigger_addresses.Check(*http::IpAddress::Parse("127.0.0.1")).ok());
  EXPECT_FALSE(options.trigger_addresses.Check(*http::IpAddress::Parse("169.254.0.1")).ok());
  EXPECT_EQ(options.trigger_secrets, scaler::TriggerSecrets::kReferenced);
  EXPECT_EQ(options.sync_period, absl::Seconds(1));
  EXPECT_EQ(options.controller.tolerance, 0);
  EXPECT_EQ(options.controller.downscale_stabilization, absl::ZeroDuration());
  const scaler::ElectionOptions& election = flags->scaler.election;
  EXPECT_EQ(election.shards, 4);
  EXPECT_EQ(election.WriteMargin(), absl::Seconds(10));
  EXPECT_EQ(election.retry_period, absl::Seconds(4));
}

TEST(ScalerFlags, ARequestEndsWithinTheMarginOfTheFence) {
  const auto flags = Parse({"--scaler", "--scaler-lease-duration=12s"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(ScalerOptionsFrom(flags->scaler).request_timeout, absl::Milliseconds(1600));
}

TEST(ScalerFlags, WhereRequestsWaitALeaseIsTakenOverSoon) {
  const auto front = Parse({"--scaler", "--front-listen=:18000"});
  ASSERT_TRUE(front.ok()) << front.status();
  EXPECT_EQ(front->scaler.election.lease_duration, absl::Seconds(6));
  EXPECT_EQ(front->scaler.election.renew_deadline, absl::Seconds(4));
  EXPECT_EQ(front->scaler.election.retry_period, absl::Seconds(1));
  const auto told = Parse({"--scaler", "--front-listen=:18000", "--scaler-lease-duration=15s"});
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_EQ(told->scaler.election.lease_duration, absl::Seconds(15));
  EXPECT_EQ(told->scaler.election.renew_deadline, absl::Seconds(10));
}

TEST(ScalerFlags, WithoutTheScalerTheyAreNamedInOneWarning) {
  const auto flags = Parse({"--scaler-mode=act", "--horizontal-pod-autoscaler-tolerance=0.2"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  ASSERT_EQ(flags->warnings.size(), 1u);
  EXPECT_THAT(flags->warnings[0],
              HasSubstr("--scaler-mode, --horizontal-pod-autoscaler-tolerance"));
  EXPECT_THAT(
      Parse({"--decision-log=d", "--kubernetes-version=1.36", "--feature-gates=A=true"})->warnings,
      ElementsAre("without --scaler these flags have no effect: "
                  "--decision-log, --kubernetes-version, --feature-gates"));
  EXPECT_THAT(Parse({"--scaler", "--scaler-mode=act"})->warnings, IsEmpty());
}

struct RefusedRow {
  std::string name;
  std::vector<std::string> args;
  std::string message;
};

class RefusedFlags : public testing::TestWithParam<RefusedRow> {};

TEST_P(RefusedFlags, SayWhichAndWhy) {
  std::vector<std::string> args = GetParam().args;
  args.push_back("--scaler");
  const auto flags = Parse(args);
  ASSERT_FALSE(flags.ok());
  EXPECT_THAT(std::string(flags.status().message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedFlags,
    testing::Values(
        RefusedRow{
            "TwoClusters", {"--objects=dir", "--scaler-kubeconfig=k"}, "--scaler-kubeconfig"},
        RefusedRow{"UnknownMode", {"--scaler-mode=try"}, "expected shadow, advise or act"},
        RefusedRow{"HpaInShadow", {"--scaler-hpa"}, "--scaler-hpa is for --scaler-mode=act"},
        RefusedRow{"NoPeriod", {"--horizontal-pod-autoscaler-sync-period=0"}, "sync-period"},
        RefusedRow{"NoWrites", {"--scaler-write-qps=0"}, "--scaler-write-qps"},
        RefusedRow{"NoBurst", {"--scaler-write-burst=0"}, "--scaler-write-burst"},
        RefusedRow{"NoAddress",
                   {"--scaler-trigger-allow-addresses=10.0.0.0/8,localhost"},
                   "--scaler-trigger-allow-addresses: expected an address or a range like "
                   "10.0.0.0/8, got \"localhost\""},
        RefusedRow{"UnknownSecrets",
                   {"--scaler-trigger-secrets=none"},
                   "expected all or referenced, got \"none\""},
        RefusedRow{"NoShards", {"--scaler-shards=0"}, "--scaler-shards"},
        RefusedRow{"ALogOfNoLength",
                   {"--decision-log=/tmp/log", "--decision-log-megabytes=0"},
                   "--decision-log-megabytes: expected 1 or more"},
        RefusedRow{"ShardsWithoutLeases",
                   {"--scaler-leader-elect=false", "--scaler-shards=2"},
                   "--scaler-leader-elect=false"},
        RefusedRow{"FrontOfManyShards",
                   {"--front-listen=:18000", "--scaler-shards=2"},
                   "--front-listen: Envoys are told by one replica"},
        RefusedRow{"FrontWithoutAPort",
                   {"--front-listen=0.0.0.0"},
                   "--front-listen: expected an address and a port, as 0.0.0.0:18000"},
        RefusedRow{"FrontOfNoPort", {"--front-listen=0.0.0.0:99999"}, "got \"0.0.0.0:99999\""},
        RefusedRow{"TlsOfNoFront", {"--front-ca-file=ca.crt"}, "are for --front-listen"},
        RefusedRow{"HalfOfTls",
                   {"--front-listen=:18000", "--front-cert-file=a", "--front-key-file=b"},
                   "TLS goes both ways"},
        RefusedRow{"LeaseTooShort", {"--scaler-lease-duration=10s"}, "--scaler-lease-duration"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::serve
