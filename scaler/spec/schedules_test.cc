#include "scaler/spec/schedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scaler/spec/scheduled_targets.h"
#include "scaler/spec/schedules_read.h"

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::Time At(absl::string_view rfc3339) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, rfc3339, &time, &error)) << error;
  return time;
}

Autoscaler Spec(std::optional<int32_t> min, int32_t max) {
  Autoscaler spec;
  spec.min_replicas = min;
  spec.max_replicas = max;
  return spec;
}

// The errors of the annotation, each as its text.
std::vector<std::string> ErrorsOf(const std::string& yaml, const Autoscaler& spec = Spec(2, 10)) {
  Autoscaler hpa = spec;
  hpa.annotations["flyball.dev/schedules"] = yaml;
  FieldErrors errors;
  ReadScheduleAnnotations(hpa, errors);
  std::vector<std::string> texts;
  for (const FieldError& error : std::move(errors).Sorted()) texts.push_back(error.ToString());
  return texts;
}

Schedules Read(const std::string& yaml, const std::string& until = "",
               const Autoscaler& spec = Spec(2, 10)) {
  Autoscaler hpa = spec;
  if (!yaml.empty()) hpa.annotations["flyball.dev/schedules"] = yaml;
  if (!until.empty()) hpa.annotations["flyball.dev/paused-until"] = until;
  FieldErrors errors;
  Schedules read = ReadScheduleAnnotations(hpa, errors);
  for (const FieldError& error : std::move(errors).Sorted()) ADD_FAILURE() << error.ToString();
  return read;
}

// "min-max", with "paused" where it is.
std::string Shown(const ScheduledSpec& spec) {
  return absl::StrCat(spec.min_replicas.value_or(1), "-", spec.max_replicas,
                      spec.paused ? " paused" : "");
}

constexpr char kWorkWeek[] = R"(
- {name: day, timezone: Europe/Prague, start: 0 8 * * 1-5, end: 0 18 * * 1-5, minReplicas: 5}
- {name: night, timezone: Europe/Prague, start: 0 22 * * *, end: 0 6 * * *, maxReplicas: 3}
)";

TEST(SpecAtTest, AnOpenScheduleReplacesWhatItSets) {
  const Schedules schedules = Read(kWorkWeek);
  const auto at = [&](absl::string_view time) {
    return Shown(SpecAt(schedules, Spec(2, 10), At(time)));
  };
  EXPECT_EQ(at("2026-03-04T07:59:59+01:00"), "2-10");
  EXPECT_EQ(at("2026-03-04T08:00:00+01:00"), "5-10");
  EXPECT_EQ(at("2026-03-04T17:59:59+01:00"), "5-10");
  EXPECT_EQ(at("2026-03-04T18:00:00+01:00"), "2-10");
  EXPECT_EQ(at("2026-03-04T23:00:00+01:00"), "2-3");
  EXPECT_EQ(at("2026-03-07T12:00:00+01:00"), "2-10");  // a Saturday
}

TEST(SpecAtTest, WhySaysWhatIsOpen) {
  const Schedules schedules = Read(kWorkWeek);
  EXPECT_EQ(SpecAt(schedules, Spec(2, 10), At("2026-03-04T12:00:00Z")).why,
            "schedule \"day\": minReplicas 5");
  EXPECT_EQ(SpecAt(schedules, Spec(2, 10), At("2026-03-04T20:00:00Z")).why, "");
}

TEST(SpecAtTest, TheHigherPriorityCountsAndThenTheFirst) {
  const char* all = R"([
    {name: a, start: 0 0 * * *, end: 0 12 * * *, minReplicas: 3},
    {name: b, start: 0 0 * * *, end: 0 12 * * *, minReplicas: 4, maxReplicas: 9},
    {name: c, start: 0 6 * * *, end: 0 12 * * *, minReplicas: 6, priority: 1}])";
  const Schedules schedules = Read(all);
  EXPECT_EQ(Shown(SpecAt(schedules, Spec(2, 10), At("2026-03-04T03:00:00Z"))), "3-9");
  EXPECT_EQ(Shown(SpecAt(schedules, Spec(2, 10), At("2026-03-04T07:00:00Z"))), "6-9");
}

