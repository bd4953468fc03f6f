#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "scaler/explain/amounts.h"
#include "scaler/explain/explain.h"
#include "scaler/explain/given_case.h"
#include "scaler/explain/sentence.h"
#include "scaler/explain/snapshot.h"

namespace flyball::scaler {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr char kExample[] = FLYBALL_SOURCE_DIR "/test/data/decide/";

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

CaseOptions At(absl::Time now) {
  CaseOptions options;
  options.now = now;
  options.now_source = "--at";
  options.dialect = DialectOf(ServerVersion{.minor = kNewestMinor, .emulated_minor = {}}, {});
  return options;
}

const absl::Time kNow = absl::FromCivil(absl::CivilSecond(2026, 3, 1, 3), absl::UTCTimeZone());

class ExampleTest : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(ExampleTest, PrintsWhatTheReadmeShowsWhateverTheOrderOfFiles) {
  ClusterSnapshot snapshot;
  for (const char* file : GetParam()) {
    const absl::Status status = AddFile(file, ReadAll(absl::StrCat(kExample, file)), snapshot);
    ASSERT_TRUE(status.ok()) << status;
  }
  ASSERT_EQ(snapshot.autoscalers.size(), 1u);
  const GivenCase given = DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow));
  EXPECT_EQ(ExplainText(given), ReadAll(absl::StrCat(kExample, "table.txt")));
  EXPECT_EQ(ExplainJson(given), ReadAll(absl::StrCat(kExample, "trace.json")));
  EXPECT_EQ(ExplainYaml(given), ReadAll(absl::StrCat(kExample, "trace.yaml")));
}

INSTANTIATE_TEST_SUITE_P(Orders, ExampleTest,
                         testing::Values(std::vector<const char*>{"hpa.yaml", "deployment.yaml",
                                                                  "pods.yaml", "metrics.yaml"},
                                         std::vector<const char*>{"metrics.yaml", "pods.yaml",
                                                                  "deployment.yaml", "hpa.yaml"}));

// An autoscaler on one external metric, target 10 for each replica.
struct Row {
  std::string name;
  std::string spec;    // more of the autoscaler's spec
  std::string scale;   // "spec.replicas/status.replicas"
  std::string value;   // of the metric; "": the files have none
  std::string answer;  // a part of the first line
  std::string why;     // a part of the second line
};

class WhyTest : public testing::TestWithParam<Row> {};

TEST_P(WhyTest, Row) {
  const Row& row = GetParam();
  const size_t slash = row.scale.find('/');
  std::string text = absl::StrCat(R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: prod}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics:
  - type: External
    external: {metric: {name: lag}, target: {type: AverageValue, averageValue: "10"}}
)",
                                  row.spec, R"(
---
apiVersion: autoscaling/v1
kind: Scale
metadata: {name: web, namespace: prod}
spec: {replicas: )",
                                  row.scale.substr(0, slash), R"(}
