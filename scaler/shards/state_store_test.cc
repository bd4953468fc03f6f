#include "scaler/shards/state_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/test_log.h"
#include "scaler/math/history.h"
#include "scaler/math/hpa/metrics_path.h"
#include "scaler/shards/shards.h"
#include "scaler/stores/packed.h"
#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1700000000);

AutoscalerKey HpaKey(std::string name, std::string ns = "shop") {
  return {.kind = AutoscalerKind::kHpa, .ns = std::move(ns), .name = std::move(name)};
}

absl::Time Ago(int seconds) { return kNow - absl::Seconds(seconds); }

// ---- CompactState ----

TEST(CompactState, KeepsWhatAWindowCanNotice) {
  // Of 5, 9, 7, 7, 6: 9 is the highest for a while, then 7; nothing later is below 5 or 6.
  const ScalerState state{
      .recommendations = {{5, Ago(50)}, {9, Ago(40)}, {7, Ago(30)}, {7, Ago(20)}, {6, Ago(10)}},
      .scale_ups = {},
      .scale_downs = {}};
  ScalerState compact;
  CompactState(state, compact);
  EXPECT_THAT(compact.recommendations,
              testing::ElementsAre(Recommendation{5, Ago(50)}, Recommendation{9, Ago(40)},
                                   Recommendation{7, Ago(20)}, Recommendation{6, Ago(10)}));
}

// For every window and every later time, both directions: the same stabilised count.
TEST(CompactState, ChangesNoLaterDecision) {
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    ScalerState full, compact;
    const int most = draw(0, 1) == 0 ? 8 : 60;
    for (int i = draw(1, 30); i > 0; --i) {
      full.recommendations.push_back({draw(0, most), Ago(draw(0, 400))});
    }
    CompactState(full, compact);
    ASSERT_LE(compact.recommendations.size(), full.recommendations.size());
    Behavior behavior;
    behavior.scale_up.stabilization_window_seconds = draw(0, 300);
    behavior.scale_down.stabilization_window_seconds = draw(0, 300);
    const bool both_ways = draw(0, 1) == 1;
    for (int step = 0; step < 5; ++step) {
      const StabilizeInput input{
          .recommended = draw(0, 8), .current = draw(0, 8), .now = kNow + absl::Seconds(step * 20)};
      ScalerState a = full, b = compact;
      const Stabilization want = both_ways ? StabilizeBothWays(input, behavior, absl::Minutes(5), a)
                                           : StabilizeDown(input, absl::Seconds(200), a);
      const Stabilization got = both_ways ? StabilizeBothWays(input, behavior, absl::Minutes(5), b)
                                          : StabilizeDown(input, absl::Seconds(200), b);
      ASSERT_EQ(got.after, want.after);
      ASSERT_EQ(got.down_highest, want.down_highest);
      ASSERT_EQ(got.up_lowest, want.up_lowest);
      full = a;
      CompactState(b, compact);
    }
  }
}

TEST(CompactState, KeepsALongStaircase) {
  ScalerState state, compact;
  for (int i = 0; i < 100; ++i) state.recommendations.push_back({100 - i, Ago(100 - i)});
  CompactState(state, compact);
  EXPECT_EQ(compact.recommendations, state.recommendations);
}

TEST(CompactState, OfVeryManyChangesNoneIsForgottenEarly) {
  ScalerState state, compact;
  for (int i = 0; i < 500; ++i) state.scale_downs.push_back({.change = 1, .time = Ago(i)});
  CompactState(state, compact);
  EXPECT_LE(compact.scale_downs.size(), 64u);
  for (const int period : {10, 60, 100, 600}) {
    EXPECT_GE(ChangeWithin(compact.scale_downs, period, kNow),
              std::min(500, period));  // each second one
  }
}

// ---- EncodeShard, DecodeShard ----

KeptShard Shard(int autoscalers) {
  KeptShard shard{.saved_at = kNow, .complete = true, .autoscalers = {}};
  for (int i = 0; i < autoscalers; ++i) {
    KeptAutoscaler kept{.key = HpaKey(absl::StrCat("web-", i * 7919)), .replicas = i, .state = {}};
    kept.state.recommendations = {{i, Ago(i % 300)}, {-3, Ago(0)}};
    kept.state.scale_ups = {{.change = 4, .time = Ago(3)}};
    shard.autoscalers.push_back(kept);
  }
  return shard;
}

TEST(EncodeShard, ReadsBackTheSame) {
  const KeptShard shard = Shard(100);
  const EncodedShard encoded = EncodeShard(shard);
  EXPECT_EQ(encoded.dropped, 0u);
  const absl::StatusOr<KeptShard> got = DecodeShard(encoded.bytes);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->saved_at, shard.saved_at);
  EXPECT_TRUE(got->complete);
  ASSERT_EQ(got->autoscalers.size(), 100u);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(got->autoscalers[i].key, shard.autoscalers[i].key);
    EXPECT_EQ(got->autoscalers[i].replicas, shard.autoscalers[i].replicas);
    EXPECT_EQ(got->autoscalers[i].state, shard.autoscalers[i].state);
  }
}

TEST(EncodeShard, ATimeNeverReadsBackEarlier) {
  KeptShard shard = Shard(1);
  shard.autoscalers[0].state.recommendations = {{1, Ago(9) + absl::Nanoseconds(1)}};
  const absl::StatusOr<KeptShard> got = DecodeShard(EncodeShard(shard).bytes);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->autoscalers[0].state.recommendations[0].time, Ago(9) + absl::Microseconds(1));
}

TEST(EncodeShard, TenThousandAutoscalersFit) {
  const EncodedShard encoded = EncodeShard(Shard(10000));
  EXPECT_EQ(encoded.dropped, 0u);
  EXPECT_LT(encoded.bytes.size(), 300000u);
}

