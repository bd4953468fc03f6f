#include "adapter/live/formats/otlp_names.h"

#include <gtest/gtest.h>

namespace flyball::formats {
namespace {

OtlpMetric Metric(const char* name, const char* unit, OtlpKind kind, bool monotonic = false) {
  OtlpMetric metric;
  metric.name = name;
  metric.unit = unit;
  metric.kind = kind;
  metric.monotonic = monotonic;
  return metric;
}
std::string Gauge(const char* name, const char* unit) {
  return OtlpMetricName(Metric(name, unit, OtlpKind::kGauge)).value_or("refused");
}
std::string Counter(const char* name, const char* unit) {
  return OtlpMetricName(Metric(name, unit, OtlpKind::kSum, true)).value_or("refused");
}
std::string Level(const char* name, const char* unit) {
  return OtlpMetricName(Metric(name, unit, OtlpKind::kSum)).value_or("refused");
}

TEST(OtlpMetricName, UnitsAndTypesAreSuffixes) {
  EXPECT_EQ(Gauge("http.server.duration", "s"), "http_server_duration_seconds");
  EXPECT_EQ(Counter("requests", "{req}/s"), "requests_per_second_total");
  EXPECT_EQ(Gauge("cpu.util", "1"), "cpu_util_ratio");
  EXPECT_EQ(Counter("disk.io", "By/s"), "disk_io_bytes_per_second_total");
  EXPECT_EQ(Level("disk.io", "By/s"), "disk_io_bytes_per_second");
  EXPECT_EQ(Counter("x.total.seconds", "s"), "x_seconds_total");
  EXPECT_EQ(Counter("2xx.count", "1"), "_2xx_count_total");
  EXPECT_EQ(Gauge("ratio.of.x", "1"), "of_x_ratio");
  EXPECT_EQ(Level("queue", "1"), "queue");
  EXPECT_EQ(Level("a..b__c", ""), "a_b_c");
}

TEST(OtlpMetricName, OddUnits) {
  EXPECT_EQ(Gauge("x", "%"), "x_percent");
  EXPECT_EQ(Gauge("x", " \xc2\xa0s "), "x_seconds");
  EXPECT_EQ(Gauge("x", "a%"), "x_a_");
  EXPECT_EQ(Gauge("x", "a%/%"), "x_a_");
  EXPECT_EQ(Gauge("x", "foo/bar baz"), "x_foo_per_bar_baz");
  EXPECT_EQ(Gauge("x", "/s"), "x_per_second");
  EXPECT_EQ(Gauge("x", "s/"), "x_seconds");
}

TEST(OtlpMetricName, WithoutALetterItIsRefused) {
  EXPECT_EQ(Gauge("__", ""), "refused");
  EXPECT_EQ(Gauge("", ""), "refused");
  EXPECT_EQ(Gauge("", "s"), "seconds");
}

TEST(OtlpLabelName, OtherCharactersBecomeUnderscores) {
  EXPECT_EQ(*OtlpLabelName("a..b"), "a__b");
  EXPECT_EQ(*OtlpLabelName("_x"), "key_x");
  EXPECT_EQ(*OtlpLabelName("__x"), "__x");
  EXPECT_EQ(*OtlpLabelName("1a"), "key_1a");
  EXPECT_EQ(*OtlpLabelName("k8s.pod/name"), "k8s_pod_name");
  EXPECT_EQ(*OtlpLabelName("a\xc3\xa4z\xff"), "a_z_");
  EXPECT_EQ(*OtlpLabelName("\xc3\xa9"), "key_");
  EXPECT_FALSE(OtlpLabelName("__").ok());
  EXPECT_FALSE(OtlpLabelName("").ok());
}

}  // namespace
}  // namespace flyball::formats
