#include "scaler/explain/explain.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/one_line.h"
#include "scaler/explain/amounts.h"
#include "scaler/explain/sentence.h"

namespace flyball::scaler {
namespace {

constexpr size_t kNamed = 6;  // names in one line
// Go's zero time, 1 January of the year 1, which servers write for a missing timestamp.
constexpr absl::Time kUnstatedTime = absl::FromUnixSeconds(-62135596800);

// The longest common start of all pods' names that ends in a dash; "" for a single pod.
std::string SharedNamePrefix(const PodTable& pods) {
  if (pods.size() < 2) return "";
  std::string prefix = pods.name(0);
  for (size_t i = 1; i < pods.size(); ++i) {
    const std::string& name = pods.name(i);
    const size_t length = std::min(prefix.size(), name.size());
    const auto differ = std::mismatch(name.begin(), name.begin() + length, prefix.begin());
    prefix.erase(differ.second, prefix.end());
  }
  const size_t dash = prefix.rfind('-');
  prefix.resize(dash == std::string::npos ? 0 : dash + 1);
  return prefix;
}

// Every text is put into one line, since names and messages in it come from objects and from
// external scalers, and the page is shown in a terminal.
class Page {
 public:
  explicit Page(const GivenCase& given) : pods_(given.table), prefix_(SharedNamePrefix(pods_)) {}

  void Line(absl::string_view step, absl::string_view text) {
    absl::StrAppendFormat(&text_, "%-12s%s\n", step, OneLine(text));
  }
  void Detail(absl::string_view step, absl::string_view text) {
    absl::StrAppendFormat(&text_, "  %-10s%s\n", step, OneLine(text));
  }
  void Head(absl::string_view text) { absl::StrAppend(&text_, OneLine(text), "\n"); }
  void Gap() { absl::StrAppend(&text_, "\n"); }
  std::string Take() { return std::move(text_); }

  // The common start of all pods' names, which is shown only once.
  const std::string& prefix() const { return prefix_; }
  // The name without that start.
  std::string PodName(size_t row) const { return pods_.name(row).substr(prefix_.size()); }