TEST(EncodeShard, DropsTheLastOnesThatDoNotFit) {
  const EncodedShard encoded = EncodeShard(Shard(1000), 2000);
  EXPECT_LE(encoded.bytes.size(), 2000u);
  const absl::StatusOr<KeptShard> got = DecodeShard(encoded.bytes);
  ASSERT_TRUE(got.ok());
  EXPECT_GT(got->autoscalers.size(), 50u);
  EXPECT_EQ(got->autoscalers.size() + encoded.dropped, 1000u);
  EXPECT_EQ(got->autoscalers[0].key, HpaKey("web-0"));
}

TEST(DecodeShard, RefusesWhatIsCutOffOrChanged) {
  const std::string bytes = EncodeShard(Shard(20)).bytes;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeShard(absl::string_view(bytes).substr(0, size)).ok()) << size;
  }
  for (size_t i = 2; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] ^= 0x10;
    const absl::StatusOr<KeptShard> got = DecodeShard(changed);
    // Some bits between the last symbol and the checksum mean nothing.
    EXPECT_TRUE(!got.ok() || EncodeShard(*got).bytes == bytes) << i;
  }
}

std::string Deflated(const std::string& plain) {
  std::string out(compressBound(plain.size()), '\0');
  uLongf size = out.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(out.data()), &size,
                     reinterpret_cast<const Bytef*>(plain.data()), plain.size()),
            Z_OK);
  out.resize(size);
  return out;
}

// A shard of `autoscalers` of the same name with so many recommendations each, as few bytes as can
// be.
std::string SmallObjects(size_t autoscalers, size_t recommendations) {
  std::string plain;
  PackedWriter out(plain);
  out.Unsigned(1);
  out.Signed(0);
  out.Bool(true);
  out.Unsigned(autoscalers);
  for (size_t i = 0; i < autoscalers; ++i) {
    out.Bool(true);
    out.Text("a");
    out.Text("a");
    out.Signed(1);
    out.Unsigned(recommendations);
    plain.append(2 * recommendations, '\0');
    out.Unsigned(0);
    out.Unsigned(0);
  }
  return Deflated(plain);
}

TEST(DecodeShard, RefusesMoreThanAnyShardHolds) {
  EXPECT_TRUE(DecodeShard(SmallObjects(kMostKeptAutoscalers, 1)).ok());
  EXPECT_EQ(DecodeShard(SmallObjects(800000, 0)).status().message(),
            "it holds 800000 autoscalers, more than 50000");
  EXPECT_TRUE(DecodeShard(SmallObjects(1, kMostKeptItems)).ok());
  EXPECT_EQ(DecodeShard(SmallObjects(10, kMostKeptItems / 10 + 1)).status().message(),
            "it holds more than 250000 recommendations and changes");
  EXPECT_EQ(DecodeShard(Deflated(std::string(kMostInflatedBytes + 1, '\0'))).status().message(),
            "it is more than 8 MiB when inflated");
}

TEST(EncodeShard, WritesNothingThatWouldNotBeRead) {
  const EncodedShard crowd =
      EncodeShard(Shard(static_cast<int>(kMostKeptAutoscalers) + 7), 1 << 30);
  EXPECT_EQ(crowd.dropped, 7u);
  EXPECT_EQ(DecodeShard(crowd.bytes)->autoscalers.size(), kMostKeptAutoscalers);
  KeptShard long_lists = Shard(30);
  for (KeptAutoscaler& kept : long_lists.autoscalers) {
    kept.state.recommendations.assign(kMostKeptItems / 10 - 1, {.replicas = 1, .time = kNow});
  }
  const EncodedShard cut = EncodeShard(long_lists, 1 << 30);
  EXPECT_EQ(cut.dropped, 20u);
  EXPECT_EQ(DecodeShard(cut.bytes)->autoscalers.size(), 10u);
}

// ---- BringForward ----

struct ForwardRow {
  std::string name;
  ScalerState kept;
  int32_t kept_replicas = 5;
  bool complete = false;
  int32_t current = 5;
  ScalerState want = {};
};

class BringForwardTest : public testing::TestWithParam<ForwardRow> {};

TEST_P(BringForwardTest, Row) {
  const ForwardRow& row = GetParam();
  const ScalerState got =
      BringForward({.key = HpaKey("web"), .replicas = row.kept_replicas, .state = row.kept},
                   row.complete, row.current, kNow, StateStoreOptions());
  EXPECT_EQ(got.recommendations, row.want.recommendations);
  EXPECT_EQ(got.scale_ups, row.want.scale_ups);
  EXPECT_EQ(got.scale_downs, row.want.scale_downs);
}

const Recommendation kFound5 = {5, kNow - absl::Microseconds(1)};

