#include "adapter/live/formats/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "adapter/live/formats/testing/recorded_page.h"
#include "adapter/live/formats/text_value.h"

namespace flyball::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RecordedPage Text(absl::string_view page) {
  RecordedPage found;
  const absl::Status status = ParseText(page, found);
  EXPECT_TRUE(status.ok()) << status;
  return found;
}

std::string TextError(absl::string_view page) {
  RecordedPage found;
  return std::string(ParseText(page, found).message());
}

RecordedPage OpenMetrics(absl::string_view page) {
  RecordedPage found;
  const absl::Status status = ParseOpenMetrics(page, found);
  EXPECT_TRUE(status.ok()) << status;
  return found;
}

std::string OpenMetricsError(absl::string_view page) {
  RecordedPage found;
  return std::string(ParseOpenMetrics(page, found).message());
}

TEST(ParseText, SamplesWithLabelsStampsAndMetadata) {
  const RecordedPage page = Text(
      "# HELP http_requests_total Requests\\nserved \\\\ \\\"all\\\".\n"
      "# TYPE http_requests_total counter\n"
      "http_requests_total{code=\"200\",path=\"/a\\\"b\"} 1027 1395066363000\n"
      "\n"
      " \t# a comment\n"
      "#TYPE x nonsense\n"
      "up{ instance = \"a\" , } \t 1e3\n"
      "{\"a.b\",l=\"v\"} -Inf");
  EXPECT_THAT(
      page.lines,
      ElementsAre("http_requests_total HELP \"Requests\\nserved \\\\ \\\\\\\"all\\\\\\\".\"",
                  "http_requests_total TYPE counter",
                  "http_requests_total{code=\"200\",path=\"/a\\\"b\"} 1027 @1395066363000",
                  "up{ instance = \"a\" , } 1000", "{\"a.b\",l=\"v\"} -Inf"));
  EXPECT_THAT(page.types,
              ElementsAre(MetricType::kCounter, MetricType::kCounter, MetricType::kCounter));
}

TEST(ParseText, ErrorsNameLineAndColumn) {
  EXPECT_EQ(TextError("a 1\nb{x=\"1\",y} 2\n"), "line 2, column 10: expected =, found \"} 2\\n\"");
  EXPECT_EQ(TextError("a"), "line 1, column 2: expected a number, found the end");
  EXPECT_EQ(TextError("a 0x1\n"), "line 1, column 3: expected a number, found \"0x1\\n\"");
  EXPECT_THAT(TextError("a 1 99999999999999999999\n"), HasSubstr("column 5: the stamp"));
  EXPECT_THAT(TextError("a 1 -5\n"), HasSubstr("column 5: expected a stamp or the line's end"));
  EXPECT_THAT(TextError("# TYPE a untold\n"), HasSubstr("line 1, column 10: expected one of"));
  EXPECT_THAT(TextError("# TYPE a  gauge\n"), HasSubstr("column 10"));  // one blank, as there
  EXPECT_THAT(TextError("{a=\"b\"} 1\n"), HasSubstr("column 8: the metric has no name"));
  EXPECT_THAT(TextError("x{\"y\"} 1\n"), HasSubstr("column 3: the metric's name stands"));
  EXPECT_THAT(TextError("x{y=\"z} 1\n"), HasSubstr("column 5: the quotes are not closed"));
  EXPECT_THAT(TextError("x{y=\"\xff\"} 1\n"),
              HasSubstr("column 5: the label's value is not UTF-8"));
}

TEST(ParseOpenMetrics, SamplesWithSecondsExemplarsAndUnits) {
  const RecordedPage page = OpenMetrics(
      "# TYPE a_seconds histogram\n"
      "# UNIT a_seconds seconds\n"
      "# HELP a_seconds How \\\"long\\\".\n"
      "a_seconds_bucket{le=\"1.0\"} 3 1.005 # {trace=\"x\"} 0.5 1.5\n"
      "a_seconds_count 3 # {} 1\n"
      "b 1 -0.0015\n"
      "# EOF\n");
  EXPECT_THAT(page.lines,
              ElementsAre("a_seconds TYPE histogram", "a_seconds UNIT seconds",
                          "a_seconds HELP \"How \\\"long\\\".\"",
                          // 1.005 * 1000 lies just below 1005 as a double.
                          "a_seconds_bucket{le=\"1.0\"} 3 @1004", "a_seconds_count 3", "b 1 @-1"));
}