TEST(SpecAtTest, WhereTwoDisagreeTheOneThatCountsFirstStands) {
  const char* min_first = R"([
    {name: sale, start: 0 0 * * *, end: 0 12 * * *, minReplicas: 8, priority: 1},
    {name: night, start: 0 0 * * *, end: 0 6 * * *, maxReplicas: 3}])";
  EXPECT_EQ(Shown(SpecAt(Read(min_first), Spec(2, 10), At("2026-03-04T03:00:00Z"))), "8-8");
  const char* max_first = R"([
    {name: sale, start: 0 0 * * *, end: 0 12 * * *, minReplicas: 8},
    {name: night, start: 0 0 * * *, end: 0 6 * * *, maxReplicas: 3, priority: 1}])";
  EXPECT_EQ(Shown(SpecAt(Read(max_first), Spec(2, 10), At("2026-03-04T03:00:00Z"))), "3-3");
}

TEST(SpecAtTest, PausedByScheduleAndUntil) {
  const Schedules schedules =
      Read("[{name: freeze, start: 0 0 24 12 *, end: 0 0 27 12 *, paused: true}]",
           "2026-03-04T08:00:00Z");
  const auto at = [&](absl::string_view time) { return SpecAt(schedules, Spec(2, 10), At(time)); };
  EXPECT_EQ(Shown(at("2026-03-04T07:59:59Z")), "2-10 paused");
  EXPECT_EQ(at("2026-03-04T07:59:59Z").why, "paused until 2026-03-04T08:00:00Z");
  EXPECT_EQ(Shown(at("2026-03-04T08:00:00Z")), "2-10");
  EXPECT_EQ(Shown(at("2026-12-25T00:00:00Z")), "2-10 paused");
  EXPECT_EQ(Shown(at("2026-12-27T00:00:00Z")), "2-10");
}

TEST(SpecAtTest, PausedIsDecidedByTheHigherPriorityToo) {
  const Schedules schedules = Read(R"([
    {name: freeze, start: 0 0 24 12 *, end: 0 0 27 12 *, paused: true},
    {name: sale, start: 0 8 26 12 *, end: 0 20 26 12 *, paused: false, priority: 1}])");
  const auto at = [&](absl::string_view time) { return SpecAt(schedules, Spec(2, 10), At(time)); };
  EXPECT_EQ(Shown(at("2026-12-26T07:00:00Z")), "2-10 paused");
  EXPECT_EQ(Shown(at("2026-12-26T08:00:00Z")), "2-10");
  EXPECT_EQ(at("2026-12-26T08:00:00Z").why,
            "schedule \"sale\": not paused; schedule \"freeze\": paused");
}