INSTANTIATE_TEST_SUITE_P(
    Records, BringForwardTest,
    testing::Values(
        ForwardRow{.name = "AfterAHandOverNothingIsAdded",
                   .kept = {.recommendations = {{4, Ago(9)}}, .scale_ups = {}, .scale_downs = {}},
                   .complete = true,
                   .want = {.recommendations = {{4, Ago(9)}}, .scale_ups = {}, .scale_downs = {}}},
        ForwardRow{.name = "AfterACrashTheCountFoundCountsAsRecommended",
                   .kept = {.recommendations = {{4, Ago(9)}}, .scale_ups = {}, .scale_downs = {}},
                   .want = {.recommendations = {{4, Ago(9)}, kFound5},
                            .scale_ups = {},
                            .scale_downs = {}}},
        // 8 were written down, 5 are there: 3 went away in between, in nobody's record.
        ForwardRow{.name = "AChangeThatWasNotWrittenDownCountsAsMadeNow",
                   .kept = {.recommendations = {{8, Ago(9)}}, .scale_ups = {}, .scale_downs = {}},
                   .kept_replicas = 8,
                   .complete = true,
                   .want = {.recommendations = {{8, Ago(9)}, kFound5},
                            .scale_ups = {},
                            .scale_downs = {{.change = 3, .time = kNow}}}},
        // It may be somebody else's, and would allow as many removals.
        ForwardRow{.name = "GrowthThatWasNotWrittenDownDoesNot",
                   .kept = {.recommendations = {{4, Ago(9)}}, .scale_ups = {}, .scale_downs = {}},
                   .kept_replicas = 4,
                   .want = {.recommendations = {{4, Ago(9)}, kFound5},
                            .scale_ups = {},
                            .scale_downs = {}}},
        ForwardRow{.name = "WhatNoWindowReachesIsLeftOut",
                   .kept = {.recommendations = {{9, Ago(3601)}, {6, Ago(3599)}},
                            .scale_ups = {{.change = 1, .time = Ago(1801)}},
                            .scale_downs = {{.change = 2, .time = Ago(1799)}}},
                   .complete = true,
                   .want = {.recommendations = {{6, Ago(3599)}},
                            .scale_ups = {},
                            .scale_downs = {{.change = 2, .time = Ago(1799)}}}},
        ForwardRow{.name = "WhatIsALittleAheadCountsAsNow",
                   .kept = {.recommendations = {{6, kNow + absl::Seconds(5)}},
                            .scale_ups = {},
                            .scale_downs = {{.change = 2, .time = kNow + absl::Seconds(1)}}},
                   .complete = true,
                   .want = {.recommendations = {{6, kNow}},
                            .scale_ups = {},
                            .scale_downs = {{.change = 2, .time = kNow}}}},
        ForwardRow{
            .name = "AllTooOldLeavesTheCountFound",
            .kept = {.recommendations = {{1, Ago(90000)}}, .scale_ups = {}, .scale_downs = {}},
            .complete = true,
            .want = {.recommendations = {kFound5}, .scale_ups = {}, .scale_downs = {}}}),
    [](const auto& info) { return info.param.name; });

// ---- StateStore ----

// ConfigMaps by path, with resourceVersions.
class FakeConfigMaps : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    ++calls;
    if (down) {
      if (before_failure) before_failure();
      return absl::UnavailableError("connection refused");
    }
    if (refused > 0) {
      --refused;
      return Failure(403, "Forbidden");
    }
    http::HttpAnswer answer;
    auto body = nlohmann::json::parse(call.body, nullptr, false);
    std::string path = call.target;
    if (call.method == "POST") path += "/" + std::string(body["metadata"]["name"]);
    const auto found = objects.find(path);
    if (call.method != "POST" && found == objects.end()) return Failure(404, "NotFound");
    if (call.method == "GET") {
      answer.status = 200;
      answer.body = found->second.dump();
      return answer;
    }
    if (call.method == "POST" && found != objects.end()) return Failure(409, "AlreadyExists");
    if (call.method == "PUT" && body["metadata"].contains("resourceVersion") &&
        body["metadata"]["resourceVersion"] != found->second["metadata"]["resourceVersion"]) {
      return Failure(409, "Conflict");
    }
    if (before_write) before_write();
    body["metadata"]["resourceVersion"] = absl::StrCat(++version);
    objects[path] = body;
    ++writes;
    answer.status = 200;
    answer.body = body.dump();
    return answer;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("");
  }
  void Shutdown() override {}

  std::map<std::string, nlohmann::json> objects;
  bool down = false;
  std::function<void()> before_failure, before_write;
  int refused = 0;  // how many of the next calls are
  int calls = 0, writes = 0, version = 0;

 private:
  static http::HttpAnswer Failure(int status, const std::string& reason) {
    http::HttpAnswer answer;
    answer.status = status;
    answer.body = nlohmann::json{
        {"kind", "Status"},
        {"reason", reason},
        {"message", reason},
        {"code",
         status}}.dump();
    return answer;
  }
};

constexpr char kPath[] = "/api/v1/namespaces/flyball/configmaps/flyball-scaler-state-0";

class StateStoreTest : public testing::Test {
 protected:
  std::unique_ptr<StateStore> Make(size_t most_bytes = kMostKeptBytes, int shards = 1) {
    StateStoreOptions options;
    options.ns = "flyball";
    options.shards = shards;
    options.most_bytes = most_bytes;
    return std::make_unique<StateStore>(options, client_, clock_);
  }

  void Decide(StateStore& store, const std::string& name, int32_t current,
              std::vector<Recommendation> recommendations, std::vector<ScaleEvent> additions = {},
              const std::string& ns = "shop") {
    auto managed = std::make_shared<Managed>();
    managed->key = HpaKey(name, ns);
    managed->autoscaler.max_replicas = 10;
    Decision decision;
    decision.outcome = outcome_;
    decision.current = current;
    decision.recommendation = 7;
    decision.now = kNow;
    decision.state.recommendations = std::move(recommendations);
    decision.state.scale_ups = std::move(additions);
    DecisionRecord record;
    record.managed = managed;
    record.mode = mode_;
    record.restored = restored_;
    record.decision = &decision;
    record.prolonged = prolonged_;
    store.OnDecision(record);
  }

  void Pass(absl::Duration time) { clock_.Advance(time); }

  Mode mode_ = Mode::kAct;
  Outcome outcome_ = Outcome::kDecided;
  bool restored_ = true;
  SteadinessPtr prolonged_;
  FakeConfigMaps server_;
  SimulatedClock clock_{kNow};
  kube::ApiClient client_{server_, clock_};
};

