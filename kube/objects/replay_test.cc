// The answers of k8s.io/apimachinery (test/data/kube/README.md), given again by ours.
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/objects/quantity.h"
#include "kube/objects/selector.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

using nlohmann::json;

int ForEachRow(const std::string& file, const std::function<void(const json&)>& on_row) {
  std::ifstream in(FLYBALL_SOURCE_DIR "/test/data/kube/" + file);
  int rows = 0;
  for (std::string line; std::getline(in, line); ++rows) {
    const json row = json::parse(line, nullptr, false);
    EXPECT_TRUE(row.is_array()) << line;
    on_row(row);
  }
  return rows;
}

TEST(ReplayTest, QuantitiesReadAndPrintAsApimachinery) {
  const int rows = ForEachRow("quantity.jsonl", [](const json& row) {
    const auto text = row[0].get<std::string>();
    const auto quantity = Quantity::Parse(text);
    if (row.size() == 2) {
      ASSERT_FALSE(quantity.ok()) << text;
      EXPECT_EQ(quantity.status().message(), row[1].get<std::string>()) << text;
      return;
    }
    ASSERT_TRUE(quantity.ok()) << text << ": " << quantity.status();
    EXPECT_EQ(quantity->MilliValue(), row[2].get<int64_t>()) << text;
    EXPECT_EQ(quantity->Value(), row[3].get<int64_t>()) << text;
    const std::string canonical = quantity->ToString();
    // Upstream drops the suffix of 1000E and more; ours must read back as the same value.
    if (canonical.back() == 'E' && canonical != row[1]) {
      EXPECT_EQ(Quantity::Parse(canonical)->Compare(*quantity), 0) << text;
    } else {
      EXPECT_EQ(canonical, row[1].get<std::string>()) << text;
    }
  });
  EXPECT_EQ(rows, 3000);
}

TEST(ReplayTest, QuantitiesAddUpAsApimachinery) {
  const int rows = ForEachRow("quantity_sums.jsonl", [](const json& row) {
    const auto texts = row[0].get<std::vector<std::string>>();
    Quantity sum = *Quantity::Parse(texts[0]);
    for (size_t i = 1; i < texts.size(); ++i) sum = *sum.Plus(*Quantity::Parse(texts[i]));
    EXPECT_EQ(sum.MilliValue(), row[2].get<int64_t>()) << row.dump();
    EXPECT_EQ(sum.Value(), row[3].get<int64_t>()) << row.dump();
    EXPECT_EQ(sum.Compare(*Quantity::Parse(texts.back())), row[4].get<int>()) << row.dump();
    const std::string canonical = sum.ToString();
    // Upstream drops the suffix of 1000E and 1024Ei and more.
    if (canonical != row[1]) {
      EXPECT_THAT(canonical, testing::ContainsRegex("^-?[0-9]{4,}Ei?$")) << row.dump();
      if (canonical.back() == 'E' && canonical.size() <= Quantity::kMaxTextBytes) {
        EXPECT_EQ(Quantity::Parse(canonical)->Compare(sum), 0) << row.dump();
      }
    }
  });
  EXPECT_EQ(rows, 3024);
}

const std::vector<Labels>& LabelSets() {
  static const std::vector<Labels> sets = {
      {},
      {{"a", "b"}},
      {{"a", "c"}, {"app", "v1"}},
      {{"app", "a"}, {"tier", "b"}, {"5", ""}},
      {{"a", "7"}, {"b", "5"}, {"c", "12"}},
      {{"tier", ""}, {"app", ""}, {"a", ""}, {"b", ""}, {"c", ""}},
      {{"v1", "v1"}, {"10", "10"}, {"5", "5"}},
  };
  return sets;
}

TEST(ReplayTest, SelectorsReadPrintAndMatchAsApimachinery) {
  const int rows = ForEachRow("selector.jsonl", [](const json& row) {
    const auto text = row[0].get<std::string>();
    const auto selector = Selector::Parse(text);
    ASSERT_EQ(selector.ok(), row[1].get<bool>()) << text << ": " << selector.status();
    if (!selector.ok()) {
      EXPECT_EQ(selector.status().message(), row[2].get<std::string>()) << text;
      return;
    }
    EXPECT_EQ(selector->ToString(), row[2].get<std::string>()) << text;
    std::string matches;
    for (const Labels& labels : LabelSets()) matches += selector->Matches(labels) ? '1' : '0';
    EXPECT_EQ(matches, row[3].get<std::string>()) << text;
  });
  EXPECT_EQ(rows, 1300);
}

}  // namespace
}  // namespace flyball::kube
