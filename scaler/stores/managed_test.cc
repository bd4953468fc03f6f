#include "scaler/stores/managed.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scaler/stores/autoscaler_store.h"

namespace flyball::scaler {
namespace {

// The queue has the target 60, and 20 in the first hour of each day.
std::string Own(absl::string_view then) {
  return absl::StrCat(
      R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler","metadata":{"namespace":"shop",)",
      R"("name":"web","generation":3},"spec":{"maxReplicas":20,"scaleTargetRef":{"apiVersion":)",
      R"("apps/v1","kind":"Deployment","name":"web"},"metrics":[{"type":"External","external":)",
      R"({"metric":{"name":"queue"},"target":{"type":"AverageValue","averageValue":"60"}},)",
      R"("fallback":{"then":)", then, R"(}}],"schedules":[{"name":"a","start":"0 0 * * *",)",
      R"("end":"0 1 * * *","targets":{"queue":"20"}}]}})");
}

absl::Time Hour(int hour) {
  return absl::FromCivil(absl::CivilHour(2026, 3, 4, hour), absl::UTCTimeZone());
}

int32_t CountOfFallback(const Managed& managed) {
  return managed.own.metric_fallbacks.at(0)->replicas;
}

TEST(ManagedAtTest, TheValueOfAFallbackIsMeasuredByTheTargetOfTheHour) {
  const ManagedPtr written = ReadManaged(AutoscalerKind::kOwn, Own(R"({"value":"180"})"));
  ASSERT_EQ(written->refused, "");
  EXPECT_EQ(CountOfFallback(*written), 3);
  EXPECT_EQ(CountOfFallback(*ManagedAt(written, Hour(0))), 9);
  EXPECT_EQ(CountOfFallback(*ManagedAt(written, Hour(1))), 3);
}

TEST(ManagedAtTest, TheReplicasOfAFallbackStayAtAnyTarget) {
  const ManagedPtr written = ReadManaged(AutoscalerKind::kOwn, Own(R"({"replicas":5})"));
  ASSERT_EQ(written->refused, "");
  EXPECT_EQ(CountOfFallback(*ManagedAt(written, Hour(0))), 5);
}

}  // namespace
}  // namespace flyball::scaler