status: {selector: app=web, replicas: )",
                                  row.scale.substr(slash + 1), "}\n");
  if (!row.value.empty()) {
    absl::StrAppend(&text, R"(---
kind: ExternalMetricValueList
apiVersion: external.metrics.k8s.io/v1beta1
items: [{metricName: lag, timestamp: "2026-03-01T02:59:50Z", value: ")",
                    row.value, "\"}]\n");
  }
  ClusterSnapshot snapshot;
  const absl::Status status = AddFile("all.yaml", text, snapshot);
  ASSERT_TRUE(status.ok()) << status;
  const GivenCase given = DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow));
  EXPECT_THAT(ExplainText(given), HasSubstr(row.answer));
  EXPECT_THAT(WhyThisCount(given), HasSubstr(row.why));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, WhyTest,
    testing::Values(
        Row{"TheFormula", "  maxReplicas: 9", "3/3", "44", "goes from 3 to 5 replicas",
            "lag: 44 / 10 = 4.4, rounded up to 5; one more only for a total above 50"},
        // 33 / (10 * 3) = 1.1 is the end of the band and belongs to it.
        Row{"TheTolerance", "  maxReplicas: 9", "3/3", "33", "stays at 3 replicas",
            "lag: 1.1 of the target is within 0.9 to 1.1, so 3 stay; more only for a total above "
            "33"},
        Row{"TheMaximum", "  maxReplicas: 4", "3/3", "44", "goes from 3 to 4 replicas",
            "maxReplicas is 4; lag asks for 5 (44 / 10 = 4.4)"},
        Row{"TheDefaultRule", "  maxReplicas: 99", "3/3", "440", "goes from 3 to 6 replicas",
            "at most twice as many as now, or 4: 6; lag asks for 44 (440 / 10 = 44)"},
        Row{"AStatedRule",
            "  maxReplicas: 99\n  behavior: {scaleUp: {policies: [{type: Pods, value: 1, "
            "periodSeconds: 60}]}}",
            "3/3", "440", "goes from 3 to 4 replicas", "1 pod in 1m from 3 allows 4; lag asks for"},
        Row{"NoGrowthAtAll", "  maxReplicas: 99\n  behavior: {scaleUp: {selectPolicy: Disabled}}",
            "3/3", "440", "stays at 3 replicas", "selectPolicy Disabled allows 3"},
        Row{"TheWindow", "  maxReplicas: 9", "3/3", "10", "stays at 3 replicas",
            "the metrics ask for 1, but shrinking waits until nothing higher was asked for during "
            "5m (3 is today's size)"},
        Row{"TheMinimum",
            "  maxReplicas: 9\n  minReplicas: 2\n  behavior: {scaleDown: "
            "{stabilizationWindowSeconds: 0}}",
            "3/3", "10", "goes from 3 to 2 replicas", "minReplicas is 2; lag asks for 1"},
        Row{"AnUnknownMetric", "  maxReplicas: 9", "3/3", "", "stays at 3 replicas",
            "1 of 1 metric could not be read; unknown is not zero"},
        // The replica math without the guard would read 10E as 0 and shrink.
        Row{"AReadingBeyondTheGuard", "  maxReplicas: 9", "3/3", "10E", "stays at 3 replicas",
            "1 of 1 metric could not be read; unknown is not zero"},
        Row{"AboveTheMaximum", "  maxReplicas: 2", "3/3", "44", "goes from 3 to 2 replicas",
            "the bounds come before the metrics, which were not read"},
        Row{"SwitchedOff", "  maxReplicas: 9", "0/0", "44", "stays at 0 replicas",
            "scaled to zero by hand"},
        Row{"SwitchedOffThoughItMaySleep", "  maxReplicas: 9\n  minReplicas: 0", "0/0", "25",
            "stays at 0 replicas", "at zero without the condition ScaledToZero=True"},
        Row{"FromZero",
            "  maxReplicas: 9\n  minReplicas: 0\nstatus:\n  conditions: [{type: ScaledToZero, "
            "status: \"True\"}]",
            "0/0", "25", "goes from 0 to 3 replicas", "25 / 10 = 2.5, rounded up to 3"},
        Row{"FromZeroToARaisedMinimum",
            "  maxReplicas: 9\n  minReplicas: 5\nstatus:\n  conditions: [{type: ScaledToZero, "
            "status: \"True\"}]",
            "0/0", "0", "goes from 0 to 5 replicas", "minReplicas is 5"}),
    [](const auto& info) { return info.param.name; });

struct BadRow {
  std::string name;
  std::string text;
  std::string message;
};

class AddFileTest : public testing::TestWithParam<BadRow> {};

TEST_P(AddFileTest, SaysFileLineAndField) {
  ClusterSnapshot snapshot;
  const absl::Status status = AddFile("x.yaml", GetParam().text, snapshot);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, AddFileTest,
    testing::Values(
        BadRow{"RefusedAutoscaler",
               "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
               "spec:\n  maxReplicas: 0\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, "
               "name: web}\n",
               "x.yaml:5: spec.maxReplicas: Required value: must be set and greater than 0"},
        BadRow{"WrongType",
               "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
               "spec:\n  maxReplicas: many\n",
               "x.yaml:5: spec.maxReplicas: expected a whole number, got the string \"many\""},
        BadRow{"WrongPod", "kind: Pod\nmetadata:\n  name: 5\n",
               "x.yaml:3: metadata.name: expected"},
        BadRow{"WrongQuantity",
               "kind: ExternalMetricValueList\nitems:\n- metricName: lag\n  value: lots\n",
               "x.yaml:4: value: expected a quantity"},
        BadRow{"NamelessMetric", "kind: MetricValueList\nitems:\n- describedObject: {kind: Pod}\n",
               "x.yaml:3: the metric's name is missing"},
        BadRow{"NotYaml", "a: [1\n", "x.yaml: line"}, BadRow{"NoKind", "a: 1\n", "x.yaml:1: field"},
        BadRow{"Empty", "# nothing\n", "x.yaml: is empty"}),
    [](const auto& info) { return info.param.name; });