// The same table as for the cron trigger: a start that is skipped opens right after the gap, one
// that comes twice opens the first time. Prague: 29 March 2026 02:00 becomes 03:00, 25 October
// 03:00 becomes 02:00.
TEST(SpecAtTest, WhenClocksChange) {
  struct Row {
    std::string start, end, now, shown;
  };
  for (const Row& row : std::vector<Row>{
           {"30 2 * * *", "0 5 * * *", "2026-03-29T00:59:59Z", "2-10"},
           {"30 2 * * *", "0 5 * * *", "2026-03-29T01:00:00Z", "7-10"},  // 03:00, after the gap
           {"30 2 * * *", "0 5 * * *", "2026-03-29T02:59:59Z", "7-10"},
           {"30 2 * * *", "0 5 * * *", "2026-03-29T03:00:00Z", "2-10"},  // 05:00
           {"0 1 * * *", "30 2 * * *", "2026-03-29T00:59:59Z", "7-10"},
           {"0 1 * * *", "30 2 * * *", "2026-03-29T01:00:00Z", "2-10"},  // its end was skipped
           {"0 2 * * *", "0 3 * * *", "2026-03-29T01:00:00Z", "2-10"},   // all of it was skipped
           {"15 2 * * *", "45 2 * * *", "2026-03-29T01:00:00Z", "2-10"},
           {"0 3 * * *", "30 2 * * *", "2026-03-29T01:00:00Z", "7-10"},  // and so was its pause
           {"45 2 * * *", "15 2 * * *", "2026-03-29T01:00:00Z", "7-10"},
           {"0 2 * * *", "0 3 * * *", "2026-03-30T00:00:00Z", "7-10"},
           {"30 2 * * *", "0 5 * * *", "2026-10-25T00:29:59Z", "2-10"},
           {"30 2 * * *", "0 5 * * *", "2026-10-25T00:30:00Z", "7-10"},  // the first 02:30
           {"30 2 * * *", "0 5 * * *", "2026-10-25T01:30:00Z", "7-10"},  // the second one
           {"0 1 * * *", "30 2 * * *", "2026-10-25T00:30:00Z", "2-10"},
           {"0 1 * * *", "30 2 * * *", "2026-10-25T01:15:00Z", "2-10"}}) {
    const Schedules schedules =
        Read(absl::StrCat("[{name: a, timezone: Europe/Prague, start: \"", row.start, "\", end: \"",
                          row.end, "\", minReplicas: 7}]"));
    EXPECT_EQ(Shown(SpecAt(schedules, Spec(2, 10), At(row.now))), row.shown)
        << row.start << " to " << row.end << " at " << row.now;
  }
}

// Looks at each quarter of an hour of a year, in which the schedules overlap in every way: bounds
// are never crossed, each bound is one that somebody wrote, and nothing changes within a minute.
TEST(SpecAtTest, AYear) {
  const Schedules schedules = Read(R"([
    {name: day, timezone: Europe/Prague, start: 0 8 * * 1-5, end: 0 18 * * 1-5, minReplicas: 5},
    {name: lunch, timezone: America/New_York, start: 0 11 * * *, end: 30 13 * * *, minReplicas: 9},
    {name: night, timezone: Europe/Prague, start: 30 2 * * *, end: 0 6 * * *, maxReplicas: 2},
    {name: sale, start: 0 0 20 * *, end: 0 0 22 * *, minReplicas: 20, maxReplicas: 40, priority: 2},
    {name: cheap, timezone: Asia/Kolkata, start: 15 * * * *, end: 45 * * * *, maxReplicas: 8}])");
  const Autoscaler spec = Spec(2, 10);
  const absl::Time end = At("2027-01-01T00:00:00Z");
  int minutes_of_sale = 0;
  for (absl::Time now = At("2026-01-01T00:00:00Z"); now < end; now += absl::Minutes(15)) {
    const ScheduledSpec got = SpecAt(schedules, spec, now);
    ASSERT_LE(got.min_replicas.value_or(1), got.max_replicas) << now;
    ASSERT_THAT((std::vector<int32_t>{2, 5, 8, 9, 10, 20, 40}),
                testing::Contains(got.max_replicas));
    ASSERT_THAT((std::vector<int32_t>{2, 5, 8, 9, 20}), testing::Contains(*got.min_replicas));
    if (*got.min_replicas == 20) minutes_of_sale += 15;
    const ScheduledSpec later = SpecAt(schedules, spec, now + absl::Seconds(59));
    ASSERT_EQ(later.why, got.why) << now;
  }
  EXPECT_EQ(minutes_of_sale, 12 * 2 * 24 * 60);
}

