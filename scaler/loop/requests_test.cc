// The loop under a trigger of type `http`, whose front is the test.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "scaler/loop/scaler.h"
#include "scaler/testing/test_world.h"
#include "scaler/triggers/request_front.h"

namespace flyball::scaler {
namespace {

class TestFront : public RequestFront {
 public:
  std::unique_ptr<Carried> Carry(CarriedService /*service*/,
                                 std::function<void()> changed) override {
    absl::MutexLock lock(&mutex_);
    on_change_ = std::move(changed);
    ++carried_;
    return std::make_unique<One>(*this);
  }
  bool MayEnterZero(const std::string& name) override {
    absl::MutexLock lock(&mutex_);
    ++asked_[name];
    return zero_is_safe_;
  }
  void ScaleWritten(const std::string& name, int32_t from, int32_t to,
                    const absl::Status& status) override {
    absl::MutexLock lock(&mutex_);
    written_.push_back(absl::StrCat(name, " ", from, " to ", to, status.ok() ? "" : " failed"));
  }
  std::vector<std::string> written() {
    absl::MutexLock lock(&mutex_);
    return written_;
  }
  int asked(const std::string& name) {
    absl::MutexLock lock(&mutex_);
    return asked_[name];
  }
  int carried() {
    absl::MutexLock lock(&mutex_);
    return carried_;
  }
  void SafeAtZero(bool safe) {
    absl::MutexLock lock(&mutex_);
    zero_is_safe_ = safe;
  }
  bool carries() {
    absl::MutexLock lock(&mutex_);
    return on_change_ != nullptr;
  }
  void Say(RequestDemand demand) {
    std::function<void()> tell;
    {
      absl::MutexLock lock(&mutex_);
      demand_ = std::move(demand);
      tell = on_change_;
    }
    if (tell) tell();
  }

 private:
  class One : public Carried {
   public:
    explicit One(TestFront& front) : front_(front) {}
    ~One() override {
      absl::MutexLock lock(&front_.mutex_);
      --front_.carried_;
    }
    RequestDemand Demand() const override {
      absl::MutexLock lock(&front_.mutex_);
      return front_.demand_;
    }

   private:
    TestFront& front_;
  };

  absl::Mutex mutex_;
  RequestDemand demand_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_change_ ABSL_GUARDED_BY(mutex_);
  int carried_ ABSL_GUARDED_BY(mutex_) = 0;
  bool zero_is_safe_ ABSL_GUARDED_BY(mutex_) = true;
  std::map<std::string, int> asked_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> written_ ABSL_GUARDED_BY(mutex_);
};

constexpr char kHttp[] =
    R"(,"minReplicas":0,"triggers":[{"type":"http","metadata":{"service":"web",)"
    R"("targetPort":"8080"}}])";

class RequestsTest : public testing::Test {
 protected:
  // With so many replicas that are all there.
  void Begin(int replicas, const std::string& more = kHttp, const std::string& metrics = "") {
    world_.front = front_;
    world_.AddDeployment("web", replicas);
    world_.PutOwn("web", metrics, more);
    front_->Say({.replicas = replicas, .active = replicas > 0});
    world_.Start();
    ASSERT_TRUE(world_.Next("web").has_value());
    ASSERT_TRUE(LoopWorld::Await([&] { return front_->carries(); }));
    ASSERT_TRUE(world_.Next("web").has_value());
  }
  // What was read before counts no more, as it is older.
  void Say(RequestDemand demand) {
    world_.clock.Advance(absl::Milliseconds(10));
    front_->Say(std::move(demand));
  }
  // What it is scaled to, although no time passes.
  bool Becomes(int replicas) {
    return LoopWorld::Await([&] { return world_.Replicas("web") == replicas; });
  }
  void Follow(int replicas) {
    world_.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web",
                     absl::StrCat(R"({"status":{"replicas":)", replicas, "}}"));
    for (int i = 0; i < replicas; ++i) world_.AddPod("web", absl::StrCat("web-", i));
  }

  static ScalerOptions Act() {
    ScalerOptions options;
    options.mode = Mode::kAct;
    return options;
  }