TEST(DecideGivenTest, WithoutAWorkloadTheStatusAndTheSharedLabelsStandIn) {
  ClusterSnapshot snapshot;
  for (const char* file : {"hpa.yaml", "pods.yaml", "metrics.yaml"}) {
    ASSERT_TRUE(AddFile(file, ReadAll(absl::StrCat(kExample, file)), snapshot).ok());
  }
  const GivenCase given = DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow));
  EXPECT_EQ(given.scale.spec_replicas, 4);
  EXPECT_EQ(given.scale.selector, "app=checkout");
  EXPECT_EQ(given.decision.desired, 6);
  EXPECT_THAT(given.notes[0], HasSubstr("Deployment checkout is not in the files"));
}

TEST(DecideGivenTest, SaysWhichScheduleHolds) {
  ClusterSnapshot snapshot;
  for (const char* file : {"hpa.yaml", "deployment.yaml", "pods.yaml", "metrics.yaml"}) {
    ASSERT_TRUE(AddFile(file, ReadAll(absl::StrCat(kExample, file)), snapshot).ok());
  }
  Autoscaler& hpa = snapshot.autoscalers[0];
  hpa.annotations["flyball.dev/schedules"] =
      "[{name: night, start: 0 2 * * *, end: 0 4 * * *, minReplicas: 8, maxReplicas: 9}]";
  const GivenCase open = DecideGiven(snapshot, hpa, At(kNow));
  EXPECT_EQ(open.decision.desired, 8);
  EXPECT_THAT(open.notes[0], HasSubstr("and advise): schedule \"night\": minReplicas 8, "
                                       "maxReplicas 9; minReplicas 8, maxReplicas 9"));
  const GivenCase closed = DecideGiven(snapshot, hpa, At(kNow - absl::Hours(2)));
  EXPECT_THAT(closed.notes[0], HasSubstr("none is open"));
  hpa.annotations["flyball.dev/schedules"] = "[{}]";
  EXPECT_THAT(DecideGiven(snapshot, hpa, At(kNow)).notes[0],
              HasSubstr("of its schedules only pauses are followed: metadata.annotations"));
  hpa.annotations["flyball.dev/schedules"] =
      "[{}, {name: freeze, start: 0 2 * * *, end: 0 4 * * *, paused: true}]";
  const GivenCase paused = DecideGiven(snapshot, hpa, At(kNow));
  EXPECT_THAT(paused.notes, Contains(HasSubstr("of its schedules only pauses are followed: ")));
  EXPECT_THAT(paused.notes, Contains(HasSubstr("pauses (followed in the modes act and advise): "
                                               "schedule \"freeze\": paused; ")));
}

// An autoscaler of an unknown workload with `metrics`, and the answers of a metrics API.
GivenCase DecideFile(absl::string_view metrics, absl::string_view answers) {
  ClusterSnapshot snapshot;
  const absl::Status added = AddFile("web.yaml",
                                     absl::StrCat(R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 20
  metrics:
)",
                                                  metrics, R"(
status: {currentReplicas: 1, desiredReplicas: 1}
---
)",
                                                  answers),
                                     snapshot);
  EXPECT_TRUE(added.ok()) << added;
  return DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow));
}

constexpr char kTwoQueues[] = R"(
  - {type: External, external: {metric: {name: q, selector: {matchLabels: {env: prod, queue: a}}}, target: {type: AverageValue, averageValue: "10"}}}
  - {type: External, external: {metric: {name: q, selector: {matchLabels: {env: prod, queue: b}}}, target: {type: AverageValue, averageValue: "10"}}})";