Autoscaler WithMetrics() {
  Autoscaler spec = Spec(2, 10);
  for (const char* name : {"queue", "cpu", "cpu"}) {
    MetricSpec& metric = spec.metrics.emplace_back();
    metric.type = MetricType::kExternal;
    metric.metric.name = name;
    metric.target.average_value = MakeTargetAmount(kube::Quantity::FromMilli(10000));
  }
  spec.metrics[1].type = MetricType::kResource;
  spec.metrics[1].resource = "cpu";
  spec.metrics[1].target = {.value = {}, .average_value = {}, .average_utilization = 50};
  spec.metrics[2].type = MetricType::kContainerResource;
  spec.metrics[2].resource = "cpu";
  spec.metrics[2].container = "main";
  return spec;
}

TEST(ScheduledTargetsTest, TheFirstThatCountsSetsATarget) {
  const Schedules schedules = Read(R"(
- {name: day, start: 0 8 * * *, end: 0 18 * * *, targets: {queue: "20", cpu: "60"}}
- {name: sale, start: 0 9 * * *, end: 0 10 * * *, priority: 1, targets: {queue: 4500m, main/cpu: "2"}})",
                                   "", WithMetrics());
  Autoscaler spec = WithMetrics();
  std::vector<TriggerSpec> none;
  SetTargets(SpecAt(schedules, spec, At("2026-03-04T07:00:00Z")).targets, spec.metrics, none);
  EXPECT_EQ(spec.metrics[0].target.average_value->milli, 10000);
  const ScheduledSpec both = SpecAt(schedules, spec, At("2026-03-04T09:30:00Z"));
  SetTargets(both.targets, spec.metrics, none);
  EXPECT_EQ(spec.metrics[0].target.average_value->milli, 4500);
  EXPECT_EQ(spec.metrics[1].target.average_utilization, 60);
  EXPECT_EQ(spec.metrics[2].target.average_value->milli, 2000);
  EXPECT_THAT(both.why, HasSubstr("schedule \"day\": target of cpu 60, target of queue 20"));
  SetTargets(SpecAt(schedules, spec, At("2026-03-04T12:00:00Z")).targets, spec.metrics, none);
  EXPECT_EQ(spec.metrics[0].target.average_value->milli, 20000);
}

TEST(ScheduledTargetsTest, WhatIsWrongIsNamed) {
  const std::string window = "[{name: a, start: 0 1 * * *, end: 0 2 * * *, targets: ";
  const auto errors = [&](const std::string& targets) {
    return ErrorsOf(window + targets + "}]", WithMetrics());
  };
  EXPECT_THAT(errors(R"({queue: "20", cpu: "60", main/cpu: 500m})"), IsEmpty());
  EXPECT_THAT(errors(R"({queues: "20"})"), ElementsAre(HasSubstr("names no metric")));
  EXPECT_THAT(errors(R"({queue: "-1"})"), ElementsAre(HasSubstr("[0].targets[queue]")));
  EXPECT_THAT(errors(R"({cpu: 500m})"), ElementsAre(HasSubstr("whole percentage above 0")));
}

// An API server admits a target with both amounts; only the one that the type names counts.
TEST(ScheduledTargetsTest, OfTwoAmountsOfAnObjectMetricTheTypesOneIsSet) {
  MetricSpec object;
  object.type = MetricType::kObject;
  object.metric.name = "queue";
  object.target.value = MakeTargetAmount(kube::Quantity::FromMilli(1000));
  object.target.average_value = MakeTargetAmount(kube::Quantity::FromMilli(2000));
  std::vector<TriggerSpec> none;
  for (const bool average : {false, true}) {
    std::vector<MetricSpec> metrics = {object};
    metrics[0].target.type = average ? TargetType::kAverageValue : TargetType::kValue;
    SetTargets({{.name = "queue", .amount = "5"}}, metrics, none);
    EXPECT_EQ(metrics[0].target.value->milli, average ? 1000 : 5000);
    EXPECT_EQ(metrics[0].target.average_value->milli, average ? 5000 : 2000);
  }
}

