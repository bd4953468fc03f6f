#include "scaler/shards/election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scaler/shards/shards.h"
#include "scaler/testing/test_election_world.h"

namespace flyball::scaler {
namespace {

using Replica = ElectionWorld::Replica;

constexpr absl::Duration kSlack = absl::Seconds(1);  // requests of a calm network

ElectionOptions Options(int shards) {
  ElectionOptions options;
  options.ns = "flyball";
  options.shards = shards;
  return options;
}

AutoscalerKey Key(std::string ns) {
  return {.kind = AutoscalerKind::kHpa, .ns = std::move(ns), .name = "web"};
}

TEST(CheckElection, TheDefaultsAreFine) { EXPECT_TRUE(CheckElection(Options(1)).ok()); }

struct BadOptions {
  std::string name;
  std::function<void(ElectionOptions&)> change;
  std::string flag;
};

class CheckElectionTest : public testing::TestWithParam<BadOptions> {};

TEST_P(CheckElectionTest, Refuses) {
  ElectionOptions options = Options(1);
  GetParam().change(options);
  const absl::Status status = CheckElection(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), GetParam().flag)) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Flags, CheckElectionTest,
    testing::Values(
        BadOptions{"NoShards", [](auto& o) { o.shards = 0; }, "--scaler-shards"},
        BadOptions{"TooManyShards", [](auto& o) { o.shards = 1000; }, "--scaler-shards"},
        BadOptions{"NoMargin", [](auto& o) { o.lease_duration = o.renew_deadline; },
                   "--scaler-lease-duration"},
        BadOptions{"HalfSeconds", [](auto& o) { o.lease_duration = absl::Milliseconds(15500); },
                   "--scaler-lease-duration"},
        BadOptions{"NoTimeToRetry", [](auto& o) { o.retry_period = absl::Seconds(9); },
                   "--scaler-lease-renew-deadline"},
        BadOptions{"NoRetry", [](auto& o) { o.retry_period = absl::ZeroDuration(); },
                   "--scaler-lease-retry-period"}),
    [](const auto& info) { return info.param.name; });

TEST(ShardElection, TheFirstReplicaTakesAFreeLeaseAtOnce) {
  ElectionWorld world(Options(1), 1);
  Replica& replica = world.Add();
  world.RunUntil(kSlack);
  EXPECT_TRUE(replica.election->Owns(Key("shop")));
  EXPECT_TRUE(replica.election->MayWrite(Key("shop"), replica.clock.MonotonicNow()));
  EXPECT_EQ(world.leases["flyball-scaler-0"].holder, replica.identity);
  EXPECT_TRUE(replica.election->Ready().ok());
  EXPECT_FALSE(world.leases.contains("flyball-scaler-member-0"));  // one shard needs no members
}

TEST(ShardElection, AKilledHolderIsFollowedWithinTheLeaseTimeAndOneRetry) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    ElectionWorld world(Options(1), seed);
    Replica& first = world.Add();
    world.RunUntil(absl::Seconds(1));
    Replica& second = world.Add();
    world.RunUntil(absl::Seconds(60) + absl::Milliseconds(137 * seed));
    ASSERT_TRUE(first.election->OwnsShard(0));
    first.killed = true;
    const absl::Duration killed = world.now;
    world.RunUntil(killed + absl::Seconds(12));
    EXPECT_FALSE(second.election->OwnsShard(0)) << seed;  // 15 s less one retry and requests
    world.RunUntil(killed + absl::Seconds(17) + kSlack);
    EXPECT_TRUE(second.election->OwnsShard(0)) << seed;
    EXPECT_EQ(world.leases["flyball-scaler-0"].transitions, 1);
  }
}

TEST(ShardElection, AReleasedLeaseIsTakenAtTheNextLook) {
  ElectionWorld world(Options(1), 2);
  Replica& first = world.Add();
  world.RunUntil(absl::Seconds(1));
  Replica& second = world.Add();
  world.RunUntil(absl::Seconds(31));
  first.leaving = true;  // ends within a retry period, as it looks up
  world.RunUntil(absl::Seconds(31 + 2 + 2) + kSlack);
  EXPECT_TRUE(second.election->OwnsShard(0));
}

