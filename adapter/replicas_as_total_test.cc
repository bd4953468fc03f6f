#include "adapter/replicas_as_total.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

using testing::HasSubstr;
using Count = rules::ReplicasInstead::Count;

MetricAsker Web(int32_t replicas, int64_t average_milli = 10'000) {
  return {.name = "shop/web",
          .average_milli = average_milli,
          .min = 2,
          .max = 20,
          .spec_replicas = replicas,
          .status_replicas = replicas};
}
rules::ReplicasInstead Given(int32_t count) { return {.count = Count::kGiven, .given = count}; }

// What a stock HPA makes of a total: its formula and its bounds, without windows and policies.
int32_t Decided(const MetricAsker& asker, int64_t total_milli) {
  const auto average = static_cast<double>(*asker.average_milli);
  const double ratio = static_cast<double>(total_milli) / (average * asker.status_replicas);
  const int32_t count =
      std::abs(ratio - 1) <= 0.1
          ? asker.status_replicas
          : static_cast<int32_t>(std::ceil(static_cast<double>(total_milli) / average));
  return std::min(std::max(count, asker.min), asker.max);
}

std::string Why(const absl::StatusOr<int64_t>& total) {
  return total.ok() ? "" : std::string(total.status().message());
}

TEST(ReplicasAsTotalTest, TheCountComesOut) {
  const MetricAsker web = Web(3);
  EXPECT_EQ(Decided(web, *ReplicasAsTotal(Given(6), {web})), 6);
  EXPECT_EQ(Decided(web, *ReplicasAsTotal({.count = Count::kMax}, {web})), 20);
  const MetricAsker below = Web(1);
  EXPECT_EQ(Decided(below, *ReplicasAsTotal({.count = Count::kMin}, {below})), 2);
  MetricAsker asleep = Web(0);
  asleep.min = 0;
  EXPECT_EQ(*ReplicasAsTotal(Given(6), {asleep}), 60'000);
  EXPECT_EQ(*ReplicasAsTotal(Given(50), {web}), 200'000) << "the maximum bounds it";
}

TEST(ReplicasAsTotalTest, NoToleranceKeepsTheMaximumAway) {
  const MetricAsker web = Web(19);
  EXPECT_EQ(Decided(web, *ReplicasAsTotal({.count = Count::kMax}, {web})), 20);
}

TEST(ReplicasAsTotalTest, WhereNobodyNeedsMoreTheMetricFails) {
  EXPECT_THAT(Why(ReplicasAsTotal(Given(3), {Web(3)})), HasSubstr("has fewer replicas"));
  EXPECT_THAT(Why(ReplicasAsTotal(Given(3), {Web(12)})), HasSubstr("has fewer replicas"));
  EXPECT_THAT(Why(ReplicasAsTotal({.count = Count::kMin}, {Web(12)})),
              HasSubstr("has fewer replicas"));
  EXPECT_THAT(Why(ReplicasAsTotal(Given(3), {})), HasSubstr("no HorizontalPodAutoscaler"));
}

// Its controller asks for no metric, and its target must not make others grow.
TEST(ReplicasAsTotalTest, OneThatIsSwitchedOffDoesNotCount) {
  EXPECT_THAT(Why(ReplicasAsTotal(Given(5), {Web(0)})), HasSubstr("are switched off"));
  const MetricAsker off = Web(0, 1'000'000);
  EXPECT_THAT(Why(ReplicasAsTotal(Given(5), {off, Web(6)})), HasSubstr("has fewer replicas"));
  EXPECT_EQ(*ReplicasAsTotal(Given(5), {off, Web(3)}), 50'000);
}

TEST(ReplicasAsTotalTest, AValueTargetHolds) {
  MetricAsker web = Web(3);
  web.average_milli.reset();
  EXPECT_THAT(Why(ReplicasAsTotal(Given(6), {web})), HasSubstr("shop/web is no AverageValue"));
}

TEST(ReplicasAsTotalTest, ATargetThatIsNotSettledHolds) {
  MetricAsker web = Web(10);
  web.status_replicas = 9;  // 11 of 9 is no tolerance, 10 of 9 might be
  EXPECT_THAT(Why(ReplicasAsTotal(Given(11), {web})), HasSubstr("not all of its replicas yet"));
}

TEST(ReplicasAsTotalTest, TooLargeATotalHolds) {
  EXPECT_THAT(Why(ReplicasAsTotal(Given(6), {Web(3, int64_t{9'000'000'000'000'000})})),
              HasSubstr("too large a total"));
}

// Whatever they have, want and share, none of those that ask gets fewer than it has, and each gets
// what it was to get, but for what its tolerance keeps.
TEST(ReplicasAsTotalTest, NobodyShrinks) {
  for (const auto& wanted : {Given(0), Given(5), Given(11), rules::ReplicasInstead{Count::kMax},
                             rules::ReplicasInstead{Count::kMin}}) {
    for (int32_t first = 0; first <= 20; ++first) {
      for (int32_t second = 0; second <= 20; ++second) {
        const std::vector<MetricAsker> both = {Web(first), Web(second, 4'000)};
        const absl::StatusOr<int64_t> total = ReplicasAsTotal(wanted, both);
        if (!total.ok()) continue;
        for (const MetricAsker& one : both) {
          if (one.status_replicas == 0) continue;  // there is no ratio
          EXPECT_GE(Decided(one, *total), one.spec_replicas) << first << " " << second;
          const int32_t count = wanted.count == Count::kMax   ? one.max
                                : wanted.count == Count::kMin ? one.min
                                                              : wanted.given;
          EXPECT_GE(Decided(one, *total) * 1.1, std::min(count, one.max));
        }
      }
    }
  }
}

}  // namespace
}  // namespace flyball::adapter