TEST(DecideGivenTest, LabelsTellForWhichSelectorAnExternalValueIs) {
  const GivenCase given = DecideFile(kTwoQueues, R"(
kind: ExternalMetricValueList
items:
- {metricName: q, metricLabels: {queue: a}, value: "20"}
- {metricName: q, metricLabels: {queue: b}, value: "30"}
)");
  ASSERT_EQ(given.readings.size(), 2u);
  EXPECT_THAT(given.readings[0].amounts_milli, testing::ElementsAre(20000));
  EXPECT_THAT(given.readings[1].amounts_milli, testing::ElementsAre(30000));
  EXPECT_THAT(ExplainText(given), testing::Not(HasSubstr("the files do not say")));
}

TEST(DecideGivenTest, WhereLabelsDoNotTellANoteSaysSo) {
  const GivenCase given = DecideFile(kTwoQueues, R"(
kind: ExternalMetricValueList
items: [{metricName: q, value: "20"}, {metricName: q, value: "30"}]
)");
  EXPECT_THAT(given.readings[0].amounts_milli, testing::ElementsAre(20000, 30000));
  EXPECT_THAT(given.readings[1].amounts_milli, testing::ElementsAre(20000, 30000));
  EXPECT_THAT(given.notes,
              testing::Contains("values of q count with the selector env=prod,queue=a and with the "
                                "selector env=prod,queue=b: the files do not say which of them "
                                "they are for"));
}

constexpr char kTwoRates[] = R"(
  - {type: Pods, pods: {metric: {name: rps, selector: {matchLabels: {code: "500"}}}, target: {type: AverageValue, averageValue: "10"}}}
  - {type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: "10"}}})";

constexpr char kPodA[] = R"(
---
{kind: Pod, metadata: {name: a, namespace: shop, labels: {app: web}}, status: {phase: Running}}
)";

TEST(DecideGivenTest, AValueWithTheSelectorOfItsMetricIsForThatAlone) {
  const GivenCase given = DecideFile(kTwoRates, absl::StrCat(R"(
kind: MetricValueList
items:
- {describedObject: {kind: Pod, name: a}, metric: {name: rps, selector: {matchLabels: {code: "500"}}}, value: "5"}
- {describedObject: {kind: Pod, name: a}, metric: {name: rps}, value: "30"}
)",
                                                             kPodA));
  ASSERT_EQ(given.readings.size(), 2u);
  ASSERT_EQ(given.readings[0].samples.size(), 1u);
  ASSERT_EQ(given.readings[1].samples.size(), 1u);
  EXPECT_EQ(given.readings[0].samples[0].value_milli, 5000);
  EXPECT_EQ(given.readings[1].samples[0].value_milli, 30000);
  EXPECT_THAT(ExplainText(given), testing::Not(HasSubstr("the files do not say")));
}

TEST(DecideGivenTest, AValueWithoutASelectorMayBeForEachMetricOfItsName) {
  const GivenCase given = DecideFile(kTwoRates, absl::StrCat(R"(
kind: MetricValueList
items: [{describedObject: {kind: Pod, name: a}, metric: {name: rps}, value: "30"}]
)",
                                                             kPodA));
  EXPECT_EQ(given.readings[0].error, "");
  EXPECT_EQ(given.readings[1].error, "");
  EXPECT_THAT(given.notes,
              testing::Contains("values of rps count with the selector code=500 and without a "
                                "selector: the files do not say which of them they are for"));
}

// As the metrics API would answer for the selector of the target's pods.
TEST(DecideGivenTest, ValuesOfPodsThatTheTargetDoesNotSelectAreLeftOut) {
  const GivenCase given = DecideFile(R"(
  - {type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: "10"}}})",
                                     absl::StrCat(R"(
kind: MetricValueList
items:
- {describedObject: {kind: Pod, name: a}, metric: {name: rps}, value: "10"}
- {describedObject: {kind: Pod, name: other}, metric: {name: rps}, value: "500"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 1, selector: {matchLabels: {app: web}}}
---
{kind: Pod, metadata: {name: other, namespace: shop, labels: {app: other}}, status: {phase: Running}}
)",
                                                  kPodA));
  ASSERT_EQ(given.readings.size(), 1u);
  ASSERT_EQ(given.readings[0].samples.size(), 1u);
  EXPECT_EQ(given.readings[0].samples[0].value_milli, 10000);
  EXPECT_EQ(given.decision.desired, 1);
}

