#include <gtest/gtest.h>

#include "scaler/front/request_meter.h"

namespace flyball::scaler {
namespace {

absl::Time Metered(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

TEST(RequestMeterTest, AveragesOverTimeAndCarriesOver) {
  RequestMeter meter(Metered(0));
  meter.Begin(Metered(0), false);
  meter.Begin(Metered(0.5), true);
  MeterReport report = meter.Report(Metered(1));
  EXPECT_EQ(report.concurrency, 1.5);
  EXPECT_EQ(report.proxied_concurrency, 0.5);
  EXPECT_EQ(report.requests, 2);
  EXPECT_EQ(report.proxied_requests, 1);
  meter.End(Metered(0.2), false);  // late, so that it took no time
  report = meter.Report(Metered(2));
  EXPECT_EQ(report.concurrency, 1);
  EXPECT_EQ(report.requests, 0);
  EXPECT_EQ(meter.Report(Metered(2)).concurrency, 0);  // no time, no average
}

}  // namespace
}  // namespace flyball::scaler