TEST(ShardElection, AHolderThatCannotRenewStopsWritingInTime) {
  ElectionWorld world(Options(1), 3);
  Replica& replica = world.Add();
  world.RunUntil(absl::Seconds(30));
  world.network.refused = 1;
  const absl::Duration cut = world.now;
  world.RunUntil(cut + absl::Seconds(7));  // the last renewal was up to 2 s before
  EXPECT_EQ(world.Writers(0), 1);
  world.RunUntil(cut + absl::Seconds(10) + kSlack);
  EXPECT_EQ(world.Writers(0), 0);
  EXPECT_FALSE(replica.election->Ready().ok());
  world.RunUntil(cut + absl::Seconds(13));
  EXPECT_FALSE(replica.election->OwnsShard(0));
  // Its own lease: it need not run out for it.
  world.network.refused = 0;
  world.RunUntil(cut + absl::Seconds(16));
  EXPECT_EQ(world.Writers(0), 1);
}

TEST(ShardElection, AJumpOfTheWallClockChangesNothing) {
  ElectionWorld world(Options(1), 4);
  Replica& first = world.Add();
  world.RunUntil(absl::Seconds(1));
  Replica& second = world.Add();
  for (const absl::Duration jump : {absl::Hours(100000), -absl::Hours(200000)}) {
    first.clock.wall_skew += jump;
    second.clock.wall_skew -= jump;
    world.RunUntil(world.now + absl::Seconds(40), [&] {
      if (world.now > absl::Seconds(2)) {
        EXPECT_EQ(world.Writers(0), 1);
      }
    });
  }
  EXPECT_TRUE(first.election->OwnsShard(0));
}

TEST(ShardElection, SomebodyElsesRecordIsRespectedForAsLongAsItSays) {
  ElectionWorld world(Options(1), 5);
  kube::Lease& lease = world.leases["flyball-scaler-0"];
  lease.ns = "flyball";
  lease.name = "flyball-scaler-0";
  lease.resource_version = "0";
  lease.holder = "older-build";
  lease.duration = absl::Seconds(40);
  world.Add();
  world.RunUntil(absl::Seconds(39));
  EXPECT_EQ(world.Writers(0), 0);
  world.RunUntil(absl::Seconds(48));  // and two rounds in which the number of shards is agreed on
  EXPECT_EQ(world.Writers(0), 1);
}

// Its last write may still be under way, so that it can't be given back at once.
TEST(ShardElection, AShardTakenAgainIsDecidedWhenTheNumberOfShardsCanBeReadAgain) {
  ElectionWorld world(Options(1), 7);
  Replica& replica = world.Add();
  world.RunUntil(absl::Seconds(20));
  ASSERT_TRUE(replica.election->OwnsShard(0));
  world.network.refused = 1;
  while (replica.election->OwnsShard(0)) world.RunUntil(world.now + absl::Seconds(1));
  world.network.refused = 0;
  const std::string before = world.leases["flyball-scaler-0"].resource_version;
  int refused = 0;
  world.refuses_get = [&](absl::string_view name) {
    const bool taken = world.leases["flyball-scaler-0"].resource_version != before;
    return taken && name == "flyball-scaler-shards" && refused++ == 0;
  };
  world.RunUntil(world.now + absl::Seconds(30));
  EXPECT_GE(refused, 1);
  EXPECT_TRUE(replica.election->OwnsShard(0));
}

TEST(ShardElection, ShardsSpreadOverTheReplicasThatLive) {
  ElectionWorld world(Options(8), 6);
  for (int i = 0; i < 3; ++i) {
    world.Add();
    world.RunUntil(world.now + absl::Seconds(5));
  }
  world.RunUntil(absl::Seconds(90));
  std::vector<size_t> owned;
  for (const auto& replica : world.replicas) owned.push_back(replica->election->owned());
  std::sort(owned.begin(), owned.end());
  EXPECT_THAT(owned, testing::ElementsAre(2, 3, 3));
  world.replicas[1]->killed = true;
  world.RunUntil(absl::Seconds(180));
  EXPECT_EQ(world.replicas[0]->election->owned(), 4u);
  EXPECT_EQ(world.replicas[2]->election->owned(), 4u);
}

