#include "base/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace flyball {
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
  // A namespace whose servers never answer asks `servers` of them, each with 30 tasks.
  void Hang(const std::string& ns, int servers) {
    for (int i = 0; i < servers * 30; ++i) {
      lanes_.For(ns, absl::StrCat(ns, "-", i % servers, ":80"))(Task("hanging"));
    }
  }

  std::vector<std::function<void()>> pool_;
  std::vector<std::string> done_;
  Lanes lanes_{[this](std::function<void()> task) { pool_.push_back(std::move(task)); },
               {.threads = 128, .of_server = 16}};
};

TEST_F(LanesTest, OneNamespacesServersNeverHoldAllThreads) {
  Hang("bad", 200);
  EXPECT_EQ(pool_.size(), 14u);  // one more would be more than an eighth of what is free
  for (const char* ns : {"a", "b", "c"}) {
    const size_t before = pool_.size();
    lanes_.For(ns, absl::StrCat(ns, ":80"))(Task("x"));
    EXPECT_EQ(pool_.size(), before + 1) << ns;
  }
}

TEST_F(LanesTest, WithoutPartsANamespaceHasAllThreadsAndOthersTheNextTurn) {
  Lanes lanes(
      [this](std::function<void()> task) { pool_.push_back(std::move(task)); },
      {.threads = 4, .of_server = 4, .part_of_threads = 0, .part_of_server = 0, .in_a_row = 3});
  for (int i = 0; i < 100; ++i) lanes.For("giant", "metrics")(Task("giant"));
  EXPECT_EQ(pool_.size(), 4u);
  lanes.For("small", "metrics")(Task("small"));
  for (int i = 0; i < 12; ++i) DoOne();
  EXPECT_THAT(std::count(done_.begin(), done_.end(), "small"), 1);
  EXPECT_EQ(pool_.size(), 4u);
}

TEST_F(LanesTest, SomethingIsLeftAfterManySuchNamespaces) {
  for (int i = 0; i < 30; ++i) {
    Hang(absl::StrCat("bad-", i), 20);
    const size_t before = pool_.size();
    ASSERT_LT(before, 128u);
    lanes_.For(absl::StrCat("good-", i), "good:80")(Task("x"));
    EXPECT_EQ(pool_.size(), before + 1) << i;
    pool_.back()();  // and is done
    pool_.pop_back();
  }
}

TEST_F(LanesTest, OneServerThatHangsIsAskedByFew) {
  Hang("bad", 1);
  EXPECT_EQ(pool_.size(), 5u);
  // Others who ask it get what is left, and never more than there is for the server.
  for (int i = 0; i < 40; ++i) lanes_.For(absl::StrCat("ns-", i), "bad-0:80")(Task("x"));
  EXPECT_EQ(pool_.size(), 16u);
  lanes_.For("bad", "quick:80")(Task("y"));
  lanes_.For("good", "quick:80")(Task("y"));
  EXPECT_EQ(pool_.size(), 18u);
}

TEST_F(LanesTest, NamespacesThatWaitTakeTurns) {
  Lanes lanes([this](std::function<void()> task) { pool_.push_back(std::move(task)); },
              {.threads = 2, .of_server = 2});
  const Lanes::Run busy = lanes.For("busy", "b:80");
  for (int i = 0; i < 4; ++i) busy(Task(absl::StrCat("busy-", i)));
  for (int i = 0; i < 2; ++i) lanes.For("calm", "c:80")(Task(absl::StrCat("calm-", i)));
  lanes.For("late", "l:80")(Task("late"));
  while (!pool_.empty()) DoOne();
  EXPECT_THAT(done_,
              ElementsAre("busy-0", "calm-0", "busy-1", "calm-1", "late", "busy-2", "busy-3"));
}

TEST_F(LanesTest, OfOneNamespaceTheServersTakeTurns) {
  Lanes lanes([this](std::function<void()> task) { pool_.push_back(std::move(task)); },
              {.threads = 1, .of_server = 1});
  for (const char* name : {"a1", "a2", "a3"}) lanes.For("ns", "a:80")(Task(name));
  for (const char* name : {"b1", "b2"}) lanes.For("ns", "b:80")(Task(name));
  while (!pool_.empty()) DoOne();
  EXPECT_THAT(done_, ElementsAre("a1", "a2", "b1", "a3", "b2"));
}

TEST_F(LanesTest, APlaceIsGivenBack) {
  for (int i = 0; i < 3; ++i) {
    Hang("ns", 20);
    EXPECT_EQ(pool_.size(), 14u);
    while (!pool_.empty()) DoOne();
  }
  EXPECT_EQ(done_.size(), 1800u);
  EXPECT_EQ(lanes_.size(), 0u);
}

TEST_F(LanesTest, WithoutAServerThereIsNoLimit) {
  Hang("ns", 200);
  const size_t before = pool_.size();
  for (int i = 0; i < 200; ++i) lanes_.For("ns", "")(Task("x"));
  EXPECT_EQ(pool_.size(), before + 200);
}

TEST_F(LanesTest, WhatWaitsAtTheEndIsLetGo) {
  const auto held = std::make_shared<int>();
  {
    const Lanes::Run run = lanes_.For("ns", "server:80");
    // As a question does: what waits can run more.
    for (int i = 0; i < 30; ++i) run([held, run] {});
  }
  lanes_.Stop();
  pool_.clear();
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(LanesTest, WhatNobodyUsesIsForgotten) {
  for (int i = 0; i < 100; ++i) (void)lanes_.For("ns", std::to_string(i));
  EXPECT_EQ(lanes_.size(), 0u);
  EXPECT_THAT(done_, IsEmpty());
}

}  // namespace
}  // namespace flyball