// The controller does not look at the name in the metric.
TEST(DecideGivenTest, AMetricOfANamespaceIsOfTheAutoscalersOwn) {
  const GivenCase given = DecideFile(R"(
  - type: Object
    object:
      metric: {name: orders}
      describedObject: {apiVersion: v1, kind: Namespace, name: bank}
      target: {type: AverageValue, averageValue: "10"})",
                                     R"(
kind: MetricValueList
items:
- {describedObject: {kind: Namespace, name: shop}, metric: {name: orders}, value: "30"}
- {describedObject: {kind: Namespace, name: bank}, metric: {name: orders}, value: "90"}
)");
  ASSERT_EQ(given.readings.size(), 1u);
  EXPECT_THAT(given.readings[0].amounts_milli, testing::ElementsAre(30000));
}

TEST(DecideGivenTest, OldFilesAreCalledOld) {
  ClusterSnapshot snapshot;
  for (const char* file : {"hpa.yaml", "deployment.yaml", "pods.yaml", "metrics.yaml"}) {
    ASSERT_TRUE(AddFile(file, ReadAll(absl::StrCat(kExample, file)), snapshot).ok());
  }
  const GivenCase given = DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow + absl::Hours(8)));
  EXPECT_THAT(given.notes[0],
              HasSubstr("the newest reading is 8h old; to decide as of that time, add --at "
                        "2026-03-01T02:59:55Z"));
}

TEST(ShowNumberTest, NoLongerThanNeeded) {
  EXPECT_EQ(ShowNumber(1.5), "1.5");
  EXPECT_EQ(ShowNumber(40), "40");
  EXPECT_EQ(ShowNumber(4.0 / 3), "1.3333");
  EXPECT_EQ(ShowNumber(-0.00001), "-1e-05");
  EXPECT_EQ(ShowNumber(0), "0");
  EXPECT_EQ(ShowNumber(1e18), "1e+18");
  EXPECT_EQ(ShowNumber(0.0 / 0.0), "undefined");
}

TEST(ShowAmountTest, HasTheUnitOfTheResource) {
  MetricSpec cpu;
  cpu.resource = "cpu";
  MetricSpec memory;
  memory.resource = "memory";
  EXPECT_EQ(ShowAmount(950, cpu), "0.95 cores");
  EXPECT_EQ(ShowAmount(1000, cpu), "1 core");
  EXPECT_EQ(ShowAmount(104857600.0 * 1000, memory), "100 MiB");
  EXPECT_EQ(ShowAmount(17500, MetricSpec()), "17.5");
}

TEST(ShowAgeTest, IsReadable) {
  EXPECT_EQ(ShowAge(absl::Seconds(14)), "14s");
  EXPECT_EQ(ShowAge(absl::Seconds(125)), "2m5s");
  EXPECT_EQ(ShowAge(absl::Minutes(192)), "3h12m");
  EXPECT_EQ(ShowAge(absl::Seconds(-3)), "minus 3s");
}

// An Autoscaler (CRD). The queue holds 30: that asks for 3 at the target 10, and for 5 at
// the target 6 of the day's schedule. A cron trigger asks for 6 from noon on.
constexpr char kOwnFiles[] = R"(
apiVersion: flyball.dev/v1alpha1
kind: Autoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 20
  metrics:
  - {type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: "10"}}}
  triggers:
  - {type: cron, metadata: {timezone: Etc/UTC, start: 0 12 * * *, end: 0 13 * * *, desiredReplicas: "6"}}
  schedules:
  - {name: day, start: 0 8 * * *, end: 0 10 * * *, targets: {queue: "6"}, maxReplicas: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2, selector: {matchLabels: {app: web}}}