// Half a second for each of the Leases of 16 shards is too long to look at all of them between two
// renewals.
TEST(ShardElection, ASlowServerTakesNoShardAway) {
  constexpr int kShards = 16;
  ElectionWorld world(Options(kShards), 6);
  for (int i = 0; i < 2; ++i) world.Add();
  world.RunUntil(absl::Seconds(90));
  for (const auto& replica : world.replicas) ASSERT_EQ(replica->election->owned(), 8u);
  world.network.delay = absl::Milliseconds(500);  // each way, at most
  world.RunUntil(absl::Seconds(300), [&] {
    for (int shard = 0; shard < kShards; ++shard) {
      ASSERT_EQ(world.Writers(shard), 1) << shard << " at " << world.now;
    }
  });
  world.replicas[0]->killed = true;
  world.RunUntil(absl::Seconds(330));
  world.network.delay = absl::Milliseconds(100);
  world.RunUntil(absl::Seconds(420));
  EXPECT_EQ(world.replicas[1]->election->owned(), 16u);
}

TEST(ShardElection, WhatWasDecidedBeforeAHandOverIsStillWritten) {
  ElectionWorld world(Options(8), 6);
  Replica& first = world.Add();
  world.RunUntil(absl::Seconds(5));
  ASSERT_EQ(first.election->owned(), 8u);
  Replica& second = world.Add();
  struct Times {
    std::optional<absl::Duration> undecided, unwritten, taken;
  };
  std::vector<Times> times(8);
  for (int i = 0; i < 600; ++i) {
    world.RunUntil(world.now + absl::Milliseconds(100));
    for (int shard = 0; shard < 8; ++shard) {
      Times& at = times[static_cast<size_t>(shard)];
      const MonotonicTime now = first.clock.MonotonicNow();
      if (!at.undecided && !first.election->OwnsShard(shard)) at.undecided = world.now;
      if (!at.unwritten && !first.election->MayWriteShard(shard, now)) at.unwritten = world.now;
      if (!at.taken && second.election->OwnsShard(shard)) at.taken = world.now;
    }
  }
  int handed_over = 0;
  for (const Times& at : times) {
    if (!at.taken) continue;
    ++handed_over;
    EXPECT_NEAR(absl::ToDoubleSeconds(*at.unwritten - *at.undecided), 2, 0.15);
    EXPECT_GE(*at.taken - *at.unwritten, Options(8).WriteMargin() - absl::Milliseconds(200));
  }
  EXPECT_EQ(handed_over, 4);
}

// Writes down who does what with a shard.
struct Diary : ShardMemory {
  Diary(std::string owner, std::vector<std::string>& lines) : name(std::move(owner)), all(lines) {}
  absl::StatusOr<bool> IsAnySaved() override { return saved; }
  absl::Status Move(int before, int64_t) override {
    all.push_back(absl::StrCat(name, " moves what was kept of ", before));
    return move_failures-- > 0 ? failure : absl::OkStatus();
  }
  absl::Status Load(int shard, const ShardTerm& term) override {
    all.push_back(absl::StrCat(name, " loads ", shard, " epoch ", term.epoch));
    if (during_load) during_load();
    return failures-- > 0 ? failure : absl::OkStatus();
  }
  void Save(int shard) override {
    all.push_back(absl::StrCat(name, " saves ", shard));
    if (during_save) during_save();
  }
  void Drop(int shard) override { all.push_back(absl::StrCat(name, " drops ", shard)); }
  bool IsSafe(const AutoscalerKey&, int32_t) override { return true; }
  bool TellsOfSleep(const AutoscalerKey&) override { return true; }
  std::optional<RememberedState> Take(const AutoscalerKey&, int32_t, absl::Time) override {
    return RememberedState();
  }
  std::string name;
  std::vector<std::string>& all;
  absl::StatusOr<bool> saved = false;
  int failures = 0, move_failures = 0;
  absl::Status failure = absl::UnavailableError("no answer");
  std::function<void()> during_load, during_save;  // may be empty
};

TEST(ShardElection, WhatIsKeptIsSavedBeforeTheReleaseAndLoadedBeforeTheFirstDecision) {
  std::vector<std::string> lines;
  Diary first_diary("first", lines), second_diary("second", lines);
  second_diary.failures = 1;
  ElectionWorld world(Options(1), 7);
  Replica& first = world.Add(&first_diary);
  world.RunUntil(absl::Seconds(1));
  Replica& second = world.Add(&second_diary);
  int changes = 0;
  second.election->OnChange([&] { ++changes; });
  world.RunUntil(absl::Seconds(20));
  first.leaving = true;
  world.RunUntil(absl::Seconds(30), [&] {
    // Not decided before it is loaded.
    if (std::count(lines.begin(), lines.end(), "second loads 0 epoch 1") < 2) {
      EXPECT_FALSE(second.election->OwnsShard(0));
    }
  });
  EXPECT_THAT(lines, testing::ElementsAre("first loads 0 epoch 0", "first saves 0", "first drops 0",
                                          "second loads 0 epoch 1", "second loads 0 epoch 1"));
  EXPECT_TRUE(second.election->OwnsShard(0));
  EXPECT_EQ(changes, 1);
  EXPECT_TRUE(second.election->Restore(Key("shop"), 1, absl::UnixEpoch()).has_value());
}