TEST(ScheduledTargetsTest, OfATriggerItIsTheMetadatasTarget) {
  std::vector<TriggerSpec> triggers(2);
  triggers[0].type = "prometheus";
  triggers[0].name = "rate";
  triggers[1].type = "cron";
  triggers[1].name = "day";
  EXPECT_EQ(TargetProblem({.name = "rate", .amount = "2.5"}, {}, triggers), "");
  EXPECT_THAT(TargetProblem({.name = "rate", .amount = "0"}, {}, triggers), HasSubstr("above 0"));
  EXPECT_THAT(TargetProblem({.name = "day", .amount = "3"}, {}, triggers), HasSubstr("no target"));
  for (const char* good : {" 3 ", "1e3", "0.001", "9e15"}) {
    EXPECT_EQ(TargetProblem({.name = "rate", .amount = good}, {}, triggers), "") << good;
  }
  // The trigger would not take them, and would be unknown while the schedule is open.
  for (const char* bad : {"", ".5", "+5", "05", "5.", "0x10", "inf", "-1", "0.0001", "1e300"}) {
    EXPECT_NE(TargetProblem({.name = "rate", .amount = bad}, {}, triggers), "") << bad;
  }
  std::vector<MetricSpec> none;
  SetTargets({{.name = "rate", .amount = "2.5"}}, none, triggers);
  EXPECT_EQ(triggers[0].metadata["threshold"], "2.5");
}

// An edit of the HPA's own bounds may make a schedule wrong, and nobody looks at the others then.
TEST(ReadSchedulesTest, PausesStayWhateverElseIsWrong) {
  const std::string freeze =
      "- {name: freeze, start: 0 0 24 12 *, end: 0 0 27 12 *, paused: true, minReplicas: 1}\n";
  for (const char* wrong :
       {"- {name: sale, start: 0 0 1 * *, end: 0 0 2 * *, minReplicas: 11}",
        "- {name: sale, start: 0 0 1 * *, end: 0 0 2 * *, targets: {queue: \"1\"}}",
        "- {name: sale, start: 0 25 * * *, end: 0 0 2 * *, paused: true}",
        "- {name: sale, start: 0 0 1 * *, end: 0 0 2 * *, minReplicas: \"11\"}",
        "- {name: sale, start: 0 0 1 * *, end: 0 0 2 * *, paused: \"no\"}", "- sale",
        "- {name: sale, start: 0 0 24 12 *, end: 0 0 27 12 *, priority: 9, maxReplicas: 1}"}) {
    Autoscaler hpa = Spec(2, 10);
    hpa.annotations["flyball.dev/schedules"] = freeze + wrong;
    FieldErrors errors;
    const Schedules schedules = ReadScheduleAnnotations(hpa, errors);
    EXPECT_FALSE(errors.empty()) << wrong;
    const auto at = [&](absl::string_view time) { return SpecAt(schedules, hpa, At(time)); };
    EXPECT_EQ(Shown(at("2026-12-25T00:00:00Z")), "2-10 paused") << wrong;
    EXPECT_EQ(Shown(at("2026-12-01T12:00:00Z")), "2-10") << wrong;
    EXPECT_EQ(at("2026-12-25T00:00:00Z").why, "schedule \"freeze\": paused") << wrong;
  }
}

TEST(ReadSchedulesTest, APauseStaysWhereItsOwnScheduleIsWrongOrOneTooMany) {
  const std::string freeze = "start: 0 0 24 12 *, end: 0 0 27 12 *, paused: true";
  std::string many;
  for (size_t i = 0; i < kMaxSchedules; ++i) {
    absl::StrAppend(&many, "- {name: s", i,
                    ", start: 0 1 * * *, end: 0 2 * * *, minReplicas: 2}\n");
  }
  for (const std::string& text :
       {"- {name: freeze, " + freeze + ", priority: 1.5}",
        "- {name: freeze, " + freeze + ", minReplicas: many}", "- {name: 1, " + freeze + "}",
        many + "- {name: freeze, " + freeze + "}"}) {
    Autoscaler hpa = Spec(2, 10);
    hpa.annotations["flyball.dev/schedules"] = text;
    FieldErrors errors;
    const Schedules schedules = ReadScheduleAnnotations(hpa, errors);
    EXPECT_FALSE(errors.empty()) << text;
    EXPECT_EQ(schedules.windows.size(), 1u) << text;
    EXPECT_EQ(Shown(SpecAt(schedules, hpa, At("2026-12-25T00:00:00Z"))), "2-10 paused") << text;
    EXPECT_EQ(Shown(SpecAt(schedules, hpa, At("2026-12-01T12:00:00Z"))), "2-10") << text;
  }
}

