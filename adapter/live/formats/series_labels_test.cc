#include "adapter/live/formats/series_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace flyball::formats {
namespace {

// `name=value` of each label, by commas; or the error.
std::string Labels(absl::string_view series, MetricType type = MetricType::kUnknown,
                   bool canonical_bounds = false) {
  SeriesLabels labels;
  const absl::Status status = labels.Read(series, type, canonical_bounds);
  if (!status.ok()) return std::string(status.message());
  std::string text;
  for (const LabelView& label : labels.labels()) {
    absl::StrAppend(&text, text.empty() ? "" : ",", label.name, "=", label.value);
  }
  return text;
}

TEST(SeriesLabels, AreSortedUnescapedAndNotEmpty) {
  EXPECT_EQ(Labels("up"), "__name__=up");
  EXPECT_EQ(Labels("up {b=\"1\", a=\"x\\\\y\\\"z\\n\\q\",c=\"\"}"),
            "__name__=up,a=x\\y\"z\n\\q,b=1");
  EXPECT_EQ(Labels("{\"a.b\",Z=\"1\",\"l.\\\"x\"=\"2\"}"), "Z=1,__name__=a.b,l.\"x=2");
}

TEST(SeriesLabels, KnowsTheNamesOfThoseThatAreEmpty) {
  SeriesLabels labels;
  ASSERT_TRUE(labels.Read("up{b=\"\",a=\"1\",\"c\\\\\"=\"\"}", MetricType::kGauge, false).ok());
  EXPECT_THAT(labels.empty_names(), testing::ElementsAre("b", "c\\"));
  ASSERT_TRUE(labels.Read("up", MetricType::kGauge, false).ok());
  EXPECT_THAT(labels.empty_names(), testing::IsEmpty());

  std::string many = "up{";
  for (size_t i = 0; i < 2 * kMaxSentLabels; ++i) absl::StrAppend(&many, "l", i, "=\"\",");
  ASSERT_TRUE(labels.Read(many + "}", MetricType::kGauge, false).ok());
  EXPECT_EQ(labels.empty_names().size(), kMaxSentLabels);
}

TEST(SeriesLabels, BoundsBecomeCanonicalWhereTheTypeHasThem) {
  const std::string bucket = "a_bucket{le=\"1\",quantile=\"1\"}";
  EXPECT_EQ(Labels(bucket, MetricType::kHistogram, true), "__name__=a_bucket,le=1.0,quantile=1");
  EXPECT_EQ(Labels(bucket, MetricType::kSummary, true), "__name__=a_bucket,le=1,quantile=1.0");
  EXPECT_EQ(Labels(bucket, MetricType::kGauge, true), "__name__=a_bucket,le=1,quantile=1");
  EXPECT_EQ(Labels(bucket, MetricType::kHistogram, false), "__name__=a_bucket,le=1,quantile=1");
  EXPECT_EQ(Labels("a{le=\"1e3\"}", MetricType::kHistogram, true), "__name__=a,le=1000.0");
  EXPECT_EQ(Labels("a{le=\"many\"}", MetricType::kHistogram, true), "__name__=a,le=many");
}

TEST(SeriesLabels, RefusesALabelTwiceOrWithoutAName) {
  EXPECT_EQ(Labels("up{\"\"=\"1\"}"), "a label has no name");
  EXPECT_EQ(Labels("up{a=\"1\",a=\"2\"}"), "label \"a\" is there twice");
  EXPECT_EQ(Labels("up{__name__=\"down\"}"), "label \"__name__\" is there twice");
  const std::string longer(100'000, 'x');
  EXPECT_LT(Labels(absl::StrCat("up{", longer, "=\"1\",", longer, "=\"2\"}")).size(), 1000u);
}

TEST(SeriesLabels, ManyBoundsAndEscapesKeepTheirText) {
  std::string series = "a{";
  for (int i = 0; i < 500; ++i) absl::StrAppend(&series, "l", i, "=\"\\\\", i, "\"");
  series += "}";
  SeriesLabels labels;
  ASSERT_TRUE(labels.Read(series, MetricType::kHistogram, true).ok());
  ASSERT_EQ(labels.labels().size(), 501u);
  for (const LabelView& label : labels.labels()) {
    if (label.name == "__name__") continue;
    EXPECT_EQ(label.value, absl::StrCat("\\", label.name.substr(1)));
  }
}

}  // namespace
}  // namespace flyball::formats