TEST(ShardElection, AStoreThatDoesNotAnswerKeepsNoShardUndecidedAndIsAskedAgain) {
  std::vector<std::string> lines;
  Diary diary("one", lines);
  diary.failures = 8;
  ElectionWorld world(Options(1), 8);
  Replica& replica = world.Add(&diary);
  int changes = 0;
  replica.election->OnChange([&] { ++changes; });
  world.RunUntil(absl::Seconds(10));
  EXPECT_TRUE(replica.election->OwnsShard(0));
  EXPECT_FALSE(replica.election->Remembers(Key("shop")));
  EXPECT_EQ(changes, 1);
  world.RunUntil(absl::Seconds(30));
  EXPECT_TRUE(replica.election->Remembers(Key("shop")));
  EXPECT_EQ(changes, 2);  // so that it is asked for
  EXPECT_EQ(lines.size(), 9u);
}

// Each try takes as long as a request may, and no Lease is renewed meanwhile.
TEST(ShardElection, AStoreThatHangsKeepsNoneOfManyShardsUndecided) {
  std::vector<std::string> lines;
  Diary diary("one", lines);
  diary.failures = 1'000'000;
  bool hangs = true;
  ElectionWorld world(Options(8), 8);
  Replica& replica = world.Add(&diary);
  diary.during_load = [&] {
    if (hangs) world.Wait(replica, absl::Seconds(4));
  };
  world.RunUntil(absl::Seconds(40));
  world.RunUntil(absl::Seconds(60), [&] { EXPECT_EQ(replica.election->owned(), 8u) << world.now; });
  EXPECT_FALSE(replica.election->Remembers(Key("shop")));
  hangs = false;
  diary.failures = 0;
  world.RunUntil(absl::Seconds(80));
  EXPECT_TRUE(replica.election->Remembers(Key("shop")));
}

TEST(ShardElection, SavesThatHangLoseNoShardThatIsNotHandedOver) {
  std::vector<std::string> lines;
  Diary first_diary("first", lines), second_diary("second", lines);
  ElectionWorld world(Options(8), 9);
  Replica& first = world.Add(&first_diary);
  first_diary.during_save = [&] { world.Wait(first, absl::Seconds(4)); };
  world.RunUntil(absl::Seconds(20));
  ASSERT_EQ(first.election->owned(), 8u);
  world.Add(&second_diary);
  std::set<int> lost;
  world.RunUntil(absl::Seconds(120), [&] {
    for (int shard = 0; shard < 8; ++shard) {
      if (!first.election->OwnsShard(shard)) lost.insert(shard);
    }
  });
  EXPECT_GT(lost.size(), 2u);
  EXPECT_EQ(lost.size(), 8 - first.election->owned());
}

TEST(ShardElection, WhoMayNotReadWhatIsKeptBeginsWithoutIt) {
  std::vector<std::string> lines;
  Diary diary("one", lines);
  diary.failures = 1000;
  diary.failure = absl::PermissionDeniedError("forbidden");
  ElectionWorld world(Options(1), 8);
  Replica& replica = world.Add(&diary);
  world.RunUntil(absl::Seconds(10));
  EXPECT_TRUE(replica.election->OwnsShard(0));
  EXPECT_TRUE(replica.election->Remembers(Key("shop")));
  EXPECT_EQ(lines.size(), 4u);
}

// An API server that has just started knows no rights for a moment. Whoever began without what was
// kept would keep nothing either.
TEST(ShardElection, WhoMayNotReadWhatIsKeptForAMomentReadsItAgain) {
  std::vector<std::string> lines;
  Diary diary("one", lines);
  diary.failures = 3;
  diary.failure = absl::PermissionDeniedError("forbidden");
  ElectionWorld world(Options(1), 8);
  Replica& replica = world.Add(&diary);
  int changes = 0;
  replica.election->OnChange([&] { ++changes; });
  world.RunUntil(absl::Seconds(20));
  EXPECT_TRUE(replica.election->OwnsShard(0));
  EXPECT_TRUE(replica.election->Remembers(Key("shop")));
  EXPECT_EQ(lines.size(), 4u);  // the last of which reads it
  EXPECT_EQ(changes, 1);
}

