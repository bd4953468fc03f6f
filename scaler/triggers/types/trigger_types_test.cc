#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "scaler/spec/scheduled_targets.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;
using testing::Not;

absl::Time At(absl::string_view rfc3339) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, rfc3339, &time, &error)) << error;
  return time;
}

using Fields = std::map<std::string, std::string>;

absl::StatusOr<std::unique_ptr<Trigger>> Make(std::string type, Fields metadata,
                                              TriggerContext context = {}) {
  TriggerSpec spec;
  spec.type = std::move(type);
  spec.metadata = std::move(metadata);
  return MakeTrigger(spec, context);
}

TEST(MakeTriggerTest, EveryTypeOfTheKindIsKnown) {
  for (const absl::string_view type : TriggerTypeNames()) {
    const auto got = Make(std::string(type), {});
    EXPECT_THAT(std::string(got.status().message()), HasSubstr("is required")) << type;
  }
}

TEST(TriggerTypesTest, TheTargetThatAScheduleSetsIsTheOneOfTheRow) {
  for (const TriggerType* type : TriggerTypes()) {
    absl::string_view target;
    for (const absl::Span<const MetadataKey> keys : type->keys) {
      for (const MetadataKey& key : keys) {
        if (key.kind == KeyKind::kTarget) target = key.name;
      }
    }
    EXPECT_EQ(TargetKeyOf(type->name), target) << type->name;
  }
}

TEST(MakeTriggerTest, UnknownTypesAreNamed) {
  EXPECT_EQ(Make("kafka", {}).status().message(), R"(triggers[0].type: unknown type "kafka")");
}

// The error for a trigger that has every required key but `absent`, and `wrong` with the value `!`.
std::string Said(const TriggerType& type, absl::string_view wrong, absl::string_view absent) {
  TriggerSpec spec;
  spec.type = std::string(type.name);
  for (const absl::Span<const MetadataKey> keys : type.keys) {
    for (const MetadataKey& key : keys) {
      const std::string name(key.name);
      if (key.kind == KeyKind::kSecret) spec.secrets[name] = {"s", "k"};
      if (key.otherwise == kRequired)
        spec.metadata[name] = key.kind == KeyKind::kUrl ? "http://a.example" : "1";
      if (name == "authModes") spec.metadata[name] = "apiKey";  // has keys of its own
    }
  }
  spec.metadata[std::string(wrong)] = "!";
  spec.metadata.erase(std::string(absent));
  return std::string(MakeTrigger(spec, {}).status().message());
}

TEST(MakeTriggerTest, EachKeyIsCheckedAsItsRowSays) {
  for (const TriggerType* type : TriggerTypes()) {
    for (const absl::Span<const MetadataKey> keys : type->keys) {
      for (const MetadataKey& key : keys) {
        const std::string field = absl::StrCat("triggers[0].metadata.", key.name, ": ");
        SCOPED_TRACE(absl::StrCat(type->name, " ", field));
        const std::string wrong = Said(*type, key.name, "");
        EXPECT_THAT(wrong, Not(HasSubstr("is read otherwise")));
        if (key.kind != KeyKind::kText && key.kind != KeyKind::kSecret) {
          EXPECT_THAT(wrong, HasSubstr(field));
        }
        if (key.otherwise == kRequired) {
          EXPECT_THAT(Said(*type, "", key.name), HasSubstr(field + "is required"));
        }
      }
    }
  }
}

Fields Cron(std::string zone, std::string start, std::string end) {
  return {{"timezone", std::move(zone)},
          {"start", std::move(start)},
          {"end", std::move(end)},
          {"desiredReplicas", "4"}};
}

TEST(CronTriggerTest, IsNamedAsInKeda) {
  TriggerContext context;
  context.index = 1;
  const auto got = Make("cron", Cron("Etc/UTC", "0 */2 * * *", "0 1-23/2 * * *"), context);
  ASSERT_TRUE(got.ok()) << got.status();
  const auto metrics = (*got)->Metrics(absl::Seconds(1));
  ASSERT_TRUE(metrics.ok() && metrics->size() == 1);
  EXPECT_EQ(metrics->front().name, "s1-cron-Etc-UTC-0xSl2xxx-01-23Sl2xxx");
  EXPECT_EQ(metrics->front().target_milli, 1000);
  EXPECT_EQ(metrics->front().target_type, TargetType::kAverageValue);
}

struct WindowRow {
  std::string name;
  Fields metadata;
  std::string now;
  bool open = false;
};

