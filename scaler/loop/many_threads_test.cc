// Autoscalers that share questions are edited by several threads at once, while time passes, the
// owner changes and others scale their targets. Every metric stays as it is, so no write may ask for
// fewer replicas than the smallest metric does, or for more than the largest.
//
// The random courses have one thread; this finds what only happens between threads, which may take
// some hundred thousand edits: FLYBALL_EDITS=COUNT in the environment has each editor make so many.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

constexpr int kAutoscalers = 12, kEditors = 6;
constexpr int kLeast = 4, kMost = 7;  // what a metric asks for

int Edits() {
  const char* const asked = std::getenv("FLYBALL_EDITS");
  int edits = 0;
  return asked != nullptr && absl::SimpleAtoi(asked, &edits) ? edits : 500;
}

std::string NameOf(int autoscaler) { return absl::StrCat("web", autoscaler); }

class Crowd {
 public:
  Crowd() {
    for (int count = kLeast; count <= kMost; ++count) {
      world_.metrics.SetExternal(absl::StrCat("queue", count), count * 10'000);
    }
    for (int i = 0; i < kAutoscalers; ++i) {
      world_.AddDeployment(NameOf(i), kMost);
      Put(i, {Metric(kMost, 0)});
    }
    world_.api.OnRequest([this](const http::HttpCall& call) { Look(call); });
    world_.ownership = &owner_;
    world_.Start();
  }

  // Runs until each editor has made so many edits.
  void Run(int edits) {
    std::atomic<bool> over = false;
    std::thread time([&] {
      while (!over) Pass();
    });
    std::vector<std::thread> editors;
    for (int i = 0; i < kEditors; ++i) {
      editors.emplace_back([this, i, edits] { Edit(static_cast<uint32_t>(i), edits); });
    }
    for (std::thread& editor : editors) editor.join();
    over = true;
    time.join();
  }

  // Whether all targets come to what their metric asks for, once nothing happens any more.
  bool ComesToRest() {
    owner_.Become(true);
    for (int i = 0; i < kAutoscalers; ++i) Put(i, {Metric(kLeast + i % 2, 0)});
    for (int round = 0; round < 200; ++round) {
      Pass();
      bool right = true;
      for (int i = 0; i < kAutoscalers; ++i) {
        right = right && world_.Replicas(NameOf(i)) == kLeast + i % 2;
      }
      if (right) return true;
    }
    return false;
  }

  std::set<int> written() const {
    absl::MutexLock lock(&mutex_);
    return written_;
  }
  int writes() const { return writes_; }

 private:
  static ScalerOptions EachSecond() {
    ScalerOptions options = LoopWorld::ActOnHpas();
    options.sync_period = absl::Seconds(1);
    return options;
  }

  static std::string Metric(int count, int part) {
    const std::string selector =
        part == 0 ? "" : absl::StrCat(R"(,"selector":{"matchLabels":{"part":")", part, R"("}})");
    return absl::StrCat(R"({"type":"External","external":{"metric":{"name":"queue)", count, "\"",
                        selector, R"(},"target":{"type":"AverageValue","averageValue":"10"}}})");
  }

  void Put(int autoscaler, const std::vector<std::string>& metrics) {
    world_.PutHpa(NameOf(autoscaler), absl::StrJoin(metrics, ","),
                  R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})");
  }

  void Edit(uint32_t seed, int edits) {
    std::minstd_rand chance(seed + 1);
    const auto between = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(chance);
    };
    for (int i = 0; i < edits; ++i) {
      // Each has its own, since one object is not put by two at once.
      const int autoscaler =
          between(0, kAutoscalers / kEditors - 1) * kEditors + static_cast<int>(seed);
      std::vector<std::string> metrics;
      for (int count = between(1, 2); count > 0; --count) {
        metrics.push_back(Metric(between(kLeast, kMost), between(0, 8)));
      }
      Put(autoscaler, metrics);
      if (i % 8 == 0) {
        world_.api.Patch(
            absl::StrCat("/apis/apps/v1/namespaces/shop/deployments/", NameOf(autoscaler)),
            absl::StrCat(R"({"spec":{"replicas":)", between(kMost + 1, 12), "}}"));
      }
      if (seed == 0 && i % 50 == 0) owner_.Become(i % 100 != 0);
      std::this_thread::yield();
    }
  }

  // Time stands while anybody is due or busy, but not for long.
  void Pass() {
    world_.clock.Advance(absl::Seconds(1));
    const absl::Time until = absl::Now() + absl::Milliseconds(20);
    while (world_.scaler->stats().queue > 0 && absl::Now() < until) std::this_thread::yield();
  }

  void Look(const http::HttpCall& call) {
    if (call.method != "PUT" || !absl::EndsWith(call.target, "/scale")) return;
    const nlohmann::json scale = nlohmann::json::parse(call.body);
    ++writes_;
    absl::MutexLock lock(&mutex_);
    written_.insert(scale["spec"].value("replicas", 0));
  }

  mutable absl::Mutex mutex_;
  std::set<int> written_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> writes_ = 0;
  ChangingOwner owner_{/*owns=*/true};
  LoopWorld world_{EachSecond()};
};

TEST(ManyThreads, OfMetricsThatStayNoneIsEverMissed) {
  Crowd crowd;
  const int edits = Edits();
  crowd.Run(edits);
  EXPECT_TRUE(crowd.ComesToRest());
  for (const int count : crowd.written()) {
    EXPECT_GE(count, kLeast);
    EXPECT_LE(count, kMost);
  }
  EXPECT_GT(crowd.writes(), edits / 50);
}

}  // namespace
}  // namespace flyball::scaler
