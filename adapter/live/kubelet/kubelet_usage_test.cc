#include "adapter/live/kubelet/kubelet_usage.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::kubelet {
namespace {

// Two containers and the node; CPU in seconds, stamps in ms.
std::string PageOf(double cpu_a, int64_t stamp_a, double cpu_b, int64_t stamp_b) {
  const std::string a = R"({container="a",namespace="shop",pod="web"})";
  const std::string b = R"({container="b",namespace="shop",pod="web"})";
  return absl::StrCat("# TYPE container_cpu_usage_seconds_total counter\n",
                      "container_cpu_usage_seconds_total", a, " ", cpu_a, " ", stamp_a,
                      "\ncontainer_cpu_usage_seconds_total", b, " ", cpu_b, " ", stamp_b,
                      "\ncontainer_memory_working_set_bytes", a, " 1e+06 ", stamp_a,
                      "\ncontainer_memory_working_set_bytes", b, " 2e+06 ", stamp_b,
                      "\ncontainer_start_time_seconds", a, " 1000\ncontainer_start_time_seconds", b,
                      " 1000\n", "node_cpu_usage_seconds_total 50 ", stamp_a,
                      "\nnode_memory_working_set_bytes 3e+09 ", stamp_a, "\nscrape_error 0\n");
}

class KubeletUsageTest : public testing::Test {
 protected:
  void Take(const std::string& page) {
    auto points = ReadNodePoints(page);
    ASSERT_TRUE(points.ok()) << points.status();
    usage_.Replace("n1", *std::move(points));
  }
  KubeletUsage usage_{15'000};
  const PodId web_ = {"shop", "web"};
};

TEST_F(KubeletUsageTest, TheMeanBetweenTwoPointsByTheirOwnStamps) {
  Take(PageOf(10, 2'000'000, 20, 2'000'500));
  EXPECT_FALSE(usage_.Pod(web_).has_value());
  EXPECT_FALSE(usage_.Node("n1").has_value());
  Take(PageOf(11.5, 2'015'020, 20.1, 2'012'500));
  const auto pod = usage_.Pod(web_);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->stamp_ms, 2'012'500);  // the earlier one of the two, with its window
  EXPECT_EQ(pod->window_ms, 12'000);
  ASSERT_EQ(pod->containers.size(), 2u);
  EXPECT_EQ(pod->containers[0].second.cpu_nanocores, 99'866'844u);  // 1.5 s / 15.02 s, cut
  EXPECT_EQ(pod->containers[0].second.memory_bytes, 1'000'000u);
  EXPECT_EQ(usage_.Node("n1")->usage.cpu_nanocores, 0u);
}

TEST_F(KubeletUsageTest, AStampThatRepeatsKeepsTheEarlierPoint) {
  Take(PageOf(10, 2'000'000, 20, 2'000'000));
  Take(PageOf(11, 2'010'000, 21, 2'010'000));
  Take(PageOf(11, 2'010'000, 21, 2'010'000));
  ASSERT_TRUE(usage_.Pod(web_).has_value());
  EXPECT_EQ(usage_.Pod(web_)->window_ms, 10'000);
}

TEST_F(KubeletUsageTest, AYoungContainerCountsFromItsStart) {
  Take(PageOf(3, 1'012'000, 6, 1'012'000));
  const auto pod = usage_.Pod(web_);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->window_ms, 12'000);
  EXPECT_EQ(pod->containers[0].second.cpu_nanocores, 250'000'000u);
}

TEST_F(KubeletUsageTest, CpuThatGoesBackLeavesTheContainerOut) {
  Take(PageOf(10, 2'000'000, 20, 2'000'000));
  Take(PageOf(9, 2'010'000, 21, 2'010'000));
  const auto pod = usage_.Pod(web_);
  ASSERT_TRUE(pod.has_value());
  ASSERT_EQ(pod->containers.size(), 1u);
  EXPECT_EQ(pod->containers[0].first, "b");
}

TEST_F(KubeletUsageTest, APodWithAContainerThatHasNoCpuIsLeftOut) {
  Take(PageOf(0, 2'000'000, 20, 2'000'000));
  Take(PageOf(0, 2'010'000, 21, 2'010'000));
  EXPECT_FALSE(usage_.Pod(web_).has_value());
}

TEST_F(KubeletUsageTest, WhatIsMissingFromAPageVanishes) {
  Take(PageOf(10, 2'000'000, 20, 2'000'000));
  Take(PageOf(11, 2'010'000, 21, 2'010'000));
  EXPECT_TRUE(usage_.Pod(web_).has_value());
  Take("");
  EXPECT_FALSE(usage_.Pod(web_).has_value());
}

}  // namespace
}  // namespace flyball::kubelet
