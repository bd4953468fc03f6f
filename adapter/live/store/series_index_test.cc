#include "adapter/live/store/series_index.h"

#include <gtest/gtest.h>

#include <random>

#include "adapter/live/store/testing/make_labels.h"

namespace flyball::live {
namespace {

using Texts = std::vector<std::string>;

TEST(LiteralAlternatives, AreTheTextsThatAPatternCanMatch) {
  EXPECT_EQ(LiteralAlternatives("a"), Texts{"a"});
  EXPECT_EQ(LiteralAlternatives("b|a-1|b"), (Texts{"a-1", "b"}));
  EXPECT_EQ(LiteralAlternatives("a\\.b|c\\|d"), (Texts{"a.b", "c|d"}));
  EXPECT_EQ(LiteralAlternatives("a|"), (Texts{"", "a"}));
  for (const char* pattern : {"a.b", "a*", "(a|b)", "[ab]", "a\\d", "^a", "a$", "a{2}", "a\\"}) {
    EXPECT_EQ(LiteralAlternatives(pattern), std::nullopt) << pattern;
  }
}

// Whatever short pattern it takes apart, RE2 agrees on every short text.
TEST(LiteralAlternatives, AgreeWithTheExpression) {
  std::mt19937_64 random(1);
  const std::string characters = "ab|\\.-_*(";
  const auto make = [&](size_t most) {
    std::string text;
    for (size_t i = random() % most; i > 0; --i) text += characters[random() % characters.size()];
    return text;
  };
  int agreed = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string pattern = make(7);
    const auto matcher = promql::Matcher::Make("a", Op::kRegex, pattern);
    const auto literals = LiteralAlternatives(pattern);
    if (!matcher.ok() || !literals) continue;
    for (const std::string& literal : *literals) {
      EXPECT_TRUE(matcher->Matches(literal)) << pattern << " " << literal;
    }
    for (int j = 0; j < 30; ++j) {
      const std::string text = make(4);
      EXPECT_EQ(matcher->Matches(text), std::count(literals->begin(), literals->end(), text) > 0)
          << pattern << " " << text;
    }
    ++agreed;
  }
  EXPECT_GT(agreed, 300);
}

std::vector<SeriesPtr> Select(const SeriesIndex& index, const Selector& selector) {
  SeriesIndex::Candidates candidates = index.FindCandidates(selector);
  EXPECT_TRUE(KeepMatching(selector, promql::Interrupted(), candidates).ok());
  return candidates.series;
}

TEST(SeriesIndex, ForgetsWhatIsRemovedAndUsesItsNumberAgain) {
  SeriesIndex index;
  const auto make = [](const char* pod) {
    return std::make_shared<StoredSeries>(Named("x", {{"pod", pod}}), 1000, Watches());
  };
  const SeriesPtr a = make("a"), b = make("b");
  index.Add(a);
  index.Add(b);
  EXPECT_EQ(index.Find(Named("x", {{"pod", "a"}})), a);
  index.Remove({a, a, make("a"), make("c")});
  EXPECT_EQ(index.size(), 1u);
  EXPECT_EQ(index.Find(Named("x", {{"pod", "a"}})), nullptr);
  EXPECT_EQ(Select(index, Name("x")), std::vector<SeriesPtr>{b});
  EXPECT_TRUE(Select(index, {Is("pod", Op::kEqual, "a")}).empty());
  const SeriesPtr again = make("a");
  index.Add(again);
  EXPECT_EQ(Select(index, {Is("pod", Op::kEqual, "a")}), std::vector<SeriesPtr>{again});
  EXPECT_EQ(Select(index, {}).size(), 2u);
}

TEST(SeriesIndex, TellsWhetherNamesAreNew) {
  SeriesIndex index;
  const auto make = [](const std::string& name, promql::LabelSet labels) {
    return std::make_shared<StoredSeries>(Named(name, std::move(labels)), 1000, Watches());
  };
  const SeriesPtr a = make("x", {{"pod", "a"}}), b = make("x", {{"pod", "b"}});
  EXPECT_TRUE(index.Add(a));
  EXPECT_FALSE(index.Add(b)) << "only a value is another";
  EXPECT_TRUE(index.Add(make("y", {{"pod", "a"}})));
  EXPECT_TRUE(index.Add(make("x", {{"pod", "a"}, {"ns", "a"}})));
  EXPECT_TRUE(index.Add(make("x", {{"pods", "a"}})));
  index.Remove({a});
  EXPECT_FALSE(index.Add(a)) << "b has them";
  index.Remove({a, b});
  EXPECT_TRUE(index.Add(b));
}

}  // namespace
}  // namespace flyball::live