status: {replicas: 2}
---
apiVersion: external.metrics.k8s.io/v1beta1
kind: ExternalMetricValueList
items: [{metricName: queue, metricLabels: {}, value: "30", timestamp: "2026-03-01T03:00:00Z"}]
)";

TEST(DecideGivenTest, OfOurOwnKindSchedulesAndCronTriggersCount) {
  ClusterSnapshot snapshot;
  const absl::Status added = AddFile("web.yaml", kOwnFiles, snapshot);
  ASSERT_TRUE(added.ok()) << added;
  ASSERT_EQ(snapshot.own_autoscalers.size(), 1u);
  const auto at = [&](int hour) {
    return DecideGiven(snapshot, snapshot.own_autoscalers[0],
                       At(absl::FromCivil(absl::CivilHour(2026, 3, 1, hour), absl::UTCTimeZone())));
  };
  EXPECT_EQ(at(3).decision.desired, 3);
  const GivenCase day = at(9);  // 30 / 6 = 5
  EXPECT_EQ(day.decision.desired, 4);
  EXPECT_THAT(ExplainText(day), HasSubstr("schedule \"day\": maxReplicas 4, target of queue 6"));
  EXPECT_EQ(at(12).decision.desired, 4);  // 6 are asked for, but 2 may at most double at once
  EXPECT_THAT(ExplainText(at(12)), HasSubstr("asks for  6"));
}

TEST(DecideGivenTest, ATriggerThatWouldHaveToBeAskedIsUnknown) {
  ClusterSnapshot snapshot;
  const std::string files =
      absl::StrReplaceAll(kOwnFiles, {{"type: cron, metadata: {timezone: Etc/UTC, start: 0 12 * * "
                                       "*, end: 0 13 * * *, desiredReplicas: \"6\"}",
                                       "type: prometheus, metadata: {serverAddress: \"http://p\", "
                                       "query: q, threshold: \"5\"}"},
                                      {"value: \"30\"", "value: \"1\""}});
  ASSERT_TRUE(AddFile("web.yaml", files, snapshot).ok());
  const GivenCase given = DecideGiven(snapshot, snapshot.own_autoscalers[0], At(kNow));
  EXPECT_EQ(given.decision.outcome, Outcome::kMetricsFailed);
  EXPECT_FALSE(given.decision.rescale);
  EXPECT_THAT(ExplainText(given), HasSubstr("a trigger of type prometheus is not asked"));
}

TEST(DecideGivenTest, TheValueOfAFallbackIsMeasuredByTheTargetOfTheHour) {
  ClusterSnapshot snapshot;
  const std::string files = absl::StrReplaceAll(
      kOwnFiles, {{"averageValue: \"10\"}}}",
                   "averageValue: \"10\"}}, fallback: {failureThreshold: 0, then: {value: 18}}}"},
                  {"metricName: queue", "metricName: other"}});
  const absl::Status added = AddFile("web.yaml", files, snapshot);
  ASSERT_TRUE(added.ok()) << added;
  const auto asked_at = [&](int hour) {
    return DecideGiven(snapshot, snapshot.own_autoscalers[0],
                       At(absl::FromCivil(absl::CivilHour(2026, 3, 1, hour), absl::UTCTimeZone())))
        .decision.proposals[0]
        .replicas;
  };
  EXPECT_EQ(asked_at(3), 2);  // 18 / 10
  EXPECT_EQ(asked_at(9), 3);  // 18 / 6
}

TEST(DecideGivenTest, AFallbackCountsAsInTheFirstDecisionAfterAStart) {
  const auto decide = [](absl::string_view fallback) {
    ClusterSnapshot snapshot;
    const std::string files = absl::StrReplaceAll(
        kOwnFiles, {{"type: cron, metadata: {timezone: Etc/UTC, start: 0 12 * * *, end: 0 13 * * "
                     "*, desiredReplicas: \"6\"}",
                     absl::StrCat("type: prometheus, metadata: {serverAddress: \"http://p\", "
                                  "query: q, threshold: \"5\"}, fallback: ",
                                  fallback)}});
    const absl::Status added = AddFile("web.yaml", files, snapshot);
    EXPECT_TRUE(added.ok()) << added;
    return DecideGiven(snapshot, snapshot.own_autoscalers[0], At(kNow));
  };
  const GivenCase at_once = decide("{failureThreshold: 0, then: {replicas: 4}}");
  EXPECT_EQ(at_once.decision.desired, 4);  // the queue asks for 3
  EXPECT_THAT(ExplainText(at_once), HasSubstr("this count stands while it is unknown"));
  const GivenCase later = decide("{failureThreshold: 2, then: {replicas: 4}}");
  EXPECT_EQ(later.decision.desired, 3);
  EXPECT_THAT(ExplainText(later), HasSubstr("waits for 2 decisions in a row"));
  const GivenCase kept = decide("{keepLast: 5m}");
  EXPECT_THAT(ExplainText(kept), HasSubstr("keeps for 5m what was asked for last"));
}

