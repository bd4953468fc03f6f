#include "scaler/triggers/parts/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

absl::StatusOr<double> Find(absl::string_view page, absl::string_view selector) {
  const auto parsed = SampleSelector::Parse(selector);
  if (!parsed.ok()) return parsed.status();
  return FindSample(page, *parsed);
}

constexpr char kPage[] =
    "# HELP depth {not} a sample\n"
    "# TYPE depth gauge\n"
    "depth_total 99\r\n"
    "depth{queue=\"a\"} 1\r\n"
    "depth{queue=\"b\", path=\"C:\\\\x \\\"y\\\"\\n\" ,} 2 1700000000000\n"
    "  depth \t3\n"
    "broken{\n"
    "ratio +Inf\n"
    "count 1e3";

TEST(FindSampleTest, TheFirstThatFits) {
  EXPECT_EQ(*Find(kPage, "depth"), 1);
  EXPECT_EQ(*Find(kPage, "depth{queue=\"b\"}"), 2);
  EXPECT_EQ(*Find(kPage, R"(depth{path="C:\\x \"y\"\n"})"), 2);
  EXPECT_EQ(*Find(kPage, "depth_total"), 99);
  EXPECT_EQ(*Find(kPage, "count"), 1000);  // the last line needs no end
  EXPECT_TRUE(std::isinf(*Find(kPage, "ratio")));
}

TEST(FindSampleTest, LinesOfOthersDoNotMatter) {
  EXPECT_EQ(Find(kPage, "depth{queue=\"c\"}").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Find(kPage, "dept").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Find("", "depth").status().code(), absl::StatusCode::kNotFound);
}

TEST(FindSampleTest, AMalformedLineIsNamed) {
  for (const char* line :
       {"m", "m{", "m{a}", "m{a=1} 1", "m{a=\"1} 1", "m{a=\"1\" b=\"2\"} 1", "m x", "m {a=\"1\\"}) {
    const auto got = Find(absl::StrCat("# x\n", line, "\n"), "m");
    EXPECT_EQ(got.status().code(), absl::StatusCode::kFailedPrecondition) << line;
    EXPECT_THAT(std::string(got.status().message()), HasSubstr("line 2: ")) << line;
  }
}

std::string Labels(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, "a", i, "=\"", i, "\",");
  return out;
}

// Both come from one who may write an Autoscaler, and kept they would take many times their size.
TEST(FindSampleTest, ASampleHasNoMoreLabelsThanTheLimit) {
  EXPECT_EQ(*Find(absl::StrCat("m{", Labels(64), "} 7\n"), absl::StrCat("m{", Labels(64), "}")), 7);
  const std::string many = absl::StrCat("m{", Labels(65), "}");
  EXPECT_EQ(*Find(absl::StrCat("n", many, " 6\nm 7\n"), "m"), 7);  // of another metric
  const absl::Status got = Find(absl::StrCat("# x\n", many, " 7\n"), "m").status();
  EXPECT_EQ(got.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(got.message()), "line 2: expected at most 64 labels");
  EXPECT_THAT(std::string(SampleSelector::Parse(many).status().message()),
              HasSubstr("a selector has more than 64 matchers"));
}

TEST(FindSampleTest, AllOfSeveralLabelsFitWhateverTheirOrder) {
  constexpr char kLabelled[] = "m{a=\"1\",b=\"2\",c=\"\\\\\\n\\\"x\"} 1\nm{b=\"1\",a=\"2\"} 2\n";
  EXPECT_EQ(*Find(kLabelled, R"(m{c="\\\n\"x",b="2"})"), 1);
  EXPECT_EQ(*Find(kLabelled, R"(m{a="2",b="1",a="2"})"), 2);
  EXPECT_FALSE(Find(kLabelled, R"(m{a="1",b="1"})").ok());
  EXPECT_FALSE(Find(kLabelled, R"(m{c="\\\n\""})").ok());  // the beginning of a value
}

// As KEDA, which reads them with PromQL's parser.
TEST(SampleSelectorTest, EveryFormOfASelectorIsTaken) {
  for (const char* form : {"depth{queue=\"b\"}", "depth{queue='b'}", "depth{queue=`b`}",
                           "{__name__=\"depth\",queue=\"b\"}", "{\"depth\", queue='b'}"}) {
    const absl::StatusOr<double> got = Find(kPage, form);
    ASSERT_TRUE(got.ok()) << form << ": " << got.status();
    EXPECT_EQ(*got, 2) << form;
  }
  EXPECT_EQ(*Find(kPage, R"(depth{path=`C:\x "y"
`})"),
            2);
}

TEST(SampleSelectorTest, OnlyEqualityIsTaken) {
  for (const char* bad : {"", "{a=\"b\"}", "1x", "m{a!=\"b\"}", "m{a=~\"b\"}", "m{a=\"b\"} > 1",
                          "m{a=\"b\"", "sum(m)"}) {
    EXPECT_EQ(SampleSelector::Parse(bad).status().code(), absl::StatusCode::kInvalidArgument)
        << bad;
  }
  // Statuses and events would repeat it.
  for (const char* bad : {"sum(m{a=\"X\"})", "m X"}) {
    const std::string text = absl::StrReplaceAll(bad, {{"X", std::string(5000, 'x')}});
    EXPECT_EQ(std::string(SampleSelector::Parse(text).status().message()),
              "expected a metric like name{label=\"value\"}");
  }
  const auto good = SampleSelector::Parse(" m { a = \"b\" , } ");
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_EQ(good->name, "m");
  EXPECT_EQ(good->labels.size(), 1u);
}

}  // namespace
}  // namespace flyball::scaler