TEST_F(StateStoreTest, TheNextOwnerGoesOnWhereTheLastOneHandedOver) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{9, Ago(40)}, {5, Ago(2)}});
  first->Save(0);
  const auto second = Make();
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  const auto state = second->Take(HpaKey("web"), 5, kNow);
  ASSERT_TRUE(state.has_value());
  EXPECT_THAT(state->state.recommendations,
              testing::ElementsAre(Recommendation{9, Ago(40)}, Recommendation{5, Ago(2)}));
  EXPECT_TRUE(state->complete);
  EXPECT_FALSE(second->Take(HpaKey("web"), 5, kNow).has_value());  // once
  EXPECT_FALSE(second->Take(HpaKey("other"), 5, kNow).has_value());
}

// The watch told late: another object had taken the name, and the last owner had decided that one.
TEST_F(StateStoreTest, WhatWasReadOutlivesAnEndThatIsToldSoonAfterIt) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{9, Ago(40)}, {5, Ago(2)}});
  first->Save(0);
  for (const bool taken : {false, true}) {
    const auto second = Make();
    ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
    if (taken) {
      EXPECT_TRUE(second->Take(HpaKey("web"), 5, kNow).has_value());
    }
    second->OnForgotten(HpaKey("web"));
    const auto state = second->Take(HpaKey("web"), 5, kNow);
    ASSERT_TRUE(state.has_value());
    // As a new object begins: its window holds the count.
    EXPECT_FALSE(state->complete);
    ASSERT_EQ(state->state.recommendations.size(), 3u);
    EXPECT_EQ(state->state.recommendations.back(), kFound5);
    Pass(absl::Seconds(61));
    second->OnForgotten(HpaKey("web"));
    EXPECT_FALSE(second->Take(HpaKey("web"), 5, kNow).has_value());
  }
}

TEST_F(StateStoreTest, AnOwnerInBetweenThatCrashedMakesTheRecordIncomplete) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{5, Ago(2)}});
  first->Save(0);
  const auto third = Make();
  ASSERT_TRUE(third->Load(0, {.epoch = 2}).ok());
  EXPECT_THAT(third->Take(HpaKey("web"), 5, kNow)->state.recommendations,
              testing::ElementsAre(Recommendation{5, Ago(2)}, kFound5));
}

// The Lease says nothing of it, since its holder has not changed.
TEST_F(StateStoreTest, AnOwnerThatLosesItsShardAndWinsItBackFindsAnIncompleteRecord) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{5, Ago(2)}});
  first->Save(0);
  const auto second = Make();
  for (const bool complete : {true, false}) {
    ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
    EXPECT_EQ(second->Take(HpaKey("web"), 5, kNow)->complete, complete);
    second->Drop(0);
  }
}

// The record of a shard that was in use when there were more of them stays in the cluster. Here its
// last recommendation was two seconds old when it was saved, that of the later record 40.
TEST_F(StateStoreTest, WhatAnEarlierDivisionLeftBehindIsNotTakenForTheLatest) {
  constexpr int kMany = 4;
  const int shard = ShardOf(HpaKey("web"), kMany);
  ASSERT_NE(shard, 0);
  const auto of_many = Make(kMostKeptBytes, kMany);
  ASSERT_TRUE(of_many->Load(shard, {.epoch = 0, .division = 0}).ok());
  Decide(*of_many, "web", 5, {{5, Ago(2)}});
  of_many->Save(shard);
  const auto of_one = Make();
  ASSERT_TRUE(of_one->Move(kMany, 1).ok());
  ASSERT_TRUE(of_one->Load(0, {.epoch = 1, .division = 1}).ok());
  Decide(*of_one, "web", 9, {{9, Ago(40)}});
  of_one->Save(0);
  const auto of_many_again = Make(kMostKeptBytes, kMany);
  ASSERT_TRUE(of_many_again->Move(1, 2).ok());
  ASSERT_TRUE(of_many_again->Load(shard, {.epoch = 2, .division = 2}).ok());
  const auto state = of_many_again->Take(HpaKey("web"), 9, kNow);
  ASSERT_TRUE(state.has_value());
  EXPECT_THAT(state->state.recommendations,
              testing::ElementsAre(Recommendation{9, Ago(40)},
                                   Recommendation{9, kNow - absl::Microseconds(1)}));
}

TEST_F(StateStoreTest, WritesAtMostEachIntervalAndOnlyWhatChanged) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{5, Ago(0)}});
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 0);  // not due
  Pass(absl::Seconds(15));
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 1);
  Pass(absl::Seconds(15));
  Decide(*store, "web", 5, {{5, Ago(-30)}});  // the same again, later
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 1);
  Decide(*store, "web", 5, {{6, Ago(-30)}});
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 2);
  Pass(absl::Seconds(65));
  Decide(*store, "web", 5, {{6, Ago(-95)}});  // times alone, but a minute on
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 3);
  Pass(absl::Seconds(15));
  store->OnForgotten(HpaKey("web"));
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 4);
  EXPECT_EQ(store->stats().written, 4u);
}

TEST_F(StateStoreTest, ARecommendationAboveTheCountIsSavedSoon) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{5, Ago(0)}});
  Pass(absl::Seconds(15));
  store->WriteWhatChanged();
  ASSERT_EQ(server_.writes, 1);
  const auto writes_after = [&](int recommended) {
    Decide(*store, "web", 5, {{recommended, Ago(-15)}});
    Pass(absl::Seconds(1));
    store->WriteWhatChanged();
    return server_.writes;
  };
  EXPECT_EQ(writes_after(8), 2);
  EXPECT_EQ(writes_after(8), 2);
  EXPECT_EQ(writes_after(7), 2);   // the one that was saved is higher
  EXPECT_EQ(writes_after(11), 3);  // up to the maximum
  EXPECT_EQ(writes_after(14), 3);
}