// A Deployment with two pods at the target, and a Job's pod with the same labels far above it.
constexpr char kForeignPod[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2, selector: {matchLabels: {app: web}}}
status: {replicas: 2}
---
apiVersion: v1
kind: PodList
items:
- metadata:
    name: web-5c9-a
    labels: {app: web, pod-template-hash: 5c9}
    ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5c9, uid: u, controller: true}]
  status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
- metadata:
    name: web-5c9-b
    labels: {app: web, pod-template-hash: 5c9}
    ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5c9, uid: u, controller: true}]
  status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
- metadata:
    name: migrate-1
    labels: {app: web}
    ownerReferences: [{apiVersion: batch/v1, kind: Job, name: migrate, uid: v, controller: true}]
  status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: custom.metrics.k8s.io/v1beta2
kind: MetricValueList
items:
- {describedObject: {kind: Pod, name: web-5c9-a}, metric: {name: load}, value: "10", timestamp: "2026-03-01T12:00:00Z"}
- {describedObject: {kind: Pod, name: web-5c9-b}, metric: {name: load}, value: "10", timestamp: "2026-03-01T12:00:00Z"}
- {describedObject: {kind: Pod, name: migrate-1}, metric: {name: load}, value: "70", timestamp: "2026-03-01T12:00:00Z"}
---
)";
constexpr char kLoadSpec[] = R"(
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 20
  metrics: [{type: Pods, pods: {metric: {name: load}, target: {type: AverageValue, averageValue: "10"}}}]
)";

TEST(DecideGivenTest, AnAutoscalerMayTakeItsOwnPodsAlone) {
  const auto decide = [](absl::string_view selection) {
    ClusterSnapshot snapshot;
    const absl::Status added =
        AddFile("web.yaml",
                absl::StrCat(kForeignPod, "apiVersion: flyball.dev/v1alpha1\nkind: Autoscaler\n",
                             "metadata: {name: web}", kLoadSpec, selection),
                snapshot);
    EXPECT_TRUE(added.ok()) << added;
    return DecideGiven(snapshot, snapshot.own_autoscalers[0], At(kNow));
  };
  EXPECT_EQ(decide("").decision.desired, 4);  // 90 / 10 of 3 pods: 9, by policy no more than 4
  const GivenCase own = decide("  podSelection: OwnerReferences\n");
  EXPECT_EQ(own.decision.desired, 2);
  EXPECT_EQ(own.table.size(), 2u);
  EXPECT_THAT(ExplainText(own), HasSubstr("1 more pod has the labels that the selector wants and "
                                          "is not owned by Deployment web: left out"));
}

TEST(DecideGivenTest, AnHpaMayByAnnotation) {
  const auto decide = [](absl::string_view annotations) {
    ClusterSnapshot snapshot;
    const absl::Status added = AddFile(
        "web.yaml",
        absl::StrCat(kForeignPod, "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n",
                     "metadata: {name: web, annotations: {", annotations, "}}", kLoadSpec),
        snapshot);
    EXPECT_TRUE(added.ok()) << added;
    return DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow));
  };
  EXPECT_EQ(decide("").decision.desired, 4);
  const GivenCase own = decide("flyball.dev/pod-selection: OwnerReferences");
  EXPECT_EQ(own.decision.desired, 2);
  EXPECT_THAT(ExplainText(own), HasSubstr("which is followed in the modes act and advise"));
  const GivenCase wrong = decide("flyball.dev/pod-selection: Owners");
  EXPECT_EQ(wrong.decision.desired, 4);
  EXPECT_THAT(ExplainText(wrong), HasSubstr("expected LabelSelector or OwnerReferences"));
}

