// An election whose requests take so long that not all Leases can be renewed in time: what is held
// is held on, and nobody takes more than can be renewed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scaler/shards/election.h"
#include "scaler/testing/test_election_world.h"

namespace flyball::scaler {
namespace {

ElectionOptions Options(int shards) {
  ElectionOptions options;
  options.ns = "flyball";
  options.shards = shards;
  return options;
}

// How many shards may be written to, looked at for five minutes.
struct Seen {
  double mean = 0;
  int least = 0;
  int lost = 0;  // how often a shard had a writer no more
};

Seen Watch(ElectionWorld& world, int shards) {
  Seen seen = {.mean = 0, .least = shards, .lost = 0};
  std::vector<int> before(static_cast<size_t>(shards), 0);
  absl::Duration last = world.now;
  const absl::Duration length = absl::Minutes(5);
  world.RunUntil(world.now + length, [&] {
    int writable = 0;
    for (int shard = 0; shard < shards; ++shard) {
      const int writers = world.Writers(shard);
      ASSERT_LE(writers, 1) << "shard " << shard << " at " << world.now;
      writable += writers;
      if (std::exchange(before[static_cast<size_t>(shard)], writers) > writers) ++seen.lost;
    }
    seen.least = std::min(seen.least, writable);
    seen.mean += writable * absl::FDivDuration(world.now - last, length);
    last = world.now;
  });
  return seen;
}

struct Row {
  int shards;
  int replicas;
  int round_trip_ms;  // on average; up to twice as much
  double mean;        // writable at least
  int least;
  int lost;  // at most
};

class SlowLeases : public testing::TestWithParam<Row> {};

// Where all could be renewed by a replica that renews all in turn: 16 x 0.3 s and 64 x 0.08 s of one
// replica. In the other rows such a replica has 5, 23, 12 and 1 shards on average, and none for
// seconds.
TEST_P(SlowLeases, WhatIsHeldIsHeldOn) {
  const Row& row = GetParam();
  for (const uint32_t seed : {1, 2, 3}) {
    ElectionWorld world(Options(row.shards), seed);
    world.network.delay = absl::Milliseconds(row.round_trip_ms);
    for (int i = 0; i < row.replicas; ++i) world.Add();
    world.RunUntil(absl::Minutes(3));
    const Seen seen = Watch(world, row.shards);
    EXPECT_GE(seen.mean, row.mean) << seed;
    EXPECT_GE(seen.least, row.least) << seed;
    EXPECT_LE(seen.lost, row.lost) << seed;
    for (const auto& replica : world.replicas) EXPECT_TRUE(replica->election->Ready().ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SlowLeases,
                         testing::Values(Row{16, 1, 300, 15.9, 15, 2}, Row{64, 1, 80, 63.9, 64, 0},
                                         Row{16, 1, 600, 7, 5, 30}, Row{64, 1, 160, 45, 43, 20},
                                         Row{24, 1, 300, 22, 21, 20}, Row{64, 1, 600, 7, 5, 30}),
                         [](const auto& info) {
                           return absl::StrCat(info.param.shards, "ShardsAnd", info.param.replicas,
                                               "ReplicasAt", info.param.round_trip_ms, "ms");
                         });

// Once requests are fast again all shards are held.
TEST(SlowLeasesTest, AllAreTakenWhenRequestsAreFastAgain) {
  ElectionWorld world(Options(64), 1);
  world.network.delay = absl::Milliseconds(600);
  ElectionWorld::Replica& only = world.Add();
  world.RunUntil(absl::Minutes(2));
  EXPECT_LT(only.election->owned(), 12u);
  world.network.delay = absl::Milliseconds(20);
  world.RunUntil(world.now + absl::Seconds(20));
  EXPECT_EQ(only.election->owned(), 64u);
}

// One replica may be ended at any time, and the others take its shards as far as they can.
TEST(SlowLeasesTest, OthersTakeWhatIsLeft) {
  ElectionWorld world(Options(24), 4);
  world.network.delay = absl::Milliseconds(300);
  for (int i = 0; i < 3; ++i) world.Add();
  world.RunUntil(absl::Minutes(3));
  EXPECT_GE(Watch(world, 24).mean, 23);
  world.replicas[1]->killed = true;
  world.RunUntil(world.now + absl::Minutes(2));
  EXPECT_GE(Watch(world, 24).mean, 23);
}

}  // namespace
}  // namespace flyball::scaler
