#include "kube/objects/selector.h"

#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/objects/label_selector.h"

namespace flyball::kube {
namespace {

struct SelectorRow {
  std::string text;
  std::string canonical;  // "" = refused
};

class ParseTest : public testing::TestWithParam<SelectorRow> {};

TEST_P(ParseTest, Row) {
  const auto selector = Selector::Parse(GetParam().text);
  if (GetParam().canonical.empty()) {
    EXPECT_EQ(selector.status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  ASSERT_TRUE(selector.ok()) << selector.status();
  EXPECT_EQ(selector->ToString(), GetParam().canonical);
}

INSTANTIATE_TEST_SUITE_P(Accepted, ParseTest,
                         testing::Values(SelectorRow{"x,!y,verb = GET , code notin(500,503)",
                                                     "code notin (500,503),verb=GET,x,!y"},
                                         SelectorRow{"in in (in)", "in in (in)"},
                                         SelectorRow{"a in (c,b,c)", "a in (b,c)"},
                                         SelectorRow{"a=", "a="}, SelectorRow{"a in ()", "a in ()"},
                                         SelectorRow{"a in (b,)", "a in (,b)"},
                                         SelectorRow{"a==b", "a==b"},
                                         SelectorRow{"b>5,a<4", "a<4,b>5"},
                                         SelectorRow{"a=b,a=c", "a=b,a=c"}));

INSTANTIATE_TEST_SUITE_P(
    Refused, ParseTest,
    testing::Values(SelectorRow{"a b", ""}, SelectorRow{"a=b c", ""}, SelectorRow{"a,", ""},
                    SelectorRow{",a", ""}, SelectorRow{"a,,b", ""}, SelectorRow{"!a=b", ""},
                    SelectorRow{"!!a", ""}, SelectorRow{"a===b", ""}, SelectorRow{"a>=1", ""},
                    SelectorRow{"a>1.5", ""}, SelectorRow{"a in b", ""}, SelectorRow{"a in (b", ""},
                    SelectorRow{"(a)", ""}, SelectorRow{"=b", ""}, SelectorRow{"a=\"b\"", ""},
                    SelectorRow{"a=b/c", ""}, SelectorRow{"a=*", ""}, SelectorRow{"_a", ""},
                    SelectorRow{"a=-b", ""}, SelectorRow{"X.com/y=z", ""}, SelectorRow{"a>-1", ""},
                    SelectorRow{std::string(64, 'k'), ""},
                    SelectorRow{"a=" + std::string(64, 'v'), ""}));

TEST(ParseTest, ANulBehindATokenIsSwallowed) {
  const auto read = [](absl::string_view text) {
    const auto selector = Selector::Parse(std::string(text));
    return selector.ok() ? selector->ToString() : "refused";
  };
  EXPECT_EQ(read(absl::string_view("k=\0x", 4)), "k=x");
  EXPECT_EQ(read(absl::string_view("k==\0x", 5)), "k==x");
  EXPECT_EQ(read(absl::string_view("k\0=x", 4)), "k=x");
  EXPECT_EQ(read(absl::string_view("k in (\0a)", 9)), "k in (a)");
  EXPECT_EQ(read(absl::string_view("!\0k", 3)), "!k");
  EXPECT_EQ(read(absl::string_view("\0k", 2)), "");
  EXPECT_EQ(read(absl::string_view("k=x,\0\0y", 7)), "refused");
}

// What 1.34 refuses and later versions read, and the words that changed.
TEST(ParseTest, LabelRulesOf135) {
  EXPECT_FALSE(Selector::Parse("a in (b,,)").ok());
  for (const char* text : {"a in (b,,)", "a in (,b)", "a in (b,)", "a in (b,,,)"}) {
    const auto selector = Selector::Parse(text, LabelRules::k1_35);
    ASSERT_TRUE(selector.ok()) << text << ": " << selector.status();
    EXPECT_EQ(selector->ToString(), "a in (,b)") << text;
  }
  EXPECT_EQ(Selector::Parse("a in (b,,c,d)", LabelRules::k1_35)->ToString(), "a in (,b,c,d)");
  const auto message = [](const std::string& text, LabelRules rules) {
    return std::string(Selector::Parse(text, rules).status().message());
  };
  const std::string long_key(64, 'k');
  EXPECT_THAT(message("a/b/c", LabelRules::k1_34), testing::HasSubstr("a qualified name must"));
  EXPECT_THAT(message("a/b/c", LabelRules::k1_35), testing::HasSubstr("a valid label key must"));
  EXPECT_THAT(message(long_key, LabelRules::k1_34), testing::HasSubstr("than 63 characters"));
  EXPECT_THAT(message(long_key, LabelRules::k1_35), testing::HasSubstr("than 63 bytes"));
  EXPECT_THAT(message("a=" + long_key, LabelRules::k1_35), testing::HasSubstr("than 63 bytes"));
}

TEST(ParseTest, EmptyTextMatchesEverything) {
  const auto selector = Selector::Parse("  ");
  ASSERT_TRUE(selector.ok());
  EXPECT_TRUE(selector->empty());
  EXPECT_TRUE(selector->Matches({{"a", "b"}}));
}

TEST(MatchesTest, NegativeTermsMatchWithoutTheKey) {
  EXPECT_TRUE(Selector::Parse("a!=b,c notin (d),!e")->Matches({}));
  EXPECT_FALSE(Selector::Parse("a=b,a=c")->Matches({{"a", "b"}}));
  EXPECT_FALSE(Selector::Parse("a>4")->Matches({{"a", "x"}}));
  EXPECT_TRUE(Selector::Parse("a>4")->Matches({{"a", "5"}}));
}

TEST(LabelSelectorTest, ReadsAsTheTextForm) {
  const LabelSelector form = {
      .match_labels = {{"app", "web"}},
      .match_expressions = {{"tier", "In", {"b", "a"}}, {"x", "DoesNotExist", {}}}};
  const auto selector = form.ToSelector();
  ASSERT_TRUE(selector.ok()) << selector.status();
  EXPECT_EQ(selector->ToString(), "app=web,tier in (a,b),!x");
  // Text has each value once, a list as often as it is given.
  const LabelSelector twice = {.match_labels = {}, .match_expressions = {{"t", "In", {"b", "b"}}}};
  EXPECT_EQ(twice.ToSelector()->ToString(), "t in (b,b)");
  EXPECT_EQ(Selector::Parse("t in (b,b)")->ToString(), "t in (b)");
}

TEST(LabelSelectorTest, RefusesWhatUpstreamRefuses) {
  const auto error = [](LabelSelector::Expression expression) {
    return std::string(
        LabelSelector{.match_labels = {}, .match_expressions = {std::move(expression)}}
            .ToSelector()
            .status()
            .message());
  };
  EXPECT_EQ(error({"a", "Gt", {"1"}}), "\"Gt\" is not a valid label selector operator");
  EXPECT_EQ(error({"a", "In", {}}),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
  EXPECT_EQ(
      error({"a", "Exists", {"b"}}),
      "values: Invalid value: [\"b\"]: values set must be empty for exists and does not exist");
  EXPECT_TRUE(absl::StartsWith(error({"a", "Exists", {"b", "<\x01"}}),
                               R"([values: Invalid value: ["b","\u003c\u0001"]: values set)"));
  EXPECT_TRUE(absl::StartsWith(error({"a", "In", {"z", "-x", "b"}}), "values[1][a]: Invalid"));
}

// Upstream names each; whoever sends thousands is told of the first.
TEST(SelectorTest, OfManyWrongValuesEightAreNamed) {
  std::string values = "-0";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&values, ",-", i);
  const std::string message(Selector::Parse("a in (" + values + ")").status().message());
  EXPECT_TRUE(absl::StrContains(message, "values[7][a]: Invalid value: \"-104\"")) << message;
  EXPECT_FALSE(absl::StrContains(message, "values[8]")) << message;
  EXPECT_LT(message.size(), 4096u);
}

}  // namespace
}  // namespace flyball::kube