// While it does not see the scale: what it decides is added to what it has read.
TEST_F(StateStoreTest, WhatIsDecidedBeforeTheRecordIsTakenIsHandedOnBesideIt) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{9, Ago(40)}});
  first->Save(0);
  const auto second = Make();
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  restored_ = false;
  Decide(*second, "web", 4, {{4, Ago(0)}});
  second->Save(0);
  const auto third = Make();
  ASSERT_TRUE(third->Load(0, {.epoch = 2}).ok());
  const auto state = third->Take(HpaKey("web"), 5, kNow);
  ASSERT_TRUE(state.has_value());
  EXPECT_THAT(state->state.recommendations,
              testing::ElementsAre(Recommendation{9, Ago(40)}, Recommendation{7, Ago(0)}));
}

TEST_F(StateStoreTest, WhatIsOursIsSavedAlsoBeforeItIsRestoredAgain) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{9, Ago(40)}});
  restored_ = false;
  Decide(*store, "web", 5, {{6, Ago(0)}});
  store->Save(0);
  const auto next = Make();
  ASSERT_TRUE(next->Load(0, {.epoch = 1}).ok());
  EXPECT_THAT(next->Take(HpaKey("web"), 5, kNow)->state.recommendations,
              testing::ElementsAre(Recommendation{6, Ago(0)}));
}

TEST_F(StateStoreTest, RoundsRenewTheRecommendation) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{5, Ago(0)}});
  Pass(absl::Seconds(15));
  first->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 1);
  const auto steadiness = std::make_shared<Steadiness>();
  first->OnSteady(HpaKey("web"), 5, steadiness);
  Pass(absl::Seconds(30));
  steadiness->AddRound(Ago(-30), absl::ZeroDuration(), absl::InfinitePast());
  first->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 1);  // not worth it
  Pass(absl::Seconds(60));
  steadiness->AddRound(Ago(-90), absl::ZeroDuration(), absl::InfinitePast());
  first->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 2);
  steadiness->AddRound(Ago(-100), absl::ZeroDuration(), absl::InfinitePast());
  first->Save(0);
  const auto second = Make();
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  EXPECT_THAT(second->Take(HpaKey("web"), 5, Ago(-120))->state.recommendations,
              testing::ElementsAre(Recommendation{5, Ago(-100)}));
}

TEST_F(StateStoreTest, WhatWasReadUnchangedIsHandedOnAsOfThen) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  const auto reads_of_first = std::make_shared<Steadiness>();
  prolonged_ = reads_of_first;
  Decide(*first, "web", 7, {{7, Ago(0)}});
  Pass(absl::Seconds(10));
  reads_of_first->AddRound(Ago(-10), absl::ZeroDuration(), absl::InfinitePast());
  first->Save(0);
  const auto second = Make();
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  const auto reads_of_second = std::make_shared<Steadiness>();
  prolonged_ = reads_of_second;
  restored_ = false;
  Decide(*second, "web", 7, {{7, Ago(0)}});
  Pass(absl::Seconds(10));
  EXPECT_EQ(NewestRecommendation(second->Take(HpaKey("web"), 7, Ago(-20))->state), Ago(-10));
  reads_of_second->AddRound(Ago(-20), absl::ZeroDuration(), absl::InfinitePast());
  second->Save(0);
  const auto third = Make();
  ASSERT_TRUE(third->Load(0, {.epoch = 2}).ok());
  EXPECT_EQ(NewestRecommendation(third->Take(HpaKey("web"), 7, Ago(-20))->state), Ago(-20));
}

TEST_F(StateStoreTest, OfWhatIsShadowedNothingIsWritten) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  mode_ = Mode::kShadow;
  Decide(*store, "web", 5, {{5, Ago(0)}});
  Pass(absl::Seconds(15));
  store->WriteWhatChanged();
  store->Save(0);
  EXPECT_EQ(server_.writes, 0);
}

TEST_F(StateStoreTest, OfWhatIsPausedTheCountIsHandedOn) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{5, Ago(400)}});
  mode_ = Mode::kShadow;
  Decide(*first, "web", 5, {{5, Ago(400)}, {7, Ago(0)}});
  Decide(*first, "web", 3, {{5, Ago(400)}, {7, Ago(0)}});  // somebody else has scaled it down
  first->Save(0);
  const auto second = Make();
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  EXPECT_THAT(second->Take(HpaKey("web"), 3, kNow)->state.recommendations,
              testing::ElementsAre(Recommendation{5, Ago(400)}, Recommendation{3, Ago(0)},
                                   Recommendation{3, kNow - absl::Microseconds(1)}));
}

// The first decision of the second owner does not know yet that the target may wake.
TEST_F(StateStoreTest, WhatWasPutToSleepIsToldFromOwnerToOwnerUntilOneFindsItSwitchedOff) {
  const auto put_to_sleep = [&](int64_t epoch) {
    const auto next = Make();
    EXPECT_TRUE(next->Load(0, {.epoch = epoch}).ok());
    return next->Take(HpaKey("web"), 0, kNow)->put_to_sleep;
  };
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 0, {{5, Ago(9)}, {0, Ago(2)}});
  first->Save(0);
  EXPECT_TRUE(put_to_sleep(1));
  const auto second = Make();
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  ASSERT_TRUE(second->Take(HpaKey("web"), 0, kNow).has_value());
  outcome_ = Outcome::kSwitchedOff;
  for (const bool told : {true, false}) {
    Decide(*second, "web", 0, {{5, Ago(9)}, {0, Ago(2)}});
    second->Save(0);
    EXPECT_EQ(put_to_sleep(2), told);
  }
}

