#include "adapter/live/store/label_order.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapter/live/store/stored_series.h"
#include "gtest/gtest.h"

namespace flyball::live {
namespace {

// Each set of labels once, in a random order, and in the order of SortByLabels.
void ExpectInOrder(std::vector<promql::LabelSet> sets, uint64_t seed) {
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  promql::SeriesList series;
  for (const promql::LabelSet& set : sets) {
    series.push_back(std::make_shared<StoredSeries>(promql::Labels(set), 1000, Watches()));
  }
  std::shuffle(series.begin(), series.end(), std::mt19937_64(seed));
  ASSERT_TRUE(SortByLabels(series).ok());
  ASSERT_EQ(series.size(), sets.size());
  for (size_t i = 0; i < sets.size(); ++i) {
    EXPECT_EQ(series[i]->labels().ToLabelSet(), sets[i]) << i << " of seed " << seed;
  }
}

TEST(SortByLabels, ManySeriesOfOneMetric) {
  std::vector<promql::LabelSet> sets;
  for (int i = 0; i < 2000; ++i) {
    sets.push_back({{"__name__", "http_requests_total"},
                    {"code", absl::StrCat(200 + i % 5)},
                    {"instance", absl::StrCat("10.1.", i % 7, ".", i % 251, ":8080")},
                    {"pod", absl::StrCat("checkout-7d4b9c6f5d-", i)}});
  }
  ExpectInOrder(std::move(sets), 1);
}

TEST(SortByLabels, TextsThatBeginOtherTextsAndLabelsThatBeginOtherLabels) {
  std::vector<promql::LabelSet> sets;
  const std::string long_text(300, 'l');
  for (const std::string& end : {std::string(), std::string("\0", 1), std::string("\0\0", 2),
                                 std::string("a"), std::string("\xff"), long_text}) {
    for (const std::string& begin : {std::string("a"), std::string("same eight"), long_text}) {
      sets.push_back({{"__name__", begin + end}});
      sets.push_back({{"__name__", begin}, {"x", "v" + end}});
      sets.push_back({{"__name__", begin}, {"x", "v" + end}, {"y", "w"}});
      sets.push_back({{"x" + end, "v"}});
    }
  }
  ExpectInOrder(std::move(sets), 2);
}

TEST(SortByLabels, RandomLabels) {
  std::mt19937_64 random(3);
  const auto text = [&random](size_t least) {
    std::string made(least + random() % 4, 'a');
    for (char& c : made) c = "ab\0\xfe"[random() % 4];
    return made;
  };
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<promql::LabelSet> sets;
    for (size_t i = 0; i < 60; ++i) {
      promql::LabelSet set = {{"__name__", text(1)}};
      for (size_t more = random() % 3; more > 0; --more) set.emplace_back(text(9), text(1));
      std::sort(set.begin(), set.end());
      const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
      set.erase(std::unique(set.begin(), set.end(), same_name), set.end());
      sets.push_back(std::move(set));
    }
    ExpectInOrder(std::move(sets), seed);
  }
}

TEST(SortByLabels, AsksAtEachRunOfManySeries) {
  promql::SeriesList series;
  for (int i = 0; i < 10'000; ++i) {
    // Two runs of half of them each, which differ in the first label.
    const promql::LabelSet set = {{"a", i % 2 == 0 ? "even" : "odd"}, {"b", absl::StrCat(i)}};
    series.push_back(std::make_shared<StoredSeries>(promql::Labels(set), 1000, Watches()));
  }
  for (const int most : {0, 1}) {
    int asked = 0;
    const auto interrupted = [&asked, most] {
      return ++asked > most ? absl::DeadlineExceededError("late") : absl::OkStatus();
    };
    EXPECT_EQ(SortByLabels(series, interrupted).message(), "late") << most;
    EXPECT_EQ(series.size(), 10'000u);
  }
}

}  // namespace
}  // namespace flyball::live