TEST(DecideGivenTest, KindsMayBeInLowerCase) {
  ClusterSnapshot snapshot;
  const absl::Status added = AddFile("web.yaml", absl::StrCat(kForeignPod, R"(
apiVersion: custom.metrics.k8s.io/v1beta2
kind: MetricValueList
items:
- {describedObject: {kind: Service, name: front}, metric: {name: hits}, value: "40", timestamp: "2026-03-01T02:59:00Z"}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, annotations: {flyball.dev/pod-selection: OwnerReferences}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: deployment, name: web}
  maxReplicas: 20
  metrics:
  - type: Object
    object:
      metric: {name: hits}
      describedObject: {apiVersion: v1, kind: service, name: front}
      target: {type: AverageValue, averageValue: "10"}
)"),
                                     snapshot);
  ASSERT_TRUE(added.ok()) << added;
  const GivenCase given = DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow));
  EXPECT_EQ(given.scale_source, "Deployment web");
  EXPECT_EQ(given.table.size(), 2u);
  EXPECT_EQ(given.decision.desired, 4);
}

TEST(DecideGivenTest, AnHpaIsNoRivalOfOneOfOurOwnKind) {
  ClusterSnapshot snapshot;
  const std::string of_both = absl::StrCat(
      kForeignPod,
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}", kLoadSpec,
      "---\napiVersion: flyball.dev/v1alpha1\nkind: Autoscaler\nmetadata: {name: web}", kLoadSpec);
  ASSERT_TRUE(AddFile("web.yaml", of_both, snapshot).ok());
  EXPECT_EQ(DecideGiven(snapshot, snapshot.own_autoscalers[0], At(kNow)).decision.desired, 4);
  EXPECT_EQ(DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow)).decision.desired, 4);
  // Two Autoscalers (CRD) over the same pods stop each other. One that counts only the
  // pods that its target owns goes on.
  snapshot.own_autoscalers.push_back(snapshot.own_autoscalers[0]);
  snapshot.own_autoscalers[1].autoscaler.name = "web2";
  EXPECT_FALSE(DecideGiven(snapshot, snapshot.own_autoscalers[0], At(kNow)).decision.rescale);
  snapshot.own_autoscalers[1].own.owned_pods_only = true;
  EXPECT_EQ(DecideGiven(snapshot, snapshot.own_autoscalers[1], At(kNow)).table.size(), 2u);
  EXPECT_EQ(DecideGiven(snapshot, snapshot.own_autoscalers[1], At(kNow)).decision.outcome,
            Outcome::kDecided);
}

// The names of External metrics may hold any characters, and so may what an object is refused for.
TEST(ExplainTextTest, NamesInItNeitherControlTheTerminalNorForgeLines) {
  ClusterSnapshot snapshot;
  ASSERT_TRUE(AddFile("web.yaml", R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, annotations: {flyball.dev/pod-selection: "\e[2Jx\nresult      forged"}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 9
  metrics:
  - type: External
    external:
      metric: {name: "lag\e[31m\e]0;title\a\nresult      forged\x9B"}
      target: {type: AverageValue, averageValue: "10"}
---
apiVersion: autoscaling/v1
kind: Scale
metadata: {name: web}
spec: {replicas: 3}
status: {selector: app=web, replicas: 3}
)",
                      snapshot)
                  .ok());
  ASSERT_EQ(snapshot.autoscalers.size(), 1u);
  const GivenCase given = DecideGiven(snapshot, snapshot.autoscalers[0], At(kNow));
  const std::string text = ExplainText(given);
  EXPECT_THAT(text, HasSubstr(R"(lag\x1b[31m\x1b]0;title\x07\nresult      forged\xc2\x9b)"));
  for (const char* control : {"\x1b", "\a", "\xc2\x9b", "\nresult      forged"}) {
    EXPECT_THAT(text, testing::Not(HasSubstr(control)));
  }
}

}  // namespace
}  // namespace flyball::scaler
