#include "adapter/queries/names_room.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/go/url.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

// A template that repeats its matchers.
absl::StatusOr<std::string> Ratio(const std::vector<std::string>& names) {
  const std::string matcher = absl::StrCat(
      "po=~\"", absl::StrReplaceAll(absl::StrJoin(names, "|"), {{".", "\\\\."}}), "\"");
  return absl::StrCat("sum(a{", matcher, "}) by (po) / sum(b{", matcher, "}) by (po)");
}

TEST(NamesRoomTest, FillsTheQueryAndNoMore) {
  constexpr size_t kMax = 1000;
  const NamesRoom room(kMax, Ratio);
  std::vector<std::string> names;
  size_t bytes = 0;
  for (int i = 0; bytes <= room.bytes(); ++i) {
    names.push_back(absl::StrCat("shop-7d9c5b6f7c.x", i));
    bytes += room.Of(names.back());
  }
  EXPECT_GT(go::QueryEscape(*Ratio(names)).size(), kMax - 2 * sizeof "%7C");
  names.pop_back();
  EXPECT_LE(go::QueryEscape(*Ratio(names)).size(), kMax);
}

TEST(NamesRoomTest, WithoutALimitOrAQueryThereIsNoEnd) {
  const size_t endless = NamesRoom().bytes();
  EXPECT_EQ(NamesRoom(0, Ratio).bytes(), endless);
  const auto none = [](const auto&) -> absl::StatusOr<std::string> {
    return absl::NotFoundError("none");
  };
  EXPECT_EQ(NamesRoom(1000, none).bytes(), endless);
  EXPECT_EQ(NamesRoom(0, Ratio).Of("a"), 0u);
}

TEST(NamesRoomTest, AQueryThatIsTooLongWithoutNamesHasNoRoom) {
  EXPECT_EQ(NamesRoom(10, Ratio).bytes(), 0u);
}

}  // namespace
}  // namespace flyball::adapter
