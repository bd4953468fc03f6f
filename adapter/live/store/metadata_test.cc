#include "adapter/live/store/metadata.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::live {
namespace {

TEST(MetadataTable, WhatIsSaidLastCountsFieldByField) {
  MetadataTable table;
  table.Note("x", "counter", "first", std::nullopt);
  table.Note("x", std::nullopt, "second", "s");
  const auto all = table.All();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].first, "x");
  EXPECT_EQ(all[0].second.type, "counter");
  EXPECT_EQ(all[0].second.help, "second");
  EXPECT_EQ(all[0].second.unit, "s");
}

TEST(MetadataTable, TextsAreCutBetweenCharacters) {
  MetadataTable table;
  const std::string cut(MetadataTable::kMaxHelpBytes - 1, 'a');
  table.Note("x", std::nullopt, cut + "\xc3\xa4", std::nullopt);
  EXPECT_EQ(table.All()[0].second.help, cut);
  const std::string shorter = cut.substr(1);
  table.Note("x", std::nullopt, shorter + "\xc3\xa4zz", std::nullopt);
  EXPECT_EQ(table.All()[0].second.help, shorter + "\xc3\xa4");
}

TEST(MetadataTable, FamiliesAreAtMostSoMany) {
  MetadataTable table;
  for (size_t i = 0; i < 2 * MetadataTable::kMaxFamilies; ++i) {
    table.Note(absl::StrCat("family_", i), "gauge", std::nullopt, std::nullopt);
  }
  EXPECT_LE(table.All().size(), MetadataTable::kMaxFamilies);
  EXPECT_GT(table.All().size(), MetadataTable::kMaxFamilies / 2);
}

TEST(MetadataTable, ANamespaceThatAsksHasNoMoreThanItsPart) {
  MetadataTable table;
  const auto flood = [&](const std::string& ns) {
    for (size_t i = 0; i < 2 * MetadataTable::kMaxFamilies; ++i) {
      table.Note(absl::StrCat(ns, "_", i), "gauge", std::nullopt, std::nullopt, ns);
    }
  };
  const auto has = [&](const std::string& name) {
    const auto all = table.All();
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  };
  table.Note("asked", "gauge", std::nullopt, std::nullopt, "honest");
  table.Note("pushed", "gauge", std::nullopt, std::nullopt);
  flood("greedy");
  EXPECT_LE(table.All().size(), MetadataTable::kPart + 2);
  EXPECT_GT(table.All().size(), MetadataTable::kPart / 2);
  EXPECT_TRUE(has("asked"));
  EXPECT_TRUE(has("pushed"));
  // What was dropped is room again.
  flood("");
  EXPECT_FALSE(has("asked"));
  table.Note("greedy_again", "gauge", std::nullopt, std::nullopt, "greedy");
  EXPECT_TRUE(has("greedy_again"));
}

}  // namespace
}  // namespace flyball::live
