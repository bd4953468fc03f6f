#include "scaler/explain/text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "scaler/explain/amounts.h"
#include "scaler/explain/sentence.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMostSamplesShown = 6;

// What a missing timestamp reads as: Go's zero time, 1 January of the year 1.
constexpr absl::Time kUnstatedTime = absl::FromUnixSeconds(-62135596800);

class Page {
 public:
  void Line(absl::string_view step, absl::string_view text) {
    absl::StrAppendFormat(&text_, "%-12s%s\n", step, text);
  }
  void Detail(absl::string_view step, absl::string_view text) {
    absl::StrAppendFormat(&text_, "  %-10s%s\n", step, text);
  }
  void Head(absl::string_view text) { absl::StrAppend(&text_, text, "\n"); }
  void Gap() { absl::StrAppend(&text_, "\n"); }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// Without what all pods begin with, which is shown once.
std::string ShortName(const GivenCase& given, size_t row) {
  return given.table.name(row).substr(given.pod_name_prefix.size());
}

std::vector<std::string> NamesIn(const GivenCase& given, const Proposal& proposal, PodGroup group) {
  std::vector<std::string> names;
  for (size_t i = 0; i < proposal.pod_groups.size() && i < given.table.size(); ++i) {
    if (proposal.pod_groups[i] == group) names.push_back(ShortName(given, i));
  }
  return names;
}

void WriteRead(const GivenCase& given, size_t index, Page& page) {
  const MetricSpec& metric = given.autoscaler->metrics[index];
  const Reading& reading = given.readings[index];
  if (!reading.error.empty()) return page.Detail("read", absl::StrCat("failed: ", reading.error));
  std::vector<std::string> shown;
  absl::Duration youngest = absl::InfiniteDuration();
  absl::Duration oldest = -absl::InfiniteDuration();
  for (const PodSample& sample : reading.samples) {
    const std::string name =
        sample.row == kStranger ? "another pod" : ShortName(given, static_cast<size_t>(sample.row));
    shown.push_back(
        absl::StrCat(name, " ", ShowAmount(static_cast<double>(sample.value_milli), metric)));
    if (sample.timestamp <= kUnstatedTime) continue;
    youngest = std::min(youngest, given.decision.now - sample.timestamp);
    oldest = std::max(oldest, given.decision.now - sample.timestamp);
  }
  for (const int64_t amount : reading.amounts_milli) {
    shown.push_back(ShowAmount(static_cast<double>(amount), metric));
  }
  std::string age = "age not stated";
  if (reading.samples.empty() && reading.timestamp.has_value()) {
    age = absl::StrCat(ShowAge(given.decision.now - *reading.timestamp), " old");
  } else if (oldest >= youngest) {
    const std::string low = ShowAge(youngest);
    const std::string high = ShowAge(oldest);
    age = low == high ? absl::StrCat(high, " old") : absl::StrCat(low, " to ", high, " old");
  }
  // Of a decision from the log not all samples are kept.
  const auto count =
      static_cast<int64_t>(std::max(shown.size(), given.decision.proposals[index].items));
  page.Detail("read", absl::StrCat(ShowCount(count, reading.samples.empty() ? "value" : "sample"),
                                   ", ", age, ": ", ShowNames(shown, kMostSamplesShown)));
}

// The groups by their numbers alone, when nobody wrote down who is in them.
std::vector<std::string> ShowGroupCounts(const GroupCounts& groups) {
  std::vector<std::string> shown;
  const std::pair<int64_t, const char*> kGroups[] = {{groups.ready, "ready"},
                                                     {groups.unready, "not ready"},
                                                     {groups.missing, "without a sample"},
                                                     {groups.ignored, "going away"}};
  for (const auto& [count, words] : kGroups) {
    if (count > 0) shown.push_back(absl::StrCat(count, " ", words));
  }
  return shown;
}

void WriteGroups(const GivenCase& given, const Proposal& proposal, Page& page) {
  std::vector<std::string> shown;
  if (proposal.pod_groups.empty()) shown = ShowGroupCounts(proposal.groups);
  const std::pair<PodGroup, const char*> kGroups[] = {{PodGroup::kReady, "ready"},
                                                      {PodGroup::kUnready, "not ready"},
                                                      {PodGroup::kMissing, "without a sample"},
                                                      {PodGroup::kIgnored, "going away"}};
  for (const auto& [group, words] : kGroups) {
    const std::vector<std::string> names = NamesIn(given, proposal, group);
    if (names.empty()) continue;
    shown.push_back(absl::StrCat(names.size(), " ", words, " (", ShowNames(names), ")"));
  }
  if (proposal.groups.strangers > 0) {
    shown.push_back(absl::StrCat(ShowCount(proposal.groups.strangers, "sample"),
                                 " of pods that are not the target's"));
  }
  if (!shown.empty()) page.Detail("pods", absl::StrJoin(shown, ", "));
}

std::string Judge(double ratio, const Tolerance& tolerance) {
  return absl::StrCat(tolerance.Holds(ratio) ? "within " : "outside ", ShowNumber(tolerance.low()),
                      " to ", ShowNumber(tolerance.high()));
}

void WriteMean(const MetricSpec& metric, const Proposal& proposal, Page& page) {
  const double sum = static_cast<double>(proposal.sum_milli);
  if (proposal.formula == Formula::kPodUtilization) {
    page.Detail("mean",
                absl::StrCat(ShowAmount(sum, metric), " used of ",
                             ShowAmount(static_cast<double>(proposal.requests_milli), metric),
                             " requested by ", ShowCount(proposal.samples_counted, "pod"), " = ",
                             proposal.utilization.value_or(0), "%"));
    page.Detail("ratio",
                absl::StrCat(proposal.utilization.value_or(0), "% / ", proposal.target_utilization,
                             "% = ", ShowNumber(proposal.ratio), ", ",
                             Judge(proposal.ratio, proposal.tolerance)));
    return;
  }
  const double mean = static_cast<double>(proposal.measured_milli);
  page.Detail("mean", absl::StrCat(ShowAmount(sum, metric), " / ",
                                   ShowCount(proposal.samples_counted, "sample"), " = ",
                                   ShowAmount(mean, metric)));
  page.Detail("ratio", absl::StrCat(ShowAmount(mean, metric), " / ",
                                    ShowAmount(static_cast<double>(proposal.target_milli), metric),
                                    " = ", ShowNumber(proposal.ratio), ", ",
                                    Judge(proposal.ratio, proposal.tolerance)));
}

// How the pods without a usable sample were counted, and what that made of the ratio.
void WriteGaps(const MetricSpec& metric, const Proposal& proposal, Page& page) {
  if (!proposal.refilled) return;
  std::vector<std::string> rules;
  if (proposal.missing_milli.has_value()) {
    rules.push_back(absl::StrCat("each pod without a sample counts as ",
                                 ShowAmount(static_cast<double>(*proposal.missing_milli), metric)));
  }
  if (proposal.missing_percent.has_value()) {
    rules.push_back(absl::StrCat("each pod without a sample counts as ", *proposal.missing_percent,
                                 "% of its request"));
  }
  if (proposal.unready_as_zero) rules.emplace_back("each pod not ready counts as 0");
  if (rules.empty()) rules.emplace_back("the ratio is 1, so they count as nothing");
  const double sum = static_cast<double>(proposal.refilled_sum_milli);
  const std::string fraction =
      proposal.formula == Formula::kPodUtilization
          ? absl::StrCat(ShowAmount(sum, metric), " of ",
                         ShowAmount(static_cast<double>(proposal.refilled_requests_milli), metric),
                         " = ", ShowNumber(proposal.refilled_ratio * proposal.target_utilization),
                         "%")
          : absl::StrCat(ShowAmount(sum, metric), " / ",
                         ShowCount(proposal.refilled_samples, "sample"));
  page.Detail("gaps", absl::StrCat(absl::StrJoin(rules, ", "), ": ", fraction, " -> ratio ",
                                   ShowNumber(proposal.refilled_ratio), ", ",
                                   Judge(proposal.refilled_ratio, proposal.tolerance)));
}

void WriteTotal(const MetricSpec& metric, const Proposal& proposal, Page& page) {
  const double total = static_cast<double>(proposal.sum_milli);
  const std::string target = ShowAmount(static_cast<double>(proposal.target_milli), metric);
  if (proposal.formula == Formula::kTotalOverTarget) {
    page.Detail("ratio", absl::StrCat(ShowAmount(total, metric), " / (", target, " x ",
                                      ShowCount(proposal.base_replicas, "replica"),
                                      ") = ", ShowNumber(proposal.ratio), ", ",
                                      Judge(proposal.ratio, proposal.tolerance)));
    return;
  }
  const std::string judged = proposal.formula == Formula::kTotalFromZero
                                 ? "no tolerance from zero"
                                 : Judge(proposal.ratio, proposal.tolerance);
  page.Detail("ratio", absl::StrCat(ShowAmount(total, metric), " / ", target, " = ",
                                    ShowNumber(proposal.ratio), ", ", judged));
}

void WriteMetric(const GivenCase& given, size_t index, Page& page) {
  const MetricSpec& metric = given.autoscaler->metrics[index];
  const Proposal& proposal = given.decision.proposals[index];
  page.Gap();
  page.Line(absl::StrCat("metric ", index + 1),
            absl::StrCat(metric.type_text, " ", ShowMetricName(metric), ", target ",
                         ShowTarget(metric, proposal)));
  if (index < given.readings.size()) WriteRead(given, index, page);
  WriteGroups(given, proposal, page);
  switch (proposal.formula) {
    case Formula::kPodAverage:
    case Formula::kPodUtilization:
      WriteMean(metric, proposal, page);
      WriteGaps(metric, proposal, page);
      break;
    case Formula::kTotalPerReadyPod:
    case Formula::kTotalFromZero:
    case Formula::kTotalOverTarget:
      WriteTotal(metric, proposal, page);
      break;
    case Formula::kNone:
      break;
  }
  page.Detail("asks for", proposal.valid ? absl::StrCat(proposal.replicas, ": ",
                                                        WhyThisProposal(metric, proposal))
                                         : absl::StrCat("nothing (", proposal.error, ")"));
}

void WriteCombination(const GivenCase& given, Page& page) {
  const Decision& decision = given.decision;
  if (!decision.combination.has_value()) return;
  const Combination& combination = *decision.combination;
  page.Gap();
  std::vector<std::string> others;
  for (size_t i = 0; i < decision.proposals.size(); ++i) {
    if (combination.winner == i) continue;
    others.push_back(absl::StrCat(
        "metric ", i + 1, ": ",
        decision.proposals[i].valid ? absl::StrCat(decision.proposals[i].replicas) : "unknown"));
  }
  std::string text =
      combination.winner.has_value()
          ? absl::StrCat(combination.replicas, ", of metric ", *combination.winner + 1)
          : "none";
  if (!others.empty()) absl::StrAppend(&text, " (", absl::StrJoin(others, ", "), ")");
  if (combination.gave_up) {
    absl::StrAppend(&text, "; given up: a metric that is unknown forbids shrinking");
  }
  page.Line("largest", text);
}

void WriteStabilization(const Decision& decision, Page& page) {
  if (!decision.stabilization.has_value()) return;
  const Stabilization& window = *decision.stabilization;
  const std::string windows =
      window.with_behavior
          ? absl::StrCat("down ", ShowAge(window.down_window), ", up ", ShowAge(window.up_window))
          : absl::StrCat("down ", ShowAge(window.down_window));
  if (window.after == window.before) {
    return page.Line("window", absl::StrCat(window.after, " stands (", windows, ")"));
  }
  std::string by;
  if (window.by.has_value()) {
    by = absl::StrCat(" by ", window.by->replicas, " of ", ShowAge(decision.now - window.by->time),
                      " ago");
  }
  page.Line("window", absl::StrCat(window.before, " becomes ", window.after, ", held", by, " (",
                                   windows, ")"));
}

void WriteLimiting(const GivenCase& given, Page& page) {
  const Decision& decision = given.decision;
  if (!decision.limiting.has_value()) return;
  const Limiting& limiting = *decision.limiting;
  if (limiting.up || limiting.down) page.Line("rules", ShowRules(given));
  page.Line(
      "bounds",
      absl::StrCat(limiting.lowest, " to ", limiting.highest, " now (min ", decision.min_replicas,
                   ", max ", decision.max_replicas, "): ", limiting.before,
                   limiting.after == limiting.before ? " is inside"
                                                     : absl::StrCat(" becomes ", limiting.after)));
}

void WriteResult(const GivenCase& given, Page& page) {
  const Decision& decision = given.decision;
  page.Line("result", decision.rescale ? absl::StrCat("write replicas ", decision.desired, " to ",
                                                      given.autoscaler->scale_target.kind, " ",
                                                      given.autoscaler->scale_target.name)
                                       : "nothing to write");
  std::vector<std::string> conditions;
  for (const Condition& condition : decision.status.conditions) {
    conditions.push_back(absl::StrCat(condition.type, "=", ConditionStatusName(condition.status),
                                      " ", condition.reason));
  }
  if (!conditions.empty()) page.Line("status", absl::StrJoin(conditions, ", "));
  for (const Event& event : decision.events) {
    page.Line("event",
              absl::StrCat(event.warning ? "Warning " : "", event.reason, ": ", event.message));
  }
  for (const std::string& note : given.notes) page.Line("note", note);
}

std::string Headline(const GivenCase& given) {
  const Autoscaler& autoscaler = *given.autoscaler;
  const Decision& decision = given.decision;
  const std::string target =
      absl::StrCat(autoscaler.scale_target.kind, " ", autoscaler.scale_target.name);
  const bool changes = decision.rescale && decision.desired != decision.current;
  return absl::StrCat(autoscaler.ns, "/", autoscaler.name, ": ", target,
                      changes ? absl::StrCat(" goes from ", decision.current, " to ",
                                             ShowCount(decision.desired, "replica"))
                              : absl::StrCat(" stays at ", ShowCount(decision.current, "replica")));
}

}  // namespace

