#include "adapter/live/scrape/job_targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"

namespace flyball::scrape {
namespace {

Targets TargetsWith(const std::vector<uint64_t>& hashes) {
  Targets targets;
  for (const uint64_t hash : hashes) {
    Target& target = targets.active.emplace_back();
    target.origin = absl::StrCat("http://h:", hash);
    target.hash = hash;
  }
  return targets;
}

JobTargets::GroupName Pod(int number) { return {"kubernetes/0", absl::StrCat("pod/", number)}; }

// "+3 -4": what came, and what went.
std::string ChangesOf(JobTargets& targets) {
  JobTargets::Changes changes = targets.TakeChanges();
  std::vector<std::string> texts;
  for (const Target& target : changes.added) texts.push_back(absl::StrCat("+", target.hash));
  for (const uint64_t hash : changes.gone) texts.push_back(absl::StrCat("-", hash));
  std::sort(texts.begin(), texts.end());
  std::string text;
  for (const std::string& one : texts) absl::StrAppend(&text, text.empty() ? "" : " ", one);
  return text;
}

TEST(JobTargets, OfTenThousandPodsOnlyTheChangedOneIsTold) {
  JobTargets targets;
  for (int pod = 0; pod < 10'000; ++pod) targets.Put(Pod(pod), TargetsWith({uint64_t(pod)}));
  EXPECT_EQ(targets.TakeChanges().added.size(), 10'000u);
  EXPECT_EQ(ChangesOf(targets), "");
  targets.Put(Pod(17), TargetsWith({20'000}));
  EXPECT_EQ(ChangesOf(targets), "+20000 -17");
  targets.Put(Pod(18), TargetsWith({18, 20'001}));
  targets.Put(Pod(19), TargetsWith({}));
  targets.Put(Pod(20), TargetsWith({20}));
  EXPECT_EQ(ChangesOf(targets), "+20001 -19");
  EXPECT_EQ(targets.size(), 10'000u);
  EXPECT_EQ(targets.All().size(), 10'000u);
}

TEST(JobTargets, ATargetOfTwoGroupsIsGoneWhenBothAre) {
  JobTargets targets;
  targets.Put(Pod(1), TargetsWith({7}));
  targets.Put(Pod(2), TargetsWith({7, 8}));
  EXPECT_EQ(targets.All().size(), 2u);
  EXPECT_EQ(ChangesOf(targets), "+7 +8");
  targets.Put(Pod(2), TargetsWith({}));
  EXPECT_EQ(ChangesOf(targets), "-8");
  targets.Put(Pod(1), TargetsWith({9}));
  EXPECT_EQ(ChangesOf(targets), "+9 -7");
}

TEST(JobTargets, WhatGoesAndComesBackBetweenTwoCallsIsThere) {
  JobTargets targets;
  targets.Put(Pod(1), TargetsWith({7}));
  EXPECT_EQ(ChangesOf(targets), "+7");
  targets.Put(Pod(1), TargetsWith({}));
  targets.Put(Pod(1), TargetsWith({7}));
  targets.Put(Pod(2), TargetsWith({8}));
  targets.Put(Pod(2), TargetsWith({}));
  EXPECT_EQ(ChangesOf(targets), "+7 -8");
}

TEST(JobTargets, TellsWhenAGroupBeginsToLeaveTargetsOut) {
  JobTargets targets;
  Targets many = TargetsWith({7});
  many.left_out = 1;
  EXPECT_TRUE(targets.Put(Pod(1), many).begins);
  EXPECT_FALSE(targets.Put(Pod(1), many).begins);
  EXPECT_FALSE(targets.Put(Pod(1), TargetsWith({7})).begins);
  EXPECT_TRUE(targets.Put(Pod(1), many).begins);
}

// Each target takes 8 KiB, so a namespace alone may have eight.
TEST(JobTargets, TheTargetsOfOneNamespaceLeaveMemoryForThoseOfOthers) {
  NamespaceBudgets memory(80 << 10);
  const auto shop = memory.Of("shop"), mail = memory.Of("mail");
  JobTargets targets;
  EXPECT_EQ(targets.Put(Pod(1), TargetsWith({1, 2, 3, 4, 5, 6, 7, 8}), shop).without_room, 0u);
  const JobTargets::LeftOut first = targets.Put(Pod(2), TargetsWith({11, 12}), shop);
  EXPECT_EQ(first.without_room, 2u);
  EXPECT_TRUE(first.begins);
  EXPECT_FALSE(targets.Put(Pod(2), TargetsWith({11, 12}), shop).begins);
  EXPECT_EQ(targets.Put(Pod(3), TargetsWith({21}), mail).without_room, 0u);
  EXPECT_EQ(targets.size(), 9u);
  targets.Put(Pod(1), TargetsWith({1, 2}), shop);
  EXPECT_EQ(targets.Put(Pod(2), TargetsWith({11, 12}), shop).without_room, 0u);
  EXPECT_EQ(targets.size(), 5u);
}

TEST(JobTargets, ATargetMayTakeTheRoomOfTheOneThatItReplaces) {
  const auto budget = std::make_shared<ByteBudget>(16 << 10);
  JobTargets targets;
  EXPECT_EQ(targets.Put(Pod(1), TargetsWith({1, 2}), budget).without_room, 0u);
  EXPECT_EQ(targets.Put(Pod(2), TargetsWith({3}), budget).without_room, 1u);
  EXPECT_EQ(ChangesOf(targets), "+1 +2");
  EXPECT_EQ(targets.Put(Pod(1), TargetsWith({9, 2}), budget).without_room, 0u);
  EXPECT_EQ(ChangesOf(targets), "+9 -1");
}

TEST(JobTargets, TheTextsOfATargetCount) {
  JobTargets targets;
  Targets of_long_path = TargetsWith({1});
  of_long_path.active[0].path = std::string(20'000, 'p');
  EXPECT_EQ(
      targets.Put(Pod(1), TargetsWith({1}), std::make_shared<ByteBudget>(40'000)).without_room, 0u);
  EXPECT_EQ(targets.Put(Pod(2), of_long_path, std::make_shared<ByteBudget>(40'000)).without_room,
            0u)
      << "it is there already";
  JobTargets others;
  EXPECT_EQ(others.Put(Pod(1), of_long_path, std::make_shared<ByteBudget>(40'000)).without_room,
            1u);
}

}  // namespace
}  // namespace flyball::scrape