class CronWindowTest : public testing::TestWithParam<WindowRow> {};

TEST_P(CronWindowTest, Row) {
  const WindowRow& row = GetParam();
  const auto trigger = Make("cron", row.metadata);
  ASSERT_TRUE(trigger.ok()) << trigger.status();
  const std::vector<TriggerReading> got = (*trigger)->Read(At(row.now), absl::Seconds(1));
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].error, "");
  EXPECT_EQ(got[0].value_milli, row.open ? 4000 : 0);
  EXPECT_EQ(got[0].active, row.open);
  EXPECT_EQ(got[0].time, At(row.now));
}

const Fields kOffice = Cron("Europe/Prague", "0 8 * * 1-5", "0 18 * * 1-5");
const Fields kNight = Cron("UTC", "0 22 * * *", "0 4 * * *");
const Fields kManyStarts = Cron("UTC", "30-33 * * * *", "45 * * * *");

INSTANTIATE_TEST_SUITE_P(
    Windows, CronWindowTest,
    testing::Values(WindowRow{"StartBelongsToIt", kOffice, "2026-03-02T08:00:00+01:00", true},
                    WindowRow{"NotTheSecondBefore", kOffice, "2026-03-02T07:59:59+01:00", false},
                    WindowRow{"TheLastSecond", kOffice, "2026-03-02T17:59:59+01:00", true},
                    WindowRow{"EndDoesNotBelongToIt", kOffice, "2026-03-02T18:00:00+01:00", false},
                    WindowRow{"Weekend", kOffice, "2026-03-01T12:00:00+01:00", false},
                    WindowRow{"OverMidnight", kNight, "2026-03-01T23:30:00Z", true},
                    WindowRow{"AfterMidnight", kNight, "2026-03-02T03:59:59Z", true},
                    WindowRow{"ByDay", kNight, "2026-03-01T12:00:00Z", false},
                    // KEDA would close the window between the starts.
                    WindowRow{"OpenBetweenStarts", kManyStarts, "2026-03-01T01:31:30Z", true},
                    WindowRow{"OpenAfterTheLastStart", kManyStarts, "2026-03-01T01:44:59Z", true},
                    WindowRow{"ClosedAfterTheEnd", kManyStarts, "2026-03-01T01:45:00Z", false}),
    [](const auto& info) { return info.param.name; });

const Fields kSmallHours = Cron("Europe/Prague", "30 2 * * *", "0 6 * * *");
const Fields kUntilSmallHours = Cron("Europe/Prague", "0 22 * * *", "30 2 * * *");

INSTANTIATE_TEST_SUITE_P(
    ClockChanges, CronWindowTest,
    testing::Values(
        // 29 March has no 02:30, so that KEDA does not close the window on the day before.
        WindowRow{"NotTheDayBeforeASkippedStart", kSmallHours, "2026-03-28T12:00:00Z", false},
        WindowRow{"ASkippedStartOpensAfterTheGap", kSmallHours, "2026-03-29T01:00:00Z", true},
        WindowRow{"NotBeforeTheGap", kSmallHours, "2026-03-29T00:59:59Z", false},
        // KEDA would be closed for the whole night before a skipped end.
        WindowRow{"OpenBeforeASkippedEnd", kUntilSmallHours, "2026-03-28T23:00:00Z", true},
        WindowRow{"ASkippedEndClosesAfterTheGap", kUntilSmallHours, "2026-03-29T01:00:00Z", false},
        // 25 October has 02:00 to 03:00 twice; KEDA is closed from the first 02:30 to the second.
        WindowRow{"ARepeatedStartOpens", kSmallHours, "2026-10-25T00:30:00Z", true},
        WindowRow{"AndStaysOpenInTheSecondHour", kSmallHours, "2026-10-25T01:10:00Z", true},
        WindowRow{"ARepeatedEndCloses", kUntilSmallHours, "2026-10-25T00:30:00Z", false},
        WindowRow{"AndStaysClosedInTheSecondHour", kUntilSmallHours, "2026-10-25T01:10:00Z",
                  false}),
    [](const auto& info) { return info.param.name; });

TEST(CronTriggerTest, EverythingWrongIsSaidAtOnce) {
  const auto got = Make("cron", {{"timezone", "Mars/Base"},
                                 {"start", "0 8 * * *"},
                                 {"end", "0 22-4 * * *"},
                                 {"desiredReplicas", "0"}});
  EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(got.status().message(),
            R"(triggers[0].metadata.timezone: unknown time zone "Mars/Base"; )"
            R"(triggers[0].metadata.end: hour "22-4": begins after its end; )"
            R"(triggers[0].metadata.desiredReplicas: must be greater than 0)");
}