  const std::shared_ptr<TestFront> front_ = std::make_shared<TestFront>();
  LoopWorld world_{Act()};
};

TEST_F(RequestsTest, WakesAtOnceToWhatIsNeeded) {
  Begin(0);
  Say({.replicas = 3, .active = true});
  EXPECT_TRUE(Becomes(3)) << world_.Own("web");
  EXPECT_TRUE(LoopWorld::Await(
      [&] { return front_->written() == std::vector<std::string>{"shop/web 0 to 3"}; }));
}

// Each time that the front wishes for it its reading is the same.
TEST_F(RequestsTest, OnSampleTriesAgainWhatWasRefused) {
  Begin(0, absl::StrCat(kHttp, R"(,"cadence":{"onSample":true})"));
  world_.api.Inject({.method = "PUT", .part = "/scale", .status = 503});
  Say({.replicas = 3, .active = true});
  ASSERT_TRUE(LoopWorld::Await(
      [&] { return front_->written() == std::vector<std::string>{"shop/web 0 to 3 failed"}; }));
  EXPECT_EQ(world_.Replicas("web"), 0);
  world_.clock.Advance(absl::Seconds(1));
  front_->Say({.replicas = 3, .active = true});
  EXPECT_TRUE(Becomes(3)) << world_.Own("web");
}

TEST_F(RequestsTest, OnSampleTriesAgainWithoutAWishToo) {
  Begin(0, absl::StrCat(kHttp, R"(,"cadence":{"onSample":true})"));
  world_.api.Inject({.method = "PUT", .part = "/scale", .status = 503});
  Say({.replicas = 3, .active = true});
  ASSERT_TRUE(LoopWorld::Await([&] { return !front_->written().empty(); }));
  bool written = false;
  for (int i = 0; i < 20 && !written; ++i) {  // far less than a sync period
    world_.clock.Advance(absl::Milliseconds(200));
    written =
        LoopWorld::Await([&] { return world_.Replicas("web") == 3; }, absl::Milliseconds(200));
  }
  EXPECT_TRUE(written || Becomes(3)) << world_.Own("web");
}

TEST_F(RequestsTest, WakesToTheMaximumAtMost) {
  Begin(0);
  Say({.replicas = 3000, .active = true});
  EXPECT_TRUE(Becomes(20)) << world_.Own("web");
}

TEST_F(RequestsTest, ACountWithinTheToleranceIsFollowedToo) {
  Begin(10);
  Say({.replicas = 11, .active = true});
  EXPECT_TRUE(Becomes(11)) << world_.Own("web");
}

TEST_F(RequestsTest, GoesDownWithoutAWindowAndUpWithoutAPolicy) {
  Begin(2);
  Say({.replicas = 19, .active = true});
  ASSERT_TRUE(Becomes(19)) << world_.Own("web");
  Follow(19);
  Say({.replicas = 2, .active = true});
  EXPECT_TRUE(Becomes(2)) << world_.Own("web");
}

TEST_F(RequestsTest, EntersZeroAsSoonAsNothingIsWanted) {
  Begin(1);
  Say({.replicas = 0, .active = false});
  EXPECT_TRUE(Becomes(0)) << world_.Own("web");
  EXPECT_TRUE(LoopWorld::Await(
      [&] { return front_->written() == std::vector<std::string>{"shop/web 1 to 0"}; }));
}

TEST_F(RequestsTest, KeepsTheLastPodUntilZeroIsSafe) {
  Begin(1);
  front_->SafeAtZero(false);
  Say({.replicas = 0, .active = false});
  ASSERT_TRUE(LoopWorld::Await([&] { return front_->asked("shop/web") > 0; }));
  ASSERT_TRUE(LoopWorld::Await([&] { return !front_->written().empty(); }));
  EXPECT_EQ(world_.Replicas("web"), 1);
  EXPECT_EQ(front_->written(), (std::vector<std::string>{"shop/web 1 to 0 failed"}));
  front_->SafeAtZero(true);
  Say({.replicas = 0, .active = false});
  EXPECT_TRUE(Becomes(0)) << world_.Own("web");
}

// As during the whole of scaleToZeroPodRetentionPeriod.
TEST_F(RequestsTest, ThatZeroIsNotSafeYetIsNoFailureInTheStatus) {
  Begin(1);
  front_->SafeAtZero(false);
  Say({.replicas = 0,
       .active = false,
       .front = FrontReadiness{.ready = true, .reason = "Carried", .message = "on port 20007"}});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world_.Next("web").has_value());
  ASSERT_TRUE(LoopWorld::Await([&] {
    world_.clock.Advance(absl::Seconds(1));  // a status may wait for the next decision
    return absl::StrContains(world_.Own("web"), "on port 20007");
  })) << world_.Own("web");
  EXPECT_TRUE(absl::StrContains(world_.Own("web"), R"("desiredReplicas":1)")) << world_.Own("web");
  EXPECT_FALSE(absl::StrContains(world_.Own("web"), "ScaleDownHeld")) << world_.Own("web");
  EXPECT_EQ(world_.Replicas("web"), 1);
}