// Where the server could not be reached for as long before, the first refusal is not the last word.
TEST(ShardElection, OnlyRefusalsInARowAreTheLastWord) {
  std::vector<std::string> lines;
  Diary diary("one", lines);
  diary.failures = 6;
  ElectionWorld world(Options(1), 8);
  Replica& replica = world.Add(&diary);
  world.RunUntil(absl::Seconds(30), [&] {
    if (lines.size() == 4) diary.failure = absl::PermissionDeniedError("forbidden");
    EXPECT_EQ(replica.election->Remembers(Key("shop")), lines.size() == 7) << world.now;
  });
  EXPECT_EQ(lines.size(), 7u);
}

// For a moment, or at all.
TEST(ShardElection, WhoMayNotMoveWhatIsKeptToAnotherNumberOfShardsBeginsWithoutIt) {
  for (const int refusals : {3, 1000}) {
    std::vector<std::string> lines;
    Diary diary("one", lines);
    diary.move_failures = refusals;
    diary.failure = absl::PermissionDeniedError("forbidden");
    ElectionWorld world(Options(1), 8);
    kube::Lease& lease = world.leases["flyball-scaler-shards"];
    lease.ns = "flyball";
    lease.name = "flyball-scaler-shards";
    lease.resource_version = "0";
    lease.holder = "2";
    lease.duration = absl::Seconds(15);
    Replica& replica = world.Add(&diary);
    world.RunUntil(absl::Seconds(60));
    EXPECT_TRUE(replica.election->OwnsShard(0)) << refusals;
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "one moves what was kept of 2"), 4);
    EXPECT_EQ(world.leases["flyball-scaler-shards"].holder, "1");
  }
}

// ---- the property: never two writers ----------------------------------------------------------

// The last moment at which each replica might write to each shard, and that no other begins before
// a write that began then has ended.
class FenceCheck {
 public:
  FenceCheck(ElectionWorld& world, int shards, absl::Duration margin)
      : world_(world), shards_(shards), margin_(margin) {}

  void Look() {
    for (int shard = 0; shard < shards_; ++shard) {
      for (const auto& replica : world_.replicas) {
        const MonotonicTime now = replica->clock.MonotonicNow();
        if (!Writes(*replica) || !replica->election->MayWriteShard(shard, now)) continue;
        for (const auto& other : world_.replicas) {
          // Who leaves in peace has waited for its writes.
          if (other == replica || other->leaving) continue;
          const auto last = last_.find({other->identity, shard});
          if (last != last_.end()) {
            ASSERT_GE(world_.now - last->second, margin_)
                << "shard " << shard << ": " << other->identity << " might write at "
                << last->second << ", " << replica->identity << " at " << world_.now;
          }
          // Of one that was killed or hangs: what it would still have allowed itself.
          ASSERT_FALSE(other->election->MayWriteShard(shard, other->clock.MonotonicNow() - margin_))
              << "shard " << shard << " of " << other->identity << " at " << world_.now;
        }
        last_[{replica->identity, shard}] = world_.now;
      }
    }
  }

 private:
  static bool Writes(const Replica& replica) { return replica.alive() && !replica.leaving; }

  ElectionWorld& world_;
  const int shards_;
  const absl::Duration margin_;
  std::map<std::pair<std::string, int>, absl::Duration> last_;
};

class HostileWorld : public testing::TestWithParam<uint32_t> {};