TEST(CronTriggerTest, StartAndEndDiffer) {
  const auto got = Make("cron", Cron("UTC", "0 8 * * *", "0 8 * * *"));
  EXPECT_EQ(got.status().message(), "triggers[0].metadata.end: must differ from start");
}

TriggerContext Pods(absl::StatusOr<int64_t> by_pod, int64_t by_node = 0) {
  TriggerContext context;
  context.ns = "shop.eu";
  context.count_pods = [by_pod, by_node](absl::string_view ns, const kube::Selector& selector,
                                         bool distinct) -> absl::StatusOr<int64_t> {
    EXPECT_EQ(ns, "shop.eu");
    EXPECT_EQ(selector.ToString(), "app=worker");
    return distinct ? absl::StatusOr<int64_t>(by_node) : by_pod;
  };
  return context;
}

TEST(KubernetesWorkloadTriggerTest, CountsPods) {
  const auto got =
      Make("kubernetes-workload",
           {{"podSelector", "app=worker"}, {"value", "2"}, {"activationValue", "7"}}, Pods(7));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)->Metrics({})->front().name, "s0-workload-shop-eu");
  EXPECT_EQ((*got)->Metrics({})->front().target_milli, 2000);
  const auto reading = (*got)->Read(absl::UnixEpoch(), {});
  EXPECT_EQ(reading[0].value_milli, 7000);
  EXPECT_FALSE(reading[0].active);  // 7 > 7
}

TEST(KubernetesWorkloadTriggerTest, CountsNodes) {
  const auto got =
      Make("kubernetes-workload",
           {{"podSelector", "app=worker"}, {"value", "2"}, {"groupByNode", "true"}}, Pods(7, 3));
  ASSERT_TRUE(got.ok()) << got.status();
  const auto reading = (*got)->Read(absl::UnixEpoch(), {});
  EXPECT_EQ(reading[0].value_milli, 3000);
  EXPECT_TRUE(reading[0].active);
}

TEST(KubernetesWorkloadTriggerTest, UnknownPodsAreUnknown) {
  const auto got = Make("kubernetes-workload", {{"podSelector", "app=worker"}, {"value", "2"}},
                        Pods(absl::UnavailableError("not listed yet")));
  ASSERT_TRUE(got.ok());
  const auto reading = (*got)->Read(absl::UnixEpoch(), {});
  EXPECT_EQ(reading[0].error, "pods of app=worker: not listed yet");
  EXPECT_FALSE(reading[0].active);
}

TEST(KubernetesWorkloadTriggerTest, BadSelector) {
  const auto got =
      Make("kubernetes-workload", {{"podSelector", "app in worker"}, {"value", "2"}}, Pods(1));
  EXPECT_THAT(std::string(got.status().message()), HasSubstr("triggers[0].metadata.podSelector: "));
  const std::string terms = "app!=" + std::string(60, 'a') + ",";
  std::string long_one;
  while (long_one.size() < 4096) long_one += terms;
  const auto refused =
      Make("kubernetes-workload", {{"podSelector", long_one + "app=a"}, {"value", "2"}}, Pods(1));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("longer than 4096 bytes"));
}

// Each term is compared with the labels of every pod, five times a second if the cadence says so.
TEST(KubernetesWorkloadTriggerTest, ASelectorHasLimits) {
  const auto problem = [](const std::string& selector) {
    TriggerContext context;
    context.count_pods = [](auto&&...) { return int64_t{0}; };
    const auto got =
        Make("kubernetes-workload", {{"podSelector", selector}, {"value", "2"}}, context);
    return std::string(got.status().message());
  };
  const auto many = [](int count, absl::string_view prefix) {
    std::string text;
    for (int i = 0; i < count; ++i) absl::StrAppend(&text, i == 0 ? "" : ",", prefix, i);
    return text;
  };
  EXPECT_EQ(problem(many(32, "!a")), "");
  EXPECT_EQ(problem(absl::StrCat("a in (", many(100, "v"), ")")), "");
  for (const std::string& selector :
       {many(33, "!a"), absl::StrCat("a in (", many(100, "v"), "),b=c")}) {
    EXPECT_EQ(problem(selector),
              "triggers[0].metadata.podSelector: it has more than 32 requirements or 100 values");
  }
}

}  // namespace
}  // namespace flyball::scaler
