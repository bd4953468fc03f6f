#include "adapter/live/store/metadata.h"

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
  table.Note("x", std::nullopt, std::string(1023, 'a') + "\xc3\xa4", std::nullopt);
  EXPECT_EQ(table.All()[0].second.help, std::string(1023, 'a'));
  table.Note("x", std::nullopt, std::string(1022, 'a') + "\xc3\xa4zz", std::nullopt);
  EXPECT_EQ(table.All()[0].second.help, std::string(1022, 'a') + "\xc3\xa4");
}

TEST(MetadataTable, FamiliesAreAtMostSoMany) {
  MetadataTable table;
  for (size_t i = 0; i < 2 * MetadataTable::kMaxFamilies; ++i) {
    table.Note(absl::StrCat("family_", i), "gauge", std::nullopt, std::nullopt);
  }
  EXPECT_LE(table.All().size(), MetadataTable::kMaxFamilies);
  EXPECT_GT(table.All().size(), MetadataTable::kMaxFamilies / 2);
}

}  // namespace
}  // namespace flyball::live