// The count that stands for what its owner did not write down is no recommendation for zero.
TEST_F(StateStoreTest, WhatIsFoundAtZeroIsNotHandedOnAsPutToSleep) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  outcome_ = Outcome::kSwitchedOff;
  Decide(*first, "web", 0, {{5, Ago(9)}});
  Pass(absl::Seconds(15));
  first->WriteWhatChanged();
  const auto second = Make();
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  second->Save(0);
  const auto third = Make();
  ASSERT_TRUE(third->Load(0, {.epoch = 2}).ok());
  EXPECT_FALSE(third->Take(HpaKey("web"), 0, kNow)->put_to_sleep);
}

TEST_F(StateStoreTest, OfWhatIsAdvisedNoAdditionsAreHandedOn) {
  for (const Mode mode : {Mode::kAct, Mode::kAdvise}) {
    const auto first = Make();
    ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
    mode_ = mode;
    Decide(*first, "web", 5, {{5, Ago(2)}}, {{.change = 3, .time = Ago(2)}});
    first->Save(0);
    const auto second = Make();
    ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
    EXPECT_THAT(second->Take(HpaKey("web"), 5, kNow)->state.scale_ups,
                testing::SizeIs(mode == Mode::kAct ? 1 : 0));
  }
}

TEST_F(StateStoreTest, AdditionsThatAClockAheadHasDatedAreNotHandedOn) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{5, Ago(2)}}, {{.change = 3, .time = Ago(2)}});
  first->Save(0);
  for (const bool much : {false, true}) {
    clock_.JumpWall(kNow - (much ? absl::Seconds(5) : absl::Milliseconds(500)));
    const auto second = Make();
    ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
    const auto state = second->Take(HpaKey("web"), 5, clock_.WallNow())->state;
    EXPECT_THAT(state.scale_ups, testing::SizeIs(much ? 0 : 1));
    EXPECT_THAT(state.recommendations, testing::SizeIs(1));
  }
}

// Which of the additions that are written down it has replaced is in nobody's record.
TEST_F(StateStoreTest, ARecordThatLacksAnAdditionIsIncomplete) {
  for (const int32_t current : {5, 7}) {
    const auto first = Make();
    ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
    Decide(*first, "web", 5, {{5, Ago(2)}}, {{.change = 3, .time = Ago(2)}});
    first->Save(0);
    const auto second = Make();
    ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
    EXPECT_EQ(second->Take(HpaKey("web"), current, kNow)->complete, current == 5);
  }
}

TEST_F(StateStoreTest, AFailedWriteIsTriedAgain) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{5, Ago(0)}});
  Pass(absl::Seconds(15));
  server_.down = true;
  store->WriteWhatChanged();
  EXPECT_EQ(store->stats().failed, 1u);
  server_.down = false;
  Pass(absl::Seconds(15));
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 1);
}

// Each decision is one that waits until it is saved.
TEST_F(StateStoreTest, WhileWritesFailThereIsAnIntervalBetweenThemAndOneLine) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  const TestLog log;
  int tries = 0;
  const auto run = [&](int seconds) {
    const int before = server_.calls;
    for (int i = 0; i < seconds; ++i) {
      Pass(absl::Seconds(1));
      Decide(*store, "web", ++tries, {{tries, clock_.WallNow()}});
      store->WriteWhatChanged();
    }
    return server_.calls - before;
  };
  server_.down = true;
  EXPECT_EQ(run(63), 8) << "after 1, 2, 4, 8, 16, 31, 46 and 61 s";
  EXPECT_EQ(run(600), 40);
  EXPECT_EQ(log.Count("cannot be written: connection refused"), 1u);
  EXPECT_FALSE(store->IsSafe(HpaKey("web"), 1));
  server_.down = false;
  EXPECT_GT(run(15), 1) << "the pause is over";
  EXPECT_EQ(log.Count("is written again"), 1u);
  EXPECT_TRUE(store->IsSafe(HpaKey("web"), 1));
  server_.down = true;
  EXPECT_EQ(run(15), 4) << "it begins anew";
  EXPECT_EQ(log.Count("cannot be written"), 2u);
}

// Large records are written less often, by how long they take; a failure says nothing of that.
TEST_F(StateStoreTest, AWriteThatRanOutOfTimeIsTriedAgainAsSoonAsOneThatWasRefused) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{9, Ago(0)}});
  server_.down = true;
  server_.before_failure = [this] { Pass(absl::Seconds(10)); };
  for (int i = 0; i < 60; ++i) {
    Pass(absl::Seconds(1));
    store->WriteWhatChanged();
  }
  EXPECT_GT(server_.calls, 3);
  EXPECT_FALSE(store->IsSafe(HpaKey("web"), 5));
  server_.down = false;
  for (int i = 0; i < 15; ++i) {
    Pass(absl::Seconds(1));
    store->WriteWhatChanged();
  }
  EXPECT_EQ(server_.writes, 1);
  EXPECT_TRUE(store->IsSafe(HpaKey("web"), 5));
}

TEST_F(StateStoreTest, AfterASlowWriteWhatIsUrgentWaitsForNoMoreThanAnInterval) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{5, Ago(0)}});
  Pass(absl::Seconds(15));
  server_.before_write = [this] { Pass(absl::Seconds(4)); };
  store->WriteWhatChanged();
  ASSERT_EQ(server_.writes, 1);
  server_.before_write = nullptr;
  Decide(*store, "web", 5, {{9, clock_.WallNow()}});
  Pass(absl::Seconds(11));
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 2);
}

