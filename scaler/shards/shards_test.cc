#include "scaler/shards/shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

AutoscalerKey Key(std::string ns, std::string name) {
  return {.kind = AutoscalerKind::kHpa, .ns = std::move(ns), .name = std::move(name)};
}

TEST(ShardOf, OneShardTakesAll) { EXPECT_EQ(ShardOf(Key("shop", "web"), 1), 0); }

TEST(ShardOf, ANamespaceStaysTogether) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(ShardOf(Key("shop", absl::StrCat("web-", i)), 7), ShardOfNamespace("shop", 7));
  }
}

// Written down so that replicas of different builds agree: a change of these numbers is a change of
// the protocol.
TEST(ShardOf, IsTheSameInEveryBuild) {
  EXPECT_EQ(ShardOfNamespace("default", 4), 0);
  EXPECT_EQ(ShardOfNamespace("shop", 4), 2);
  EXPECT_EQ(ShardOfNamespace("kube-system", 4), 1);
}

TEST(ShardOf, NamespacesSpread) {
  std::vector<int> count(8);
  for (int i = 0; i < 8000; ++i) {
    ++count[static_cast<size_t>(ShardOfNamespace(absl::StrCat("team-", i), 8))];
  }
  // 1000 each; the standard deviation is about 30.
  for (const int each : count) EXPECT_NEAR(each, 1000, 150);
}

TEST(ShardOf, OneMoreShardMovesOnlyItsPart) {
  int moved = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string ns = absl::StrCat("team-", i);
    const int before = ShardOfNamespace(ns, 9);
    const int after = ShardOfNamespace(ns, 10);
    if (before == after) continue;
    EXPECT_EQ(after, 9) << ns;  // to the new one, never between old ones
    ++moved;
  }
  EXPECT_NEAR(moved, 300, 100);
}

std::vector<std::string> Members(int count) {
  std::vector<std::string> members;
  for (int i = 0; i < count; ++i) members.push_back(absl::StrCat("flyball-", i, "_5f3a"));
  return members;
}

TEST(AssignShards, NobodyHasMoreThanTheShare) {
  for (int members = 1; members <= 9; ++members) {
    for (int shards = 1; shards <= 40; ++shards) {
      std::vector<int> load(static_cast<size_t>(members));
      for (const size_t member : AssignShards(shards, Members(members))) ++load[member];
      const int most = (shards + members - 1) / members;
      EXPECT_LE(*std::max_element(load.begin(), load.end()), most) << shards << " over " << members;
    }
  }
}

TEST(AssignShards, TheOrderOfMembersDoesNotMatter) {
  std::vector<std::string> members = Members(5);
  std::vector<std::string> turned(members.rbegin(), members.rend());
  const auto a = AssignShards(16, members);
  const auto b = AssignShards(16, turned);
  for (size_t shard = 0; shard < 16; ++shard) EXPECT_EQ(members[a[shard]], turned[b[shard]]);
}

TEST(AssignShards, AMemberThatGoesMovesFewOthers) {
  int moved = 0, kept = 0;
  for (int gone = 0; gone < 4; ++gone) {
    const std::vector<std::string> members = Members(4);
    std::vector<std::string> fewer = members;
    fewer.erase(fewer.begin() + gone);
    const auto before = AssignShards(32, members);
    const auto after = AssignShards(32, fewer);
    for (size_t shard = 0; shard < 32; ++shard) {
      if (before[shard] == static_cast<size_t>(gone)) continue;
      ++(members[before[shard]] == fewer[after[shard]] ? kept : moved);
    }
  }
  // Of 96 that were elsewhere. Without the limit on the load none would move.
  EXPECT_LE(moved, 24) << kept;
}

}  // namespace
}  // namespace flyball::scaler
