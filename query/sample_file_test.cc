#include "query/sample_file.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball::query {
namespace {

TEST(ReadSampleFile, GathersSeriesWhateverTheirSpelling) {
  const auto file = ReadSampleFile(
      "# TYPE x gauge\n"
      "x{b=\"2\",a=\"1\",gone=\"\"} 1 10\n"
      "x{a=\"1\",b=\"2\"} 3 30.5 # {trace=\"t\"} 1\n"
      "x{a=\"1\",b=\"2\"} 2 20\n"
      "x{a=\"1\",b=\"2\"} 2 20\n"
      "# EOF\n");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->newest_ms, 30'500);
  const auto series = file->series.Select({});
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0]->labels().ToLabelSet(),
            (promql::LabelSet{{"__name__", "x"}, {"a", "1"}, {"b", "2"}}));
  std::vector<promql::Point> points;
  series[0]->Read(0, 100'000, points);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].time_ms, 20'000);
  EXPECT_EQ(points[1].value, 2);
}

TEST(ReadSampleFile, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) {
    return std::string(ReadSampleFile(text).status().message());
  };
  EXPECT_EQ(error("x 1\n# EOF\n"), "a sample of x has no time stamp");
  EXPECT_EQ(error("x 1 1\nx 2 1\n# EOF\n"), "x has two values at the time stamp 1000 ms");
  EXPECT_EQ(error("x 1 1\n"), "line 2, column 1: the page does not end with # EOF, found the end");
  EXPECT_FALSE(ReadSampleFile("# EOF\n")->newest_ms.has_value());
}

}  // namespace
}  // namespace flyball::query
