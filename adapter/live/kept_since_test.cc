#include "adapter/live/kept_since.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "promql/parser.h"

namespace flyball::adapter {
namespace {

live::Selector Of(const std::string& text) {
  const auto parsed = promql::ParseSeriesSelector(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed->matchers;
}

std::optional<std::vector<live::Selector>> All(const std::vector<std::string>& texts) {
  std::vector<live::Selector> selectors;
  for (const std::string& text : texts) selectors.push_back(Of(text));
  return selectors;
}

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

KeptSince Everything(int64_t since_ms) { return KeptSince({{{}, since_ms}}); }

TEST(KeptSince, WhatWasKeptGoesOnAndTheRestBegins) {
  const KeptSince at_start = Everything(100).After(All({"a", "b{pod!=\"\"}"}), 150);
  EXPECT_EQ(at_start.Of(Of("a")), 100);
  const KeptSince reloaded = at_start.After(All({"a", "b", "c"}), 200);
  EXPECT_EQ(reloaded.Of(Of("a")), 100);
  EXPECT_EQ(reloaded.Of(Of("a{pod=\"x\"}")), 100);
  EXPECT_EQ(reloaded.Of(Of("b")), 200) << "those without a pod were not kept";
  EXPECT_EQ(reloaded.Of(Of("c")), 200);
}

TEST(KeptSince, WhatWasLetGoBeginsAnew) {
  const KeptSince without = Everything(100).After(All({"a", "b"}), 150).After(All({"a"}), 200);
  EXPECT_EQ(without.Of(Of("a")), 100);
  EXPECT_EQ(without.After(All({"a", "b"}), 300).Of(Of("b")), 300);
}

TEST(KeptSince, ANarrowerSelectorOfWhatWasKeptGoesOn) {
  const KeptSince narrower =
      Everything(100).After(All({"a"}), 150).After(All({"a{pod!=\"\"}"}), 200);
  EXPECT_EQ(narrower.Of(Of("a{pod!=\"\",ns=\"x\"}")), 100);
}

// The rules' selectors say that there is a namespace, and a request says which.
TEST(KeptSince, OfANamespaceThereIsAllThatIsKeptOfAnyNamespace) {
  const KeptSince reloaded =
      Everything(100).After(All({"a{ns!=\"\"}"}), 150).After(All({"a{ns!=\"\"}", "b"}), 200);
  EXPECT_EQ(reloaded.Of(Of("a{ns=\"x\"}")), 100);
  EXPECT_EQ(reloaded.Of(Of("a{ns=~\"x|y\"}")), 100);
  EXPECT_EQ(reloaded.Of(Of("a{ns=~\"x|\"}")), 200) << "those without one were not kept";
  EXPECT_EQ(reloaded.Of(Of("a{ns=\"\"}")), kNever);
  EXPECT_EQ(reloaded.Of(Of("a")), 200);
  const KeptSince names({{Of("{__name__=~\"a.*\"}"), 100}, {Of("b"), 200}});
  EXPECT_EQ(names.Of(Of("a1{ns=\"x\"}")), 100);
  EXPECT_EQ(names.Of(Of("c")), kNever);
}

TEST(KeptSince, EverythingBeginsWhereNothingWasKept) {
  const KeptSince everything = Everything(100).After(All({"a"}), 150).After(std::nullopt, 200);
  EXPECT_EQ(everything.Of(Of("a")), 100);
  EXPECT_EQ(everything.Of(Of("b")), 200);
  EXPECT_EQ(everything.After(All({"a", "b"}), 300).Of(Of("b")), 200);
}

TEST(KeptSince, OfWhatIsNotKeptTheLatestCounts) {
  const KeptSince kept({{Of("a"), 100}, {Of("b"), 200}});
  EXPECT_EQ(kept.Of(Of("{__name__=~\"a|b\"}")), 200);
  EXPECT_EQ(kept.Of(Of("{__name__=~\"a|b\",__name__=\"a\"}")), 100);
}

// Else a query of the rules before a reload would find none of its series and say that all is idle.
TEST(KeptSince, WhatIsCertainlyNotKeptIsNeverKnown) {
  const KeptSince reloaded = Everything(100).After(All({"a", "b"}), 150).After(All({"b"}), 200);
  EXPECT_EQ(reloaded.Of(Of("a{ns=\"x\"}")), kNever);
  EXPECT_EQ(reloaded.Of(Of("b")), 100);
  EXPECT_EQ(reloaded.Of(Of("{__name__=~\"a|b\"}")), 100) << "it may be b";
  EXPECT_EQ(KeptSince({}).Of(Of("a")), kNever);
}

TEST(KeptSince, WhatGetsAPastIsKnownSinceThen) {
  const KeptSince kept = Everything(100).After(All({"a", "b"}), 150);
  const KeptSince warmed = kept.Earlier(Of("a"), 40).Earlier(Of("b"), 120);
  EXPECT_EQ(warmed.Of(Of("a{pod=\"x\"}")), 40);
  EXPECT_EQ(warmed.Of(Of("b")), 100) << "not later than it was";
}

TEST(KeptSince, WhatBeganAtTheStartBeginsLater) {
  const KeptSince kept({{Of("of_a_snapshot"), 40}, {Of("a"), 100}, {Of("b"), 300}});
  const KeptSince later = kept.NotBefore(100, 200);
  EXPECT_EQ(later.Of(Of("of_a_snapshot")), 40);
  EXPECT_EQ(later.Of(Of("a")), 200);
  EXPECT_EQ(later.Of(Of("b")), 300);
}

}  // namespace
}  // namespace flyball::adapter