// As by an API server that has just started.
TEST_F(StateStoreTest, OneRefusalDoesNotMeanThatNothingCanBeWritten) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{5, Ago(0)}});
  server_.refused = 1;
  Pass(absl::Seconds(1));
  store->WriteWhatChanged();
  EXPECT_EQ(store->stats().failed, 1u);
  EXPECT_FALSE(store->IsSafe(HpaKey("web"), 5));
  EXPECT_FALSE(store->TellsOfSleep(HpaKey("web")));
  Pass(absl::Seconds(1));
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 1);
  EXPECT_TRUE(store->IsSafe(HpaKey("web"), 5));
}

TEST_F(StateStoreTest, WhatMayNotBeWrittenIsNotWaitedFor) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{5, Ago(0)}});
  server_.refused = 1'000;
  for (int i = 0; i < 15; ++i) {
    Pass(absl::Seconds(1));
    store->WriteWhatChanged();
  }
  EXPECT_TRUE(store->IsSafe(HpaKey("web"), 5));
  EXPECT_TRUE(store->TellsOfSleep(HpaKey("web")));
}

// The next owner must not wait for what the API server did not take a while ago.
TEST_F(StateStoreTest, AHandOverWaitsForNoPause) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{5, Ago(0)}});
  server_.down = true;
  for (int i = 0; i < 60; ++i) {
    Pass(absl::Seconds(1));
    store->WriteWhatChanged();
  }
  server_.down = false;
  store->Save(0);
  EXPECT_EQ(server_.writes, 1);
}

TEST_F(StateStoreTest, AnOlderOwnerDoesNotOverwriteALaterOne) {
  const auto older = Make();
  ASSERT_TRUE(older->Load(0, {.epoch = 3}).ok());
  const auto later = Make();
  ASSERT_TRUE(later->Load(0, {.epoch = 4}).ok());
  Decide(*later, "web", 7, {{7, Ago(0)}});
  later->Save(0);
  Decide(*older, "web", 2, {{2, Ago(0)}});
  older->Save(0);
  EXPECT_EQ(older->stats().failed, 1u);
  const auto next = Make();
  ASSERT_TRUE(next->Load(0, {.epoch = 5}).ok());
  EXPECT_THAT(next->Take(HpaKey("web"), 7, kNow)->state.recommendations,
              testing::ElementsAre(Recommendation{7, Ago(0)}));
}

// The Lease was emptied, and the record too: what an earlier owner wrote after that is in the way.
TEST_F(StateStoreTest, AnOwnerWhoseTermsCountAnewWritesOnceTheFenceLetsItAgain) {
  const auto anew = Make();
  ASSERT_TRUE(anew->Load(0, {.epoch = 1}).ok());
  const auto earlier = Make();
  ASSERT_TRUE(earlier->Load(0, {.epoch = 7}).ok());
  Decide(*earlier, "web", 7, {{7, Ago(0)}});
  earlier->Save(0);
  bool ours = true;
  anew->UseFence([&](int) { return ours; });
  Decide(*anew, "web", 6, {{6, Ago(0)}});
  const auto write = [&] {
    Pass(absl::Seconds(15));
    anew->WriteWhatChanged();
  };
  write();
  EXPECT_EQ(anew->stats().failed, 1u);
  ours = false;
  write();
  EXPECT_EQ(anew->stats().written, 0u);
  EXPECT_FALSE(anew->IsSafe(HpaKey("web"), 6));
  ours = true;
  write();
  EXPECT_EQ(anew->stats().written, 1u);
  EXPECT_TRUE(anew->IsSafe(HpaKey("web"), 6));
  Decide(*earlier, "web", 9, {{9, Ago(0)}});
  earlier->Save(0);
  EXPECT_EQ(earlier->stats().failed, 1u) << "now it is the earlier one by its number too";
}

TEST_F(StateStoreTest, ALaterOwnerOverwritesAnOlderOne) {
  const auto later = Make();
  ASSERT_TRUE(later->Load(0, {.epoch = 4}).ok());
  const auto older = Make();
  ASSERT_TRUE(older->Load(0, {.epoch = 3}).ok());
  Decide(*older, "web", 2, {{2, Ago(0)}});
  older->Save(0);
  Decide(*later, "web", 7, {{7, Ago(0)}});
  later->Save(0);
  EXPECT_EQ(later->stats().failed, 0u);
}

TEST_F(StateStoreTest, ADeletedLeaseThatCountsAnewIsNoReasonToForget) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 7}).ok());
  Decide(*store, "web", 5, {{5, Ago(2)}});
  store->Save(0);
  const auto anew = Make();
  ASSERT_TRUE(anew->Load(0, {.epoch = 0}).ok());
  EXPECT_TRUE(anew->Take(HpaKey("web"), 5, kNow).has_value());
  Decide(*anew, "web", 6, {{6, Ago(1)}});
  anew->Save(0);
  EXPECT_EQ(anew->stats().failed, 0u);
}

TEST_F(StateStoreTest, WhatWasNotYetDecidedIsHandedOn) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{5, Ago(2)}});
  first->Save(0);
  const auto second = Make();
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  second->Save(0);
  const auto third = Make();
  ASSERT_TRUE(third->Load(0, {.epoch = 2}).ok());
  EXPECT_TRUE(third->Take(HpaKey("web"), 5, kNow).has_value());
}

TEST_F(StateStoreTest, WhatDoesNotReadIsIgnored) {
  for (const std::string data : {"", "AAAA", "not base64!"}) {
    server_.objects[kPath] = {{"metadata", {{"resourceVersion", "1"}}},
                              {"binaryData", {{"state", data}}}};
    const auto store = Make();
    EXPECT_TRUE(store->Load(0, {.epoch = 0}).ok()) << data;
    EXPECT_FALSE(store->Take(HpaKey("web"), 5, kNow).has_value());
    Decide(*store, "web", 6, {{6, Ago(1)}});
    store->Save(0);
    EXPECT_EQ(store->stats().failed, 0u) << data;
  }
}