std::string ExplainText(const GivenCase& given) {
  const Decision& decision = given.decision;
  const int64_t count = decision.rescale ? decision.desired : decision.current;
  Page page;
  page.Head(Headline(given));
  page.Head(absl::StrCat("Why ", count, " and not ", count + 1, ": ", WhyThisCount(given), "."));
  page.Gap();
  page.Line("time", absl::StrCat(ShowTime(decision.now), " (", given.now_source, ")"));
  page.Line("scale", absl::StrCat(decision.current, " wanted, ", decision.status_replicas,
                                  " there, min ", decision.min_replicas, ", max ",
                                  decision.max_replicas, " (from ", given.scale_source, ")"));
  if (!given.pods.empty()) {
    std::vector<std::string> names;
    for (size_t i = 0; i < given.table.size(); ++i) names.push_back(ShortName(given, i));
    const std::string& prefix = given.pod_name_prefix;
    page.Line(
        "pods",
        absl::StrCat(std::max(names.size(), given.pods_in_all), " with ", given.scale.selector,
                     ": ", prefix.empty() ? "" : absl::StrCat(prefix, "... "), ShowNames(names)));
  }
  for (size_t i = 0; i < decision.proposals.size() && decision.metrics_computed; ++i) {
    WriteMetric(given, i, page);
  }
  WriteCombination(given, page);
  if (!decision.combination.has_value()) page.Gap();
  WriteStabilization(decision, page);
  WriteLimiting(given, page);
  WriteResult(given, page);
  return page.Take();
}

}  // namespace flyball::scaler