TEST(ReadSchedulesTest, ATextThatIsNoListPausesNothing) {
  const std::string freeze = "{name: freeze, start: 0 0 1 1 *, end: 59 23 31 12 *, paused: true}";
  for (const std::string& text :
       {freeze, "[" + freeze, "- " + freeze + "\n# " + std::string(65 << 10, 'x')}) {
    Autoscaler hpa = Spec(2, 10);
    hpa.annotations["flyball.dev/schedules"] = text;
    FieldErrors errors;
    EXPECT_TRUE(ReadScheduleAnnotations(hpa, errors).empty()) << text;
    EXPECT_FALSE(errors.empty()) << text;
  }
}

TEST(ReadSchedulesTest, WhatIsWrongIsNamed) {
  const std::string at = "metadata.annotations[flyball.dev/schedules]";
  const std::string window = "start: 0 1 * * *, end: 0 2 * * *";
  EXPECT_THAT(ErrorsOf("[{name: a, " + window + "}]"), ElementsAre(HasSubstr(at + "[0]")));
  EXPECT_THAT(ErrorsOf("[{" + window + ", minReplicas: 3}]"),
              ElementsAre(HasSubstr(at + "[0].name")));
  EXPECT_THAT(ErrorsOf("[{name: a, start: soon, end: 0 2 * * *, minReplicas: 3}]"),
              ElementsAre(HasSubstr(at + "[0].start")));
  EXPECT_THAT(ErrorsOf("[{name: a, start: 0 1 * * *, minReplicas: 3}]"),
              ElementsAre(HasSubstr(at + "[0].end")));
  EXPECT_THAT(ErrorsOf("[{name: a, start: 0 1 * * *, end: 0 1 * * *, minReplicas: 3}]"),
              ElementsAre(HasSubstr("must differ from start")));
  EXPECT_THAT(ErrorsOf("[{name: a, timezone: Prague, " + window + ", minReplicas: 3}]"),
              ElementsAre(HasSubstr(at + "[0].timezone")));
  EXPECT_THAT(ErrorsOf("[{name: a, " + window + ", minReplicas: 11}]"),
              ElementsAre(HasSubstr("minReplicas is 11, more than maxReplicas, which is 10")));
  EXPECT_THAT(ErrorsOf("[{name: a, " + window + ", maxReplicas: 1}]"),
              ElementsAre(HasSubstr("minReplicas is 2, more than maxReplicas, which is 1")));
  EXPECT_THAT(ErrorsOf("[{name: a, " + window + ", minReplicas: 0}]"),
              ElementsAre(HasSubstr("must be greater than or equal to 1")));
  EXPECT_THAT(ErrorsOf("[{name: a, " + window + ", minReplicas: 0}]", Spec(0, 10)), IsEmpty());
  EXPECT_THAT(ErrorsOf("[{name: a, " + window + ", minReplicas: 3}, {name: a, " + window +
                       ", minReplicas: 4}]"),
              ElementsAre(HasSubstr("names an earlier schedule")));
  EXPECT_THAT(ErrorsOf("name: a"), ElementsAre(HasSubstr(at)));
  EXPECT_THAT(ErrorsOf("[{"), ElementsAre(HasSubstr(at)));
}

}  // namespace
}  // namespace flyball::scaler
