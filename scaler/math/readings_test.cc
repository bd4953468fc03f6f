#include "scaler/math/readings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

constexpr absl::Time kRead = absl::FromUnixSeconds(1767225600);

kube::Quantity Q(absl::string_view text) { return *kube::Quantity::Parse(text); }

PodTable TableOf(const std::vector<std::string>& names) {
  std::vector<Pod> pods(names.size());
  std::vector<const Pod*> views;
  for (size_t i = 0; i < names.size(); ++i) {
    pods[i].name = names[i];
    views.push_back(&pods[i]);
  }
  return PodTable(views, {}, {});
}

PodMetrics Using(const char* name, std::vector<ResourceList> containers) {
  PodMetrics pod;
  pod.name = name;
  pod.timestamp = kRead;
  for (size_t i = 0; i < containers.size(); ++i) {
    pod.containers.push_back({.name = i == 0 ? "app" : "log", .usage = containers[i]});
  }
  return pod;
}

// "row:value" of every sample.
std::string Samples(const Reading& reading) {
  std::string out;
  for (const PodSample& sample : reading.samples) {
    absl::StrAppend(&out, out.empty() ? "" : " ", sample.row, ":", sample.value_milli);
  }
  return out;
}

TEST(ReadResourceTest, PodsAreSummedAndMatchedByName) {
  const PodTable table = TableOf({"a", "b", "c"});
  MetricsAnswer<PodMetrics> answer;
  answer.items = {Using("c", {{{"cpu", Q("1")}}, {{"cpu", Q("500m")}}}),
                  Using("stranger", {{{"cpu", Q("7")}}}),
                  Using("a", {{{"cpu", Q("1")}}, {{"memory", Q("1Gi")}}}),  // log has no cpu
                  Using("b", {})};
  Reading reading;
  ReadResource(answer, "cpu", "", table, reading);
  EXPECT_EQ(Samples(reading), "2:1500 -1:7000");
  EXPECT_EQ(reading.timestamp, kRead);
  ReadResource(answer, "cpu", "app", table, reading);
  EXPECT_EQ(Samples(reading), "2:1000 -1:7000 0:1000");
}

TEST(ReadResourceTest, OfARepeatedNameTheLastStays) {
  const PodTable table = TableOf({"a"});
  MetricsAnswer<PodMetrics> answer;
  answer.items = {Using("a", {{{"cpu", Q("1")}}}), Using("x", {{{"cpu", Q("2")}}}),
                  Using("a", {{{"cpu", Q("3")}}}), Using("x", {{{"cpu", Q("4")}}}),
                  Using("a", {})};  // no sample: changes nothing
  Reading reading;
  ReadResource(answer, "cpu", "", table, reading);
  EXPECT_EQ(Samples(reading), "0:3000 -1:4000");
}

TEST(ReadResourceTest, AnEmptyAnswerAndAFailedOneAreErrors) {
  const PodTable table = TableOf({"a"});
  MetricsAnswer<PodMetrics> answer;
  Reading reading;
  ReadResource(answer, "cpu", "", table, reading);
  EXPECT_EQ(reading.error, "no metrics returned from resource metrics API");
  answer.error = "down";
  ReadResource(answer, "cpu", "", table, reading);
  EXPECT_EQ(reading.error, "unable to fetch metrics from resource metrics API: down");
}

TEST(ReadObjectMetricTest, AnythingButOneItemIsAnError) {
  MetricsAnswer<ObjectMetric> answer;
  Reading reading;
  ReadObjectMetric(answer, reading);
  EXPECT_EQ(reading.error,
            "unable to fetch metrics from custom metrics API: the custom metrics API server "
            "returned 0 results when we asked for exactly one");
  answer.items.emplace_back().value = Q("1500u");
  ReadObjectMetric(answer, reading);
  EXPECT_EQ(reading.error, "");
  EXPECT_EQ(reading.amounts_milli, std::vector<int64_t>({2}));
}

}  // namespace
}  // namespace flyball::scaler
