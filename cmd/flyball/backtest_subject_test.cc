#include "cmd/flyball/backtest_subject.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::cmd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// `more` are further fields of the spec, `annotations` those of the object.
absl::StatusOr<BacktestSubject> Subject(const std::string& kind, const std::string& more,
                                        const std::string& annotations = "{}") {
  const bool own = kind == "Autoscaler";
  scaler::ClusterSnapshot snapshot;
  const absl::Status added = scaler::AddFile(
      "web.yaml",
      absl::StrCat("apiVersion: ", own ? "flyball.dev/v1alpha1" : "autoscaling/v2", "\nkind: ",
                   kind, "\nmetadata: {name: web, namespace: shop, annotations: ", annotations,
                   "}\nspec:\n  maxReplicas: 20\n  minReplicas: 2\n",
                   "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n", more),
      snapshot);
  EXPECT_TRUE(added.ok()) << added;
  return SubjectOf(snapshot);
}

constexpr char kMetrics[] =
    "  metrics:\n"
    "  - type: External\n"
    "    external: {metric: {name: load}, target: {type: AverageValue, averageValue: 50}}\n";
constexpr char kWindow[] = "{name: a, start: '* * * * *', end: '0 0 1 1 *', minReplicas: 6}";

TEST(BacktestSubject, HasItsSchedules) {
  const auto own = Subject("Autoscaler", absl::StrCat(kMetrics, "  schedules: [", kWindow, "]\n"));
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->schedules.windows.size(), 1u);
  EXPECT_THAT(own->notes, IsEmpty());
  const auto hpa = Subject("HorizontalPodAutoscaler", kMetrics,
                           absl::StrCat("{flyball.dev/schedules: \"[", kWindow, "]\"}"));
  ASSERT_TRUE(hpa.ok()) << hpa.status();
  EXPECT_EQ(hpa->schedules.windows.size(), 1u);
  EXPECT_THAT(hpa->notes, ElementsAre(HasSubstr("followed, as in the modes act and advise")));
}

TEST(BacktestSubject, SaysWhatIsNotDecidedAgain) {
  const auto paused = Subject(
      "Autoscaler", absl::StrCat(kMetrics, "    fallback: {keepLast: 5m}\n", "  paused: true\n"));
  ASSERT_TRUE(paused.ok()) << paused.status();
  EXPECT_THAT(paused->notes, ElementsAre("it is paused, and decided as if it were not",
                                         HasSubstr("the fallbacks of its metrics are left out")));
  const auto hpa = Subject("HorizontalPodAutoscaler", kMetrics,
                           "{flyball.dev/paused-until: \"2027-01-01T00:00:00Z\"}");
  ASSERT_TRUE(hpa.ok()) << hpa.status();
  EXPECT_TRUE(hpa->schedules.empty()) << "else all of the past would be paused";
  EXPECT_THAT(hpa->notes, ElementsAre(HasSubstr("it is paused until some time")));
  const auto wrong =
      Subject("HorizontalPodAutoscaler", kMetrics, "{flyball.dev/schedules: \"[a\"}");
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_THAT(wrong->notes, ElementsAre(HasSubstr("of its schedules only pauses are followed: ")));
}

TEST(BacktestSubject, WithTriggersIsRefused) {
  const auto own =
      Subject("Autoscaler",
              "  triggers: [{type: cron, metadata: {timezone: UTC, start: 0 8 * * *, end: 0 18 * * "
              "*, desiredReplicas: '5'}}]\n");
  EXPECT_THAT(std::string(own.status().message()), HasSubstr("an Autoscaler with triggers"));
}

TEST(BacktestSubject, IsDecidedByTheMathOfTheClusterAndOfTheServer) {
  BacktestSubject subject;
  EXPECT_TRUE(MathFor(subject, {}, {}).configurable_tolerance) << "files: the newest";
  subject.server = {.minor = 34, .emulated_minor = {}};
  EXPECT_FALSE(MathFor(subject, {}, {}).configurable_tolerance);
  EXPECT_TRUE(MathFor(subject, {}, {.minor = 37, .gates = {}}).configurable_tolerance);
  subject.own_kind = true;
  EXPECT_TRUE(MathFor(subject, {}, {}).configurable_tolerance) << "it has no gates";
  subject.rules.server.scaler.options.controller.tolerance = 0.2;
  subject.rules.server.scaler.options.controller.downscale_stabilization = absl::Minutes(1);
  const scaler::MathConfig some = MathFor(subject, {.tolerance = 0.3}, {});
  EXPECT_EQ(some.tolerance, 0.3);
  EXPECT_EQ(some.downscale_stabilization, absl::Minutes(1)) << "as the server has it";
  subject.own_kind = false;
  subject.rules.server.scaler.kubernetes_version = "1.35";
  EXPECT_TRUE(MathFor(subject, {}, {}).configurable_tolerance) << "the server is told so";
}

TEST(BacktestSubject, CountsNanAsTheServerDoes) {
  BacktestSubject subject;
  EXPECT_EQ(NanFor(subject, ""), adapter::NanValue::kZero);
  EXPECT_EQ(NanFor(subject, "drop"), adapter::NanValue::kDrop);
  subject.rules.server.nan_value = "drop";
  EXPECT_EQ(NanFor(subject, ""), adapter::NanValue::kDrop);
  EXPECT_EQ(NanFor(subject, "zero"), adapter::NanValue::kZero);
}

}  // namespace
}  // namespace flyball::cmd
