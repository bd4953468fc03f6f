#include "scaler/front/envoy/load_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace flyball::front {
namespace {

using testing::IsEmpty;

void Add(envoy::StreamMetricsMessage& report, const std::string& family, const std::string& label,
         const std::string& of, double value, bool counter = false) {
  envoy::MetricFamily& added = *report.add_envoy_metrics();
  added.set_name(family);
  envoy::Metric& metric = *added.add_metric();
  envoy::Label& name = *metric.add_label();
  name.set_name(label);
  name.set_value(of);
  if (counter) {
    metric.mutable_counter()->set_value(value);
  } else {
    metric.mutable_gauge()->set_value(value);
  }
}

constexpr char kListenerLabel[] = "envoy.http_conn_manager_prefix";
constexpr char kClusterLabel[] = "envoy.cluster_name";

TEST(LoadOfTest, GathersWhatIsSaidOfAService) {
  envoy::StreamMetricsMessage report;
  Add(report, "http.downstream_rq_active", kListenerLabel, "shop/web_v2", 3);
  Add(report, "http.downstream_rq_total", kListenerLabel, "shop/web_v2", 7, /*counter=*/true);
  Add(report, "cluster.upstream_rq_active", kClusterLabel, "shop/web_v2", 2);
  Add(report, "cluster.upstream_rq_pending_active", kClusterLabel, "shop/web_v2", 1);
  Add(report, "http.downstream_rq_active", kListenerLabel, "shop/api", 5);
  const std::vector<ServiceLoad> loads = LoadOf(report);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[0].service, "shop/api");
  EXPECT_EQ(loads[0].active, 5);
  EXPECT_EQ(loads[1].service, "shop/web.v2");
  EXPECT_EQ(loads[1].active, 3);
  EXPECT_EQ(loads[1].begun, 7);
  EXPECT_EQ(loads[1].upstream_active, 2);
  EXPECT_EQ(loads[1].upstream_pending, 1);
}

TEST(LoadOfTest, OfTheEnvoyItselfAndOfOtherStatisticsNothing) {
  envoy::StreamMetricsMessage report;
  Add(report, "cluster.upstream_rq_active", kClusterLabel, "flyball", 1);
  Add(report, "http.downstream_rq_active", kListenerLabel, "admin", 1);
  Add(report, "cluster.upstream_cx_active", kClusterLabel, "shop/web", 1);
  Add(report, "http.downstream_rq_active", "other", "shop/web", 1);
  EXPECT_THAT(LoadOf(report), IsEmpty());
}

TEST(LoadOfTest, WhatIsNoNumberCountsAsNone) {
  envoy::StreamMetricsMessage report;
  Add(report, "http.downstream_rq_active", kListenerLabel, "shop/web", std::nan(""));
  Add(report, "http.downstream_rq_total", kListenerLabel, "shop/web", HUGE_VAL, /*counter=*/true);
  Add(report, "cluster.upstream_rq_active", kClusterLabel, "shop/web", -1);
  const std::vector<ServiceLoad> loads = LoadOf(report);
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].active, 0);
  EXPECT_EQ(loads[0].begun, 0);
  EXPECT_EQ(loads[0].upstream_active, 0);
}

}  // namespace
}  // namespace flyball::front