// Slow, refused and lost requests, kill -9 at random moments, clocks of different speed, jumping
// wall clocks: never two writers. Then peace: every shard is owned again, and evenly.
TEST_P(HostileWorld, NeverHasTwoWriters) {
  const int shards = 1 + static_cast<int>(GetParam() % 3) * 2;  // 1, 3, 5
  ElectionWorld world(Options(shards), GetParam());
  world.clock_drift = 0.01;
  for (int i = 0; i < 3; ++i) world.Add();
  // Two clocks that differ by 2 % eat 0.3 s of 15.
  FenceCheck fence(world, shards, Options(shards).WriteMargin() - absl::Milliseconds(300));
  world.network = {.delay = absl::Milliseconds(300), .slow = 0.03, .refused = 0.05, .lost = 0.05};
  for (int step = 0; step < 12; ++step) {
    world.RunUntil(world.now + absl::Milliseconds(world.Random(500, 30000)), [&] { fence.Look(); });
    if (testing::Test::HasFatalFailure()) return;
    Replica& victim = *world.replicas[static_cast<size_t>(
        world.Random(0, static_cast<int>(world.replicas.size()) - 1))];
    switch (world.Random(0, 3)) {
      case 0: victim.killed = true; break;
      case 1: victim.leaving = true; break;
      case 2: victim.clock.wall_skew += absl::Seconds(world.Random(-100000, 100000)); break;
      default: break;
    }
    const auto alive = std::count_if(world.replicas.begin(), world.replicas.end(),
                                     [](const auto& r) { return r->alive() && !r->leaving; });
    if (alive < 3) world.Add();
  }
  world.network = {};
  world.RunUntil(world.now + absl::Seconds(90), [&] { fence.Look(); });
  for (int shard = 0; shard < shards; ++shard) EXPECT_EQ(world.Writers(shard), 1) << shard;
  for (const auto& replica : world.replicas) {
    if (!replica->alive()) continue;
    EXPECT_LE(replica->election->owned(), static_cast<size_t>((shards + 2) / 3));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostileWorld, testing::Range(1u, 61u));

class CalmWorld : public testing::TestWithParam<uint32_t> {};

// Requests answer; replicas are killed at random moments: no shard is without a writer for longer
// than a lease and a retry.
TEST_P(CalmWorld, OwnsEveryShardAgainWithinTheLeaseTimeAndOneRetry) {
  constexpr int kShards = 4;
  const ElectionOptions options = Options(kShards);
  ElectionWorld world(options, GetParam());
  for (int i = 0; i < 3; ++i) world.Add();
  FenceCheck fence(world, kShards, options.WriteMargin());
  world.RunUntil(absl::Seconds(60), [&] { fence.Look(); });
  std::vector<absl::Duration> last_owned(kShards, world.now);
  const absl::Duration longest = options.lease_duration + options.retry_period + kSlack;
  const auto look = [&] {
    fence.Look();
    for (int shard = 0; shard < kShards; ++shard) {
      absl::Duration& last = last_owned[static_cast<size_t>(shard)];
      ASSERT_LE(world.now - last, longest) << "shard " << shard << " at " << world.now;
      if (world.Writers(shard) == 1) last = world.now;
    }
  };
  for (int kill = 0; kill < 4; ++kill) {
    world.RunUntil(world.now + absl::Milliseconds(world.Random(20000, 40000)), look);
    if (testing::Test::HasFatalFailure()) return;
    std::vector<Replica*> alive;
    for (const auto& replica : world.replicas) {
      if (replica->alive()) alive.push_back(replica.get());
    }
    Replica& victim =
        *alive[static_cast<size_t>(world.Random(0, static_cast<int>(alive.size()) - 1))];
    victim.killed = true;
    for (int shard = 0; shard < kShards; ++shard) {
      // Counted from here, also when it was between two owners.
      if (world.leases[absl::StrCat("flyball-scaler-", shard)].holder == victim.identity) {
        last_owned[static_cast<size_t>(shard)] = world.now;
      }
    }
    world.Add();
  }
  world.RunUntil(world.now + absl::Seconds(60), look);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CalmWorld, testing::Range(1u, 31u));

// As kubectl replace does.
kube::Lease Emptied(const kube::Lease& lease) {
  kube::Lease emptied;
  emptied.ns = lease.ns;
  emptied.name = lease.name;
  return emptied;
}

// As kubectl patch does for somebody who wants another leader.
kube::Lease WithoutHolder(const kube::Lease& lease) {
  kube::Lease patched = lease;
  patched.holder.clear();
  return patched;
}

struct LostLease {
  std::string name;
  kube::Lease (*lose)(const kube::Lease&);  // nullptr: it is deleted
  bool all;                                 // the number of shards, too
  bool newcomer;                            // a replica begins right after it
};

class LeaseThatIsLost : public testing::TestWithParam<LostLease> {};

TEST_P(LeaseThatIsLost, CountsAsHeld) {
  const bool all = GetParam().all;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::vector<std::string> lines;
    Diary diary("second", lines);
    // What cannot be read may be there.
    diary.saved = seed % 4 == 0 ? absl::StatusOr<bool>(absl::UnavailableError("no answer")) : true;
    ElectionWorld world(Options(1), seed);
    Replica& first = world.Add();
    world.RunUntil(absl::Seconds(1));
    if (!GetParam().newcomer) world.Add();
    FenceCheck fence(world, 1, Options(1).WriteMargin());
    world.RunUntil(absl::Seconds(30) + absl::Milliseconds(137 * seed), [&] { fence.Look(); });
    ASSERT_TRUE(first.election->OwnsShard(0));
    if (GetParam().lose == nullptr) {
      std::erase_if(world.leases,
                    [&](const auto& item) { return all || item.first == "flyball-scaler-0"; });
    }
    for (auto& [name, lease] : world.leases) {
      if (GetParam().lose == nullptr || (!all && name != "flyball-scaler-0")) continue;
      const std::string version = absl::StrCat(lease.resource_version, "-lost");
      lease = GetParam().lose(lease);
      lease.resource_version = version;
    }
    if (GetParam().newcomer) world.Add(&diary);
    world.RunUntil(world.now + absl::Seconds(4), [&] { fence.Look(); });
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << seed;
    // Without the number its owner hands the shard over, and may not have renewed it before.
    const std::string& holder = world.leases["flyball-scaler-0"].holder;
    EXPECT_TRUE(holder == first.identity || (all && holder.empty())) << seed << " " << holder;
    if (!all) {
      EXPECT_EQ(world.Writers(0), 1) << seed;
    }
    world.RunUntil(world.now + absl::Seconds(60), [&] { fence.Look(); });
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << seed;
    EXPECT_EQ(world.Writers(0), 1) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, LeaseThatIsLost,
    testing::Values(LostLease{"Deleted", nullptr, false, false},
                    LostLease{"DeletedWithTheNumber", nullptr, true, false},
                    LostLease{"DeletedBeforeOneBegins", nullptr, false, true},
                    LostLease{"DeletedWithTheNumberBeforeOneBegins", nullptr, true, true},
                    LostLease{"Emptied", Emptied, false, false},
                    LostLease{"EmptiedWithTheNumber", Emptied, true, false},
                    LostLease{"EmptiedBeforeOneBegins", Emptied, false, true},
                    LostLease{"EmptiedWithTheNumberBeforeOneBegins", Emptied, true, true},
                    LostLease{"WithoutItsHolder", WithoutHolder, false, false},
                    LostLease{"WithoutItsHolderBeforeOneBegins", WithoutHolder, false, true}),
    [](const auto& info) { return info.param.name; });

// As a tool does that deletes what it did not make. Whoever looks in between sees a missing Lease
// each time, although its owner makes it anew again and again.
TEST(ShardElection, LeasesThatAreDeletedAllTheTimeGetNoSecondOwner) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const bool all = seed % 2 == 0;
    std::vector<std::string> lines;
    Diary diary("each", lines);
    diary.saved = true;
    ElectionWorld world(Options(1), seed);
    Replica& first = world.Add(&diary);
    world.RunUntil(absl::Seconds(1));
    world.Add(&diary);
    FenceCheck fence(world, 1, Options(1).WriteMargin());
    world.RunUntil(absl::Seconds(30), [&] { fence.Look(); });
    ASSERT_TRUE(first.election->OwnsShard(0));
    absl::Duration next = world.now;
    world.RunUntil(world.now + absl::Minutes(2), [&] {
      fence.Look();
      if (world.now < next) return;
      std::erase_if(world.leases,
                    [&](const auto& item) { return all || item.first == "flyball-scaler-0"; });
      next = world.now + absl::Milliseconds(50 * seed);
    });
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << seed;
    world.RunUntil(world.now + absl::Seconds(60), [&] { fence.Look(); });
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << seed;
    EXPECT_EQ(world.Writers(0), 1) << seed;
  }
}