TEST(ParseOpenMetrics, ErrorsNameLineAndColumn) {
  EXPECT_THAT(OpenMetricsError(""),
              HasSubstr("line 1, column 1: the page does not end with # EOF"));
  EXPECT_THAT(OpenMetricsError("a 1\n"), HasSubstr("line 2, column 1: the page does not end"));
  EXPECT_THAT(OpenMetricsError("# EOF\na 1\n"), HasSubstr("line 2, column 1: expected nothing"));
  EXPECT_THAT(OpenMetricsError("a  1\n# EOF"), HasSubstr("column 3: expected a number"));
  EXPECT_THAT(OpenMetricsError("a 1 nan\n# EOF"), HasSubstr("column 4: the stamp is not finite"));
  EXPECT_THAT(OpenMetricsError("# UNIT a_s m\n# EOF"), HasSubstr("column 12: the unit"));
  EXPECT_THAT(OpenMetricsError("# UNIT s s\n# EOF"), HasSubstr("the unit does not end"));
  EXPECT_THAT(OpenMetricsError("# a comment\n# EOF"),
              HasSubstr("expected HELP, TYPE, UNIT or EOF"));
  EXPECT_THAT(OpenMetricsError("a{x=\"1\" } 1\n# EOF"),
              HasSubstr("column 8: expected a comma or }"));
  EXPECT_THAT(OpenMetricsError("a 1 # {\"x\"} 1\n# EOF"), HasSubstr("column 11: expected ="));
  EXPECT_THAT(OpenMetricsError("a{x=\"1\n\"} 1\n# EOF"), HasSubstr("column 7: a line break"));
}

TEST(ParseValue, ReadsWhatGoReads) {
  const std::vector<std::pair<std::string, double>> read = {
      {"1", 1},
      {"-1.5", -1.5},
      {"+2", 2},
      {".5", 0.5},
      {"5.", 5},
      {"1e5", 1e5},
      {"1E-3", 1e-3},
      {"123456789012345678", 123456789012345678.},
      {"0.1", 0.1},
      {"1e-400", 0},
      {"4.9e-324", 4.9e-324},
      {"00012", 12},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
      {"-0", -0.0}};
  for (const auto& [text, value] : read) {
    const auto got = ParseValue(text);
    ASSERT_TRUE(got.has_value()) << text;
    EXPECT_EQ(std::bit_cast<uint64_t>(*got), std::bit_cast<uint64_t>(value)) << text;
  }
  for (const char* text : {"Inf", "+inf", "INFINITY"}) EXPECT_GT(*ParseValue(text), 1e308) << text;
  EXPECT_LT(*ParseValue("-Infinity"), -1e308);
  EXPECT_EQ(std::bit_cast<uint64_t>(*ParseValue("nAn")), 0x7ff8000000000001u);
  for (const char* text : {"", "-", "+", ".", "1e", "1e400", "0x1p3", "1_000", "+nan", "-nan",
                           "--1", "1 ", "e5", "1.2.3", "in", "infin", "+-1", "nan(1)", "1e+"}) {
    EXPECT_FALSE(ParseValue(text).has_value()) << text;
  }
}

TEST(FormatBound, HasAFractionOrAnExponent) {
  const std::vector<std::pair<double, std::string>> bounds = {{1, "1.0"},
                                                              {0, "0.0"},
                                                              {-0.0, "0.0"},
                                                              {0.05, "0.05"},
                                                              {100000, "100000.0"},
                                                              {1e6, "1e+06"},
                                                              {1234567, "1.234567e+06"},
                                                              {1e-5, "1e-05"},
                                                              {0.0001, "0.0001"},
                                                              {-2.5, "-2.5"}};
  for (const auto& [bound, text] : bounds) EXPECT_EQ(FormatBound(bound), text);
}

}  // namespace
}  // namespace flyball::formats
