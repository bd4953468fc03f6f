#include "base/go/regexp.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball::go {
namespace {

struct ExpandRow {
  std::string name;
  std::string pattern, text, as;
  std::optional<std::string> expanded;  // nullopt: no match
};

class ExpandTest : public testing::TestWithParam<ExpandRow> {};

TEST_P(ExpandTest, Row) {
  const ExpandRow& row = GetParam();
  const auto regexp = Regexp::Compile(row.pattern);
  ASSERT_TRUE(regexp.ok()) << regexp.status();
  EXPECT_EQ(regexp->Expand(row.text, row.as), row.expanded);
}

INSTANTIATE_TEST_SUITE_P(
    Go, ExpandTest,
    testing::Values(
        ExpandRow{"Number", "^(.*)_total$", "a_total", "$1", "a"},
        ExpandRow{"Braces", "^(.*)_total$", "a_total", "${1}_rate", "a_rate"},
        // The longest run of letters, digits and _ is the name: there is no group 1_rate.
        ExpandRow{"LongestName", "^(.*)_total$", "a_total", "$1_rate", ""},
        ExpandRow{"LongestNameStopsAtDash", "(.*)_total", "a_total", "$1-rate", "a-rate"},
        ExpandRow{"Named", "(?P<base>.*)_total", "a_total", "${base}x$base", "axa"},
        ExpandRow{"SameNameTwice", "(?P<n>x)?(?P<n>b)(?P<n>c)", "abc", "$n", "b"},
        ExpandRow{"NamedTheShortWay", "(?<base>.*)_total", "a_total", "$base", "a"},
        ExpandRow{"NamedAfterANamedClass", "^([[:alpha:][]+)(?<rest>.*)$", "a[1", "$rest", "1"},
        ExpandRow{"Whole", "b.*", "abc", "$0!", "bc!"},
        ExpandRow{"UnmatchedTextIsDropped", "_total$", "a_total", "$0", "_total"},
        ExpandRow{"Dollars", "a", "a", "$$1$$", "$1$"},
        ExpandRow{"LoneDollar", "a", "a", "$ $", "$ $"},
        ExpandRow{"OpenBrace", "(a)", "a", "${1", "${1"},
        ExpandRow{"EmptyBraces", "(a)", "a", "${}", "${}"},
        ExpandRow{"LeadingZeroIsAName", "(a)", "a", "$01", ""},
        ExpandRow{"MissingGroup", "(a)", "a", "[$2]", "[]"},
        ExpandRow{"GroupTookNoPart", "(x)?a", "a", "[$1]", "[]"},
        ExpandRow{"LeftmostFirst", "a|ab", "ab", "$0", "a"},
        ExpandRow{"NoMatch", "^b", "ab", "$0", std::nullopt}),
    [](const auto& info) { return info.param.name; });

TEST(CompileTest, TakesAndRefusesWhatGoDoes) {
  for (const char* good : {"(?i)a", R"(\Q(?<\E)", "[(?<a>)]", R"(\(?<a)", "[]a]", "[^]a]",
                           "a{1000}", R"(\pL\p{Greek}\z)"}) {
    EXPECT_TRUE(Regexp::Compile(good).ok()) << good;
  }
  for (const char* bad : {"(", "(?<=a)", "(?<!a)", "(?=a)", R"(\C)", R"(\Z)", R"(a\8)", "a{1001}",
                          "(?P<\xC3\xA9>a)", "(?<\xC3\xA9>a)", "\xFF", "[b-a]", "**"}) {
    EXPECT_FALSE(Regexp::Compile(bad).ok()) << bad;
  }
}

TEST(QuoteMetaTest, QuotesWhatIsSpecialOnly) {
  EXPECT_EQ(QuoteMeta("web-1.lan"), R"(web-1\.lan)");
  EXPECT_EQ(QuoteMeta(R"(a\b+c*d?e(f)g|h[i]j{k}l^m$)"),
            R"(a\\b\+c\*d\?e\(f\)g\|h\[i\]j\{k\}l\^m\$)");
}

}  // namespace
}  // namespace flyball::go
