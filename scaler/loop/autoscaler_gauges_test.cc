#include "scaler/loop/autoscaler_gauges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/metric_family.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// "name{label=value …} number" of each series.
std::vector<std::string> Shown(const DecisionLog& log) {
  std::vector<std::string> lines;
  for (const prometheus::MetricFamily& family : AutoscalerGauges(log)) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string line = family.name.substr(family.name.find("scaler_") + 7);
      for (const auto& label : metric.label) absl::StrAppend(&line, " ", label.value);
      lines.push_back(absl::StrCat(line, " = ", metric.gauge.value));
    }
  }
  return lines;
}

// Grows from 4 to 6 by `queue`, which alone would have 9: maxReplicas is 6.
Decision Limited(absl::Time now) {
  Decision decision;
  decision.outcome = Outcome::kDecided;
  decision.now = now;
  decision.current = 4;
  decision.desired = 6;
  decision.rescale = true;
  decision.recommendation = 9;
  decision.proposals.resize(1);
  Proposal& proposal = decision.proposals[0];
  proposal.valid = true;
  proposal.replicas = 9;
  proposal.name = "external metric queue(nil)";
  proposal.verdict = Verdict::kComputed;
  decision.combination.emplace().winner = 0;
  decision.combination->replicas = 9;
  decision.stabilization.emplace();
  decision.stabilization->before = decision.stabilization->after = 9;
  decision.limiting.emplace().by = LimitedBy::kMaxReplicas;
  decision.limiting->before = 9;
  decision.limiting->after = 6;
  return decision;
}

void Log(DecisionLog& log, const std::string& name, const Decision& decision) {
  auto managed = std::make_shared<Managed>();
  managed->key = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = name};
  const ScaleAnswer scale;
  Reading reading;  // seven seconds old
  reading.amounts_milli = {90000};
  reading.timestamp = decision.now - absl::Seconds(7);
  DecisionRecord record;
  record.readings = absl::MakeConstSpan(&reading, decision.proposals.size());
  record.managed = managed;
  record.scale = &scale;
  record.decision = &decision;
  record.time = decision.now;
  log.OnDecision(record);
}

const absl::Time kNow = absl::FromUnixSeconds(1772600767);

TEST(AutoscalerGaugesTest, AtMostSixSeriesOfEach) {
  DecisionLog log;
  EXPECT_THAT(Shown(log), IsEmpty());
  Log(log, "web", Limited(kNow));
  EXPECT_THAT(Shown(log),
              ElementsAre("current_replicas HorizontalPodAutoscaler shop web = 4",
                          "desired_replicas HorizontalPodAutoscaler shop web = 6",
                          "unbounded_replicas HorizontalPodAutoscaler shop web = 9",
                          "proposal_replicas HorizontalPodAutoscaler shop web external metric "
                          "queue(nil) = 9",
                          "reading_age_seconds HorizontalPodAutoscaler shop web = 7",
                          "limited HorizontalPodAutoscaler shop web max_replicas = 1"));
}

TEST(AutoscalerGaugesTest, WhereNothingIsKnownThereIsNoNumber) {
  DecisionLog log;
  Decision unknown;
  unknown.now = kNow;
  Log(log, "a", unknown);
  Decision failed = Limited(kNow);
  failed.outcome = Outcome::kMetricsFailed;
  failed.rescale = false;
  Log(log, "b", failed);
  EXPECT_THAT(Shown(log),
              UnorderedElementsAre("limited HorizontalPodAutoscaler shop a scale_unknown = 1",
                                   "limited HorizontalPodAutoscaler shop b metrics_failed = 1",
                                   "current_replicas HorizontalPodAutoscaler shop b = 4",
                                   "desired_replicas HorizontalPodAutoscaler shop b = 4"));
}

TEST(AutoscalerGaugesTest, WhatIsGoneHasNone) {
  DecisionLog log;
  Log(log, "web", Limited(kNow));
  log.OnForgotten({.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"});
  EXPECT_THAT(Shown(log), IsEmpty());
}

}  // namespace
}  // namespace flyball::scaler
