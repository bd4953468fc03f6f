#include "scaler/loop/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LanesTest : public testing::Test {
 protected:
  std::function<void()> Task(const std::string& name) {
    return [this, name] { done_.push_back(name); };
  }
  // Does what the pool was handed first.
  void DoOne() {
    const std::function<void()> task = std::move(pool_.front());
    pool_.erase(pool_.begin());
    task();
  }

  std::vector<std::function<void()>> pool_;
  std::vector<std::string> done_;
  Lanes lanes_{[this](std::function<void()> task) { pool_.push_back(std::move(task)); }, 2};
};

TEST_F(LanesTest, OfOneServerOnlySoManyAreInThePool) {
  const Lanes::Run slow = lanes_.For("slow:80");
  for (const char* name : {"a", "b", "c", "d"}) slow(Task(name));
  lanes_.For("quick:80")(Task("other"));
  EXPECT_EQ(pool_.size(), 3u);
  DoOne();  // its place is taken by the next, behind who waits already
  EXPECT_EQ(pool_.size(), 3u);
  while (!pool_.empty()) DoOne();
  EXPECT_THAT(done_, ElementsAre("a", "b", "other", "c", "d"));
}

TEST_F(LanesTest, APlaceIsGivenBack) {
  const Lanes::Run run = lanes_.For("server:80");
  for (int i = 0; i < 3; ++i) {
    run(Task("x"));
    run(Task("y"));
    EXPECT_EQ(pool_.size(), 2u);
    while (!pool_.empty()) DoOne();
  }
  EXPECT_EQ(done_.size(), 6u);
}

TEST_F(LanesTest, AllWhoAskOneServerShareItsLane) {
  lanes_.For("server:80")(Task("a"));
  lanes_.For("server:80")(Task("b"));
  lanes_.For("server:80")(Task("c"));
  EXPECT_EQ(pool_.size(), 2u);
}

TEST_F(LanesTest, WithoutAServerThereIsNoLimit) {
  const Lanes::Run run = lanes_.For("");
  for (const char* name : {"a", "b", "c"}) run(Task(name));
  EXPECT_EQ(pool_.size(), 3u);
}

TEST_F(LanesTest, WhatWaitsAtTheEndIsLetGo) {
  const auto held = std::make_shared<int>();
  {
    const Lanes::Run run = lanes_.For("server:80");
    // As a question does: what waits can run more.
    for (int i = 0; i < 3; ++i) run([held, run] {});
  }
  lanes_.Stop();
  pool_.clear();
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(LanesTest, WhatNobodyUsesIsForgotten) {
  for (int i = 0; i < 100; ++i) (void)lanes_.For(std::to_string(i));
  EXPECT_LE(lanes_.size(), 1u);
  EXPECT_THAT(done_, IsEmpty());
}

}  // namespace
}  // namespace flyball::scaler