 private:
  const PodTable& pods_;
  const std::string prefix_;
  std::string text_;
};

void WriteRead(const GivenCase& given, size_t index, Page& page) {
  const MetricSpec& metric = given.autoscaler.metrics[index];
  const Reading& reading = given.readings[index];
  if (!reading.error.empty()) return page.Detail("read", absl::StrCat("failed: ", reading.error));
  std::vector<std::string> shown;
  absl::Duration youngest = absl::InfiniteDuration();
  absl::Duration oldest = -absl::InfiniteDuration();
  for (const PodSample& sample : reading.samples) {
    const std::string name =
        sample.row == kStranger ? "another pod" : page.PodName(static_cast<size_t>(sample.row));
    shown.push_back(absl::StrCat(name, " ", ShowAmount(sample.value_milli, metric)));
    if (sample.timestamp <= kUnstatedTime) continue;
    youngest = std::min(youngest, given.decision.now - sample.timestamp);
    oldest = std::max(oldest, given.decision.now - sample.timestamp);
  }
  for (const int64_t amount : reading.amounts_milli) shown.push_back(ShowAmount(amount, metric));
  std::string age = "age not stated";
  if (reading.samples.empty() && reading.timestamp.has_value()) {
    age = absl::StrCat(ShowAge(given.decision.now - *reading.timestamp), " old");
  } else if (oldest >= youngest) {
    const std::string low = ShowAge(youngest);
    const std::string high = ShowAge(oldest);
    age = low == high ? absl::StrCat(high, " old") : absl::StrCat(low, " to ", high, " old");
  }
  // The log does not keep all samples of a decision.
  const auto count =
      static_cast<int64_t>(std::max(shown.size(), given.decision.proposals[index].items));
  page.Detail("read", absl::StrCat(ShowCount(count, reading.samples.empty() ? "value" : "sample"),
                                   ", ", age, ": ", Shortened(shown, kNamed)));
}

// Which pods are in which group; only their numbers, if the decision has no names.
void WriteGroups(const GivenCase& given, const Proposal& proposal, Page& page) {
  const GroupCounts& groups = proposal.groups;
  const std::tuple<PodGroup, int64_t, const char*> kGroups[] = {
      {PodGroup::kReady, groups.ready, "ready"},
      {PodGroup::kUnready, groups.unready, "not ready"},
      {PodGroup::kMissing, groups.missing, "without a sample"},
      {PodGroup::kIgnored, groups.ignored, "going away"}};
  std::vector<std::string> shown;
  for (const auto& [group, count, words] : kGroups) {
    std::vector<std::string> names;
    for (size_t i = 0; i < proposal.pod_groups.size() && i < given.table.size(); ++i) {
      if (proposal.pod_groups[i] == group) names.push_back(page.PodName(i));
    }
    if (!names.empty()) {
      shown.push_back(absl::StrCat(names.size(), " ", words, " (", Shortened(names, kNamed), ")"));
    } else if (proposal.pod_groups.empty() && count > 0) {
      shown.push_back(absl::StrCat(count, " ", words));
    }
  }
  if (groups.strangers > 0) {
    shown.push_back(
        absl::StrCat(ShowCount(groups.strangers, "sample"), " of pods that are not the target's"));
  }
  if (!shown.empty()) page.Detail("pods", absl::StrJoin(shown, ", "));
}

std::string Judge(double ratio, const Tolerance& tolerance) {
  return absl::StrCat(tolerance.Holds(ratio) ? "within " : "outside ", ShowNumber(tolerance.low()),
                      " to ", ShowNumber(tolerance.high()));
}

void WriteRatio(absl::string_view measured, absl::string_view target, const Proposal& proposal,
                Page& page) {
  page.Detail("ratio",
              absl::StrCat(measured, " / ", target, " = ", ShowNumber(proposal.ratio), ", ",
                           proposal.formula == Formula::kTotalFromZero
                               ? "no tolerance from zero"
                               : Judge(proposal.ratio, proposal.tolerance)));
}

void WriteMean(const MetricSpec& metric, const Proposal& proposal, Page& page) {
  const std::string sum = ShowAmount(proposal.sum_milli, metric);
  if (proposal.formula == Formula::kPodUtilization) {
    const std::string mean = absl::StrCat(proposal.utilization.value_or(0), "%");
    page.Detail("mean", absl::StrCat(sum, " used of ", ShowAmount(proposal.requests_milli, metric),
                                     " requested by ", ShowCount(proposal.samples_counted, "pod"),
                                     " = ", mean));
    return WriteRatio(mean, absl::StrCat(proposal.target_utilization, "%"), proposal, page);
  }
  const std::string mean = ShowAmount(proposal.measured_milli, metric);
  page.Detail("mean",
              absl::StrCat(sum, " / ", ShowCount(proposal.samples_counted, "sample"), " = ", mean));
  WriteRatio(mean, ShowAmount(proposal.target_milli, metric), proposal, page);
}

// How pods without a usable sample were counted, and the ratio that this gave.
void WriteGaps(const MetricSpec& metric, const Proposal& proposal, Page& page) {
  if (!proposal.refilled) return;
  std::vector<std::string> rules;
  if (proposal.missing_milli.has_value()) {
    rules.push_back(absl::StrCat("each pod without a sample counts as ",
                                 ShowAmount(*proposal.missing_milli, metric)));
  }
  if (proposal.missing_percent.has_value()) {
    rules.push_back(absl::StrCat("each pod without a sample counts as ", *proposal.missing_percent,
                                 "% of its request"));
  }
  if (proposal.unready_as_zero) rules.emplace_back("each pod not ready counts as 0");
  if (rules.empty()) rules.emplace_back("the ratio is 1, so they count as nothing");
  const std::string sum = ShowAmount(proposal.refilled_sum_milli, metric);
  const std::string fraction =
      proposal.formula == Formula::kPodUtilization
          ? absl::StrCat(sum, " of ", ShowAmount(proposal.refilled_requests_milli, metric), " = ",
                         ShowNumber(proposal.refilled_ratio * proposal.target_utilization), "%")
          : absl::StrCat(sum, " / ", ShowCount(proposal.refilled_samples, "sample"));
  page.Detail("gaps", absl::StrCat(absl::StrJoin(rules, ", "), ": ", fraction, " -> ratio ",
                                   ShowNumber(proposal.refilled_ratio), ", ",
                                   Judge(proposal.refilled_ratio, proposal.tolerance)));
}

void WriteTotal(const MetricSpec& metric, const Proposal& proposal, Page& page) {
  std::string target = ShowAmount(proposal.target_milli, metric);
  if (proposal.formula == Formula::kTotalOverTarget) {
    target = absl::StrCat("(", target, " x ", ShowCount(proposal.base_replicas, "replica"), ")");
  }
  WriteRatio(ShowAmount(proposal.sum_milli, metric), target, proposal, page);
}

void WriteMetric(const GivenCase& given, size_t index, Page& page) {
  const MetricSpec& metric = given.autoscaler.metrics[index];
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
    case Formula::kTotalOverTarget: WriteTotal(metric, proposal, page); break;
    case Formula::kNone: break;
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

void WritePending(const Decision& decision, Page& page) {
  if (!decision.pending.has_value()) return;
  const PendingHold& pending = *decision.pending;
  page.Line("pending",
            absl::StrCat(pending.before,
                         pending.held() ? absl::StrCat(" becomes ", pending.after) : " stands",
                         " (", pending.loading, " loading and ", pending.settling,
                         " settling pods that were asked for)"));
}

void WriteStabilization(const Decision& decision, Page& page) {
  if (!decision.stabilization.has_value()) return;
  const Stabilization& window = *decision.stabilization;
  const std::string windows =
      absl::StrCat("down ", ShowAge(window.down_window),
                   window.with_behavior ? absl::StrCat(", up ", ShowAge(window.up_window)) : "");
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
                                                      given.autoscaler.scale_target.kind, " ",
                                                      given.autoscaler.scale_target.name)
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

// The answer and its reason. A count that is not known is not 0.
void WriteHead(const GivenCase& given, Page& page) {
  const Autoscaler& autoscaler = given.autoscaler;
  const Decision& decision = given.decision;
  const std::string subject =
      absl::StrCat(autoscaler.ns, "/", autoscaler.name, ": ", autoscaler.scale_target.kind, " ",
                   autoscaler.scale_target.name);
  if (decision.outcome == Outcome::kScaleUnknown) {
    page.Head(absl::StrCat(subject, " stays as it is"));
    return page.Head(absl::StrCat("Why: ", WhyThisCount(given), "."));
  }
  const bool changes = decision.rescale && decision.desired != decision.current;
  page.Head(absl::StrCat(
      subject, changes ? absl::StrCat(" goes from ", decision.current, " to ",
                                      ShowCount(decision.desired, "replica"))
                       : absl::StrCat(" stays at ", ShowCount(decision.current, "replica"))));
  const int64_t count = decision.count();
  page.Head(absl::StrCat("Why ", count, " and not ", count + 1, ": ", WhyThisCount(given), "."));
}

}  // namespace

std::string ExplainText(const GivenCase& given) {
  const Decision& decision = given.decision;
  Page page(given);
  WriteHead(given, page);
  page.Gap();
  page.Line("time", absl::StrCat(ShowTime(decision.now), " (", given.now_source, ")"));
  const std::string counts =
      decision.outcome == Outcome::kScaleUnknown
          ? "not known"
          : absl::StrCat(decision.current, " wanted, ", decision.status_replicas, " there");
  page.Line("scale", absl::StrCat(counts, ", min ", decision.min_replicas, ", max ",
                                  decision.max_replicas, " (from ", given.scale_source, ")"));
  if (!given.table.empty()) {
    std::vector<std::string> names;
    for (size_t i = 0; i < given.table.size(); ++i) names.push_back(page.PodName(i));
    const std::string& prefix = page.prefix();
    page.Line("pods", absl::StrCat(std::max(names.size(), given.pods_in_all), " with ",
                                   given.scale.selector, ": ",
                                   prefix.empty() ? "" : absl::StrCat(prefix, "... "),
                                   Shortened(names, kNamed)));
  }
  for (size_t i = 0; i < decision.proposals.size() && decision.metrics_computed; ++i) {
    WriteMetric(given, i, page);
  }
  WriteCombination(given, page);
  if (!decision.combination.has_value()) page.Gap();
  WritePending(decision, page);
  WriteStabilization(decision, page);
  WriteLimiting(given, page);
  WriteResult(given, page);
  return page.Take();
}

}  // namespace flyball::scaler