// Changes the Lease of shard 0 while one replica looks at it.
struct BetweenRequests {
  explicit BetweenRequests(ElectionWorld& in) : world(in) {
    world.refuses_get = [this](absl::string_view name) {
      const auto number = world.leases.find("flyball-scaler-shards");
      const bool agreed = number != world.leases.end() && number->second.holder == "1";
      if (agreed && name == "flyball-scaler-0") steps = 0;
      return false;
    };
  }
  // 1: a read is about to arrive at the server; 2: its answer is about to arrive at the replica,
  // before it can send anything else.
  int Step() { return steps < 0 ? 0 : ++steps; }
  void Make(std::string holder) {
    kube::Lease& lease = world.leases["flyball-scaler-0"];
    lease.ns = "flyball";
    lease.name = "flyball-scaler-0";
    lease.holder = std::move(holder);
    lease.resource_version = absl::StrCat("made-", ++made);
    lease.duration = absl::Seconds(15);
  }
  ElectionWorld& world;
  int steps = -1, made = 0;
};

// As another replica does that waits, since it cannot know that the shard had no owner before.
TEST(ShardElection, WhoAgreesOnTheNumberWaitsForNoLeaseThatIsMadeMeanwhile) {
  for (const int step : {1, 2}) {
    ElectionWorld world(Options(1), 1);
    BetweenRequests between(world);
    Replica& replica = world.Add();
    world.RunUntil(kSlack, [&] {
      if (between.Step() == step && between.made == 0) between.Make("");
    });
    EXPECT_EQ(between.made, 1);
    EXPECT_TRUE(replica.election->OwnsShard(0)) << step;
  }
}

