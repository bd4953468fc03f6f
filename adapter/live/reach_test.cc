#include "adapter/live/reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "promql/parser.h"

namespace flyball::adapter {
namespace {

constexpr int64_t kSampleMs = 1'700'000'000'000;
constexpr int64_t kWarmupMs = 10'000;

// The earliest of the times that the query reads. nullopt: it reads no samples.
std::optional<int64_t> ReadsSince(const promql::Expr& expr, int64_t time_ms) {
  std::optional<int64_t> earliest_ms;
  ForEachRead(expr, time_ms, kWarmupMs, [&](const promql::Selector&, int64_t since_ms) {
    earliest_ms = std::min(since_ms, earliest_ms.value_or(since_ms));
  });
  return earliest_ms;
}

// How many milliseconds before now the query reads; -1: nothing.
int64_t Back(const std::string& query) {
  const auto expr = promql::Parse(query);
  EXPECT_TRUE(expr.ok()) << expr.status();
  const auto since = ReadsSince(**expr, kSampleMs);
  return since.has_value() ? kSampleMs - *since : -1;
}

TEST(ForEachRead, AddsRangesOffsetsAndSubqueries) {
  EXPECT_EQ(Back("1 + vector(2)"), -1);
  EXPECT_EQ(Back("time()"), -1);
  EXPECT_EQ(Back("x"), 10'000);
  EXPECT_EQ(Back("x offset 1m"), 70'000);
  EXPECT_EQ(Back("x offset -1m"), -50'000);
  EXPECT_EQ(Back("rate(x[1m])"), 60'000);
  EXPECT_EQ(Back("sum by (pod) (rate(x[1m] offset 30s))"), 90'000);
  EXPECT_EQ(Back("max_over_time(x[5m:1m])"), 310'000);
  EXPECT_EQ(Back("max_over_time(rate(x[1m])[5m:1m] offset 1m)"), 420'000);
  EXPECT_EQ(Back("max_over_time(max_over_time(x[1m:1s])[1m:1s])"), 130'000);
}

TEST(ForEachRead, TakesTheFurthestOfAllParts) {
  EXPECT_EQ(Back("rate(x[1m]) / rate(y[2m])"), 120'000);
  EXPECT_EQ(Back("-(rate(x[2m])) or y"), 120'000);
  EXPECT_EQ(Back("topk(scalar(max_over_time(k[3m])), x)"), 180'000);
  EXPECT_EQ(Back("label_replace(rate(x[4m]), \"a\", \"\", \"\", \"\")"), 240'000);
  EXPECT_EQ(Back("absent(x)"), 10'000);
}

TEST(ForEachRead, FollowsTimesThatAreGiven) {
  EXPECT_EQ(Back("x @ 1699999940"), 70'000);
  EXPECT_EQ(Back("rate(x[1m] @ end() offset 1m)"), 120'000);
  EXPECT_EQ(Back("rate(x[1m] @ start())"), 60'000);
  // The time inside counts, wherever the subquery lies.
  EXPECT_EQ(Back("max_over_time((x @ 1699999990)[1h:1m])"), 20'000);
  EXPECT_EQ(Back("max_over_time(x[1h:1m] @ 1699999990)"), 3'620'000);
}

TEST(ForEachRead, StopsAtTheEarliestTime) {
  const auto expr = promql::Parse("rate(x[290y] offset 290y)");
  ASSERT_TRUE(expr.ok()) << expr.status();
  EXPECT_EQ(ReadsSince(**expr, std::numeric_limits<int64_t>::min() + 1),
            std::numeric_limits<int64_t>::min());
}

std::string Checked(const std::string& query, absl::Duration age, const LiveWindow& window) {
  const auto expr = promql::Parse(query);
  EXPECT_TRUE(expr.ok()) << expr.status();
  const absl::Time at = absl::FromUnixMillis(kSampleMs) + age;
  const absl::Status status = CheckReach(**expr, absl::ToUnixMillis(at), window);
  EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
  return std::string(status.message());
}

TEST(CheckReach, RefusesWhatTheWindowDoesNotHold) {
  const LiveWindow window = {.kept = std::make_shared<KeptSince>(KeptSince({{{}, kSampleMs}})),
                             .retention = absl::Minutes(10),
                             .warmup = absl::Seconds(10)};
  EXPECT_EQ(Checked("rate(x[1m])", absl::Milliseconds(59'999), window),
            "the live source has samples since 2023-11-14T22:13:20Z, the query needs them since "
            "2023-11-14T22:13:19.999Z");
  EXPECT_EQ(Checked("rate(x[1m])", absl::Seconds(60), window), "");
  EXPECT_NE(Checked("x", absl::Seconds(9), window), "");
  EXPECT_EQ(Checked("x", absl::Seconds(10), window), "");
  EXPECT_EQ(Checked("vector(1)", absl::ZeroDuration(), window), "");
  // However long it runs, it does not remember more than the retention.
  EXPECT_EQ(Checked("rate(x[10m])", absl::Hours(1), window), "");
  EXPECT_NE(Checked("rate(x[10m] offset 1s)", absl::Hours(1), window), "");
}

TEST(CheckReach, AsksOfEachSelectorSinceWhenItIsKept) {
  const auto named = [](const char* name) { return promql::ParseSeriesSelector(name)->matchers; };
  LiveWindow window;
  window.kept = std::make_shared<KeptSince>(std::vector<KeptSince::Kept>{
      {named("old"), kSampleMs - 600'000}, {named("new"), kSampleMs - 30'000}});
  EXPECT_EQ(Checked("rate(old[1m])", absl::ZeroDuration(), window), "");
  EXPECT_NE(Checked("rate(new[1m])", absl::ZeroDuration(), window), "");
  EXPECT_EQ(Checked("rate(new{pod=\"a\"}[30s]) / rate(old[10m])", absl::ZeroDuration(), window),
            "");
  EXPECT_NE(Checked("rate(old[10m]) / rate(new[31s])", absl::ZeroDuration(), window), "");
  EXPECT_EQ(Checked("old or let_go", absl::ZeroDuration(), window),
            "the live source keeps no samples of {__name__=\"let_go\"}, which no rule in force "
            "reads or a reload has only begun to keep");
}

TEST(CheckReach, IsOffWithoutAWindow) {
  EXPECT_EQ(Checked("rate(x[1000d])", absl::ZeroDuration(), {}), "");
}

}  // namespace
}  // namespace flyball::adapter
