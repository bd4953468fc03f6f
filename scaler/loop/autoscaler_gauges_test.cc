#include "scaler/loop/autoscaler_gauges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Each series, without the "flyball_autoscaler_" of its name. What begins a family is checked here.
std::vector<std::string> Shown(const DecisionLog& log) {
  std::string text = "before 1\n";
  AppendAutoscalerGauges(log, text);
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  EXPECT_EQ(lines.front(), "before 1");
  lines.erase(lines.begin());
  std::vector<std::string> series;
  std::string family;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (absl::StartsWith(lines[i], "# HELP ")) {
      const std::vector<std::string> words = absl::StrSplit(lines[i], ' ');
      family = words[2];
      EXPECT_EQ(lines[++i], absl::StrCat("# TYPE ", family, " gauge"));
      continue;
    }
    EXPECT_TRUE(absl::StartsWith(lines[i], family + "{")) << lines[i];
    series.push_back(lines[i].substr(std::string("flyball_autoscaler_").size()));
  }
  return series;
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

// `repeated`: after that time it is made again, of the same reading.
void Log(DecisionLog& log, const std::string& name, const Decision& decision,
         absl::Duration repeated = absl::ZeroDuration()) {
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
  if (repeated == absl::ZeroDuration()) return;
  record.time += repeated;
  record.unchanged = true;
  log.OnDecision(record);
}

const absl::Time kNow = absl::FromUnixSeconds(1772600767);

TEST(AutoscalerGaugesTest, AtMostSixSeriesOfEach) {
  DecisionLog log;
  EXPECT_THAT(Shown(log), IsEmpty());
  Log(log, "web", Limited(kNow));
  const std::string web = R"({kind="HorizontalPodAutoscaler",namespace="shop",autoscaler="web")";
  EXPECT_THAT(Shown(log),
              ElementsAre("current_replicas" + web + "} 4", "desired_replicas" + web + "} 6",
                          "unbounded_replicas" + web + "} 9",
                          "proposal_replicas" + web + ",metric=\"external metric queue(nil)\"} 9",
                          "reading_age_seconds" + web + "} 7",
                          "limited" + web + ",reason=\"max_replicas\"} 1"));
}

TEST(AutoscalerGaugesTest, AReadingAgesWhileItsDecisionIsRepeated) {
  const auto age = [](const DecisionLog& log) {
    const std::vector<std::string> lines = Shown(log);
    const auto line = std::find_if(lines.begin(), lines.end(), [](const std::string& one) {
      return absl::StartsWith(one, "reading_age_seconds");
    });
    return line == lines.end() ? "" : line->substr(line->find("} ") + 2);
  };
  DecisionLog log;
  Log(log, "web", Limited(kNow), absl::Seconds(30));
  EXPECT_EQ(age(log), "37");
  // Steady, it is only compared; what it reads was sampled again meanwhile.
  const auto steadiness = std::make_shared<Steadiness>();
  log.OnSteady({.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"}, 9, steadiness);
  const absl::Time round = kNow + absl::Seconds(60);
  steadiness->AddRound(round, absl::ZeroDuration(), round - absl::Seconds(2));
  EXPECT_EQ(age(log), "2");
  steadiness->AddRound(round, absl::ZeroDuration(), absl::InfinitePast());
  EXPECT_EQ(age(log), "");
}

TEST(AutoscalerGaugesTest, ValuesOfLabelsAreEscaped) {
  DecisionLog log;
  Decision decision = Limited(kNow);
  decision.proposals[0].name = "a \"b\"\\\n";
  Log(log, "web", decision);
  EXPECT_THAT(Shown(log), testing::Contains(HasSubstr(R"(,metric="a \"b\"\\\n"} 9)")));
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
  const std::string shop = R"({kind="HorizontalPodAutoscaler",namespace="shop",autoscaler=")";
  EXPECT_THAT(Shown(log),
              UnorderedElementsAre("limited" + shop + "a\",reason=\"scale_unknown\"} 1",
                                   "limited" + shop + "b\",reason=\"metrics_failed\"} 1",
                                   "current_replicas" + shop + "b\"} 4",
                                   "desired_replicas" + shop + "b\"} 4"));
}

TEST(AutoscalerGaugesTest, WhatIsGoneHasNone) {
  DecisionLog log;
  Log(log, "web", Limited(kNow));
  log.OnForgotten({.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"});
  EXPECT_THAT(Shown(log), IsEmpty());
}

}  // namespace
}  // namespace flyball::scaler