TEST_F(RequestsTest, IsNotMadeSmallerWhileTheDemandIsUnknown) {
  Begin(4);
  Say({.error = "no Envoy is connected"});
  ASSERT_TRUE(world_.Next("web").has_value());
  EXPECT_EQ(world_.Replicas("web"), 4);
  EXPECT_TRUE(absl::StrContains(world_.diary.last("web").decision.error, "no Envoy is connected"))
      << world_.diary.last("web").decision.error;
}

TEST_F(RequestsTest, IsOneProposalBesideOthers) {
  world_.metrics.SetExternal("queue", 50'000);
  Begin(2, kHttp, ExternalMetricJson("queue", "10"));
  EXPECT_TRUE(Becomes(5)) << world_.Own("web");  // the queue asks for more
}

TEST_F(RequestsTest, IsNotWokenWhilePaused) {
  Begin(0, absl::StrCat(kHttp, R"(,"paused":true)"));
  Say({.replicas = 3, .active = true});
  ASSERT_TRUE(world_.Next("web").has_value());
  EXPECT_EQ(world_.Replicas("web"), 0);
}

TEST_F(RequestsTest, AWrongEditLeavesItsRequestsCarried) {
  Begin(0);
  const std::string wrong = absl::StrReplaceAll(kHttp, {{R"("8080")", R"("8080","window":"5s")"}});
  world_.PutOwn("web", "", wrong);
  const auto says = [&](const std::string& text) {
    return LoopWorld::Await([&] {
      world_.clock.Advance(absl::Seconds(1));  // a status may wait for the next decision
      front_->Say({.replicas = 0,
                   .front = FrontReadiness{.ready = true, .reason = "Carried", .message = "."}});
      return absl::StrContains(world_.Own("web"), text);
    });
  };
  EXPECT_TRUE(says("InvalidTrigger")) << world_.Own("web");
  EXPECT_TRUE(says("triggers[0].metadata.window: ")) << world_.Own("web");
  EXPECT_EQ(front_->carried(), 1);
  Say({.replicas = 3, .active = true});
  EXPECT_TRUE(Becomes(3)) << world_.Own("web");
  world_.PutOwn("web", "", kHttp);
  EXPECT_TRUE(says("Carried")) << world_.Own("web");
  EXPECT_EQ(front_->carried(), 1);
  world_.PutOwn("web", ExternalMetricJson("queue", "10"), "");
  EXPECT_TRUE(LoopWorld::Await([&] { return front_->carried() == 0; }));
}

TEST_F(RequestsTest, WhatKeepsRequestsAwayIsACondition) {
  Begin(1);
  Say({.replicas = 1,
       .active = true,
       .front = FrontReadiness{.ready = false, .reason = "ServiceNotLed", .message = "why"}});
  ASSERT_TRUE(LoopWorld::Await([&] {
    world_.clock.Advance(absl::Seconds(1));  // a status may wait for the next decision
    return absl::StrContains(world_.Own("web"), "FrontReady") &&
           absl::StrContains(world_.Own("web"), "ServiceNotLed");
  })) << world_.Own("web");
  world_.PutOwn("web", ExternalMetricJson("queue", "10"), "");
  EXPECT_TRUE(LoopWorld::Await([&] {
    world_.clock.Advance(absl::Seconds(1));
    return !absl::StrContains(world_.Own("web"), "FrontReady");
  })) << world_.Own("web");
}

}  // namespace
}  // namespace flyball::scaler