// Its owner has it again each time that the other replica wants to make it.
TEST(ShardElection, ALeaseThatExistsInBetweenCountsAsDeletedAnew) {
  ElectionWorld world(Options(1), 1);
  kube::Lease& number = world.leases["flyball-scaler-shards"];
  number.resource_version = "0";
  number.holder = "1";
  BetweenRequests between(world);
  Replica& replica = world.Add();
  world.RunUntil(absl::Seconds(20), [&] {
    const int step = between.Step();
    if (step == 1) world.leases.erase("flyball-scaler-0");
    if (step == 2) between.Make("owner");
  });
  EXPECT_GE(between.made, 8);
  world.leases.erase("flyball-scaler-0");
  world.RunUntil(absl::Seconds(30));
  EXPECT_FALSE(replica.election->OwnsShard(0));
  world.RunUntil(absl::Seconds(40));
  EXPECT_TRUE(replica.election->OwnsShard(0));
}

// As kubectl patch does for somebody who wants that replica to lead. The owner writes on until it
// notices.
TEST(ShardElection, WhoIsNamedAsTheHolderBySomebodyElseWaitsAsForAnyHolder) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    ElectionWorld world(Options(1), seed);
    Replica& first = world.Add();
    world.RunUntil(absl::Seconds(1));
    Replica& second = world.Add();
    FenceCheck fence(world, 1, Options(1).WriteMargin());
    world.RunUntil(absl::Seconds(30) + absl::Milliseconds(137 * seed), [&] { fence.Look(); });
    ASSERT_TRUE(first.election->OwnsShard(0));
    kube::Lease& lease = world.leases["flyball-scaler-0"];
    const int64_t before = lease.transitions;
    lease.holder = second.identity;
    lease.resource_version += "-patched";
    world.RunUntil(world.now + absl::Seconds(10), [&] { fence.Look(); });
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << seed;
    EXPECT_FALSE(second.election->OwnsShard(0)) << seed;
    world.RunUntil(world.now + absl::Seconds(15), [&] { fence.Look(); });
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << seed;
    EXPECT_EQ(world.Writers(0), 1) << seed;
    EXPECT_GT(lease.transitions, before) << seed;  // later writes of the first are told apart
  }
}

// Nobody hands a shard over because it cannot tell for a while who is there.
TEST(ShardElection, AMemberLeaseThatSomebodyDeletesIsMadeAnew) {
  constexpr int kShards = 6;
  ElectionWorld world(Options(kShards), 1);
  for (int i = 0; i < 3; ++i) world.Add();
  world.RunUntil(absl::Seconds(90));
  const auto owned = [&] {
    std::vector<size_t> all;
    for (const auto& replica : world.replicas) all.push_back(replica->election->owned());
    return all;
  };
  ASSERT_THAT(owned(), testing::Each(2));
  for (int i = 0; i < 40; ++i) {
    world.leases.erase(absl::StrCat("flyball-scaler-member-", i % 3));
    world.RunUntil(world.now + absl::Milliseconds(world.Random(100, 5000)));
    EXPECT_THAT(owned(), testing::Each(2)) << world.now;
  }
  world.RunUntil(world.now + absl::Seconds(20));
  std::set<std::string> members;
  for (int i = 0; i < 3; ++i) {
    members.insert(world.leases[absl::StrCat("flyball-scaler-member-", i)].holder);
  }
  EXPECT_EQ(members.size(), 3u) << testing::PrintToString(members);
}

}  // namespace
}  // namespace flyball::scaler