// A cut answer, or one of a proxy: the ConfigMap itself is as it was.
TEST_F(StateStoreTest, AnAnswerThatIsNoConfigMapIsAFailureAndOverwritesNothing) {
  const auto first = Make();
  ASSERT_TRUE(first->Load(0, {.epoch = 0}).ok());
  Decide(*first, "web", 5, {{9, Ago(40)}, {5, Ago(2)}});
  first->Save(0);
  const nlohmann::json kept = server_.objects[kPath];
  const auto second = Make();
  for (const nlohmann::json& answer : std::vector<nlohmann::json>{
           "no object",
           nlohmann::json::object(),
           {{"kind", "ConfigMap"}, {"metadata", {{"name", "flyball-scaler-state-0"}}}},
           {{"kind", "Status"}, {"metadata", {{"resourceVersion", "1"}}}}}) {
    server_.objects[kPath] = answer;
    EXPECT_TRUE(absl::IsUnavailable(second->Load(0, {.epoch = 1}))) << answer;
    EXPECT_FALSE(second->Move(1, 1).ok()) << answer;
    Decide(*second, "web", 2, {{2, Ago(1)}});
    second->Save(0);
    EXPECT_EQ(server_.objects[kPath], answer);
  }
  server_.objects[kPath] = kept;
  ASSERT_TRUE(second->Load(0, {.epoch = 1}).ok());
  EXPECT_TRUE(second->Take(HpaKey("web"), 5, kNow).has_value());
}

TEST_F(StateStoreTest, TellsWhetherAnOwnerHasSavedAnything) {
  const auto store = Make();
  EXPECT_FALSE(store->IsAnySaved().value());
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  Decide(*store, "web", 5, {{5, Ago(2)}});
  store->Save(0);
  EXPECT_TRUE(Make()->IsAnySaved().value());
  server_.down = true;
  EXPECT_FALSE(Make()->IsAnySaved().ok());
}

TEST_F(StateStoreTest, AServerThatDoesNotAnswerIsAskedAgain) {
  server_.down = true;
  EXPECT_FALSE(Make()->Load(0, {.epoch = 0}).ok());
}

TEST_F(StateStoreTest, KeepsTheYoungestWhenThereIsNoRoomForAll) {
  const auto store = Make(200);
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  for (int i = 0; i < 300; ++i) Decide(*store, absl::StrCat("web-", i * 7919), 5, {{i, Ago(i)}});
  store->Save(0);
  EXPECT_GT(store->stats().dropped, 100u);
  const auto next = Make();
  ASSERT_TRUE(next->Load(0, {.epoch = 1}).ok());
  EXPECT_TRUE(next->Take(HpaKey("web-0"), 5, kNow).has_value());
  EXPECT_FALSE(next->Take(HpaKey(absl::StrCat("web-", 299 * 7919)), 5, kNow).has_value());
}

TEST_F(StateStoreTest, WhenThereIsNoRoomForAllOneNamespaceLeavesRoomForOthers) {
  const auto store = Make(200);
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  for (int i = 0; i < 300; ++i) Decide(*store, absl::StrCat("web-", i * 7919), 5, {{i, Ago(i)}});
  Decide(*store, "quiet", 5, {{7, Ago(301)}}, {}, "bank");
  store->Save(0);
  EXPECT_GT(store->stats().dropped, 100u);
  const auto next = Make();
  ASSERT_TRUE(next->Load(0, {.epoch = 1}).ok());
  EXPECT_TRUE(next->Take(HpaKey("quiet", "bank"), 5, kNow).has_value());
}

// Two shards become one, each with a namespace that has more than fits. The quiet one is the last
// by name.
TEST_F(StateStoreTest, AMoveToFewerShardsLeavesRoomForOthersToo) {
  constexpr int kShards = 2;
  const auto store = Make(2000, kShards);
  for (int shard = 0; shard < kShards; ++shard) {
    ASSERT_TRUE(store->Load(shard, {.epoch = 0}).ok());
    int number = 0;
    while (ShardOfNamespace(absl::StrCat("big-", number), kShards) != shard) ++number;
    for (int i = 0; i < 1000; ++i) {
      const std::string name = absl::StrCat("web-", i * 7919);
      Decide(*store, name, 5, {{i, Ago(i)}}, {}, absl::StrCat("big-", number));
    }
  }
  Decide(*store, "quiet", 5, {{7, Ago(0)}}, {}, "zoo");
  for (int shard = 0; shard < kShards; ++shard) store->Save(shard);
  const auto next = Make(2000);
  ASSERT_TRUE(next->Move(kShards, 1).ok());
  ASSERT_TRUE(next->Load(0, {.epoch = 1, .division = 1}).ok());
  EXPECT_TRUE(next->Take(HpaKey("quiet", "zoo"), 5, kNow).has_value());
}

TEST_F(StateStoreTest, WithoutTheFenceNothingIsWrittenAndNothingForgotten) {
  const auto store = Make();
  ASSERT_TRUE(store->Load(0, {.epoch = 0}).ok());
  bool allowed = true;
  store->UseFence([&](int) { return allowed; });
  store->Start();
  store->Stop();
  Decide(*store, "web", 5, {{5, Ago(2)}});
  Pass(absl::Seconds(15));
  allowed = false;  // being handed over: the loop lets go of its autoscalers first
  store->OnReleased(HpaKey("web"));
  store->WriteWhatChanged();
  EXPECT_EQ(server_.writes, 0);
  store->Save(0);
  const auto next = Make();
  ASSERT_TRUE(next->Load(0, {.epoch = 1}).ok());
  EXPECT_TRUE(next->Take(HpaKey("web"), 5, kNow).has_value());
}

}  // namespace
}  // namespace flyball::scaler
