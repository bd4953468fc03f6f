#include "scaler/explain/logged_case.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/explain/amounts.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {
namespace {

std::string ShowShort(absl::Duration duration) {
  const double milliseconds = absl::ToDoubleMilliseconds(duration);
  return milliseconds < 1000 ? absl::StrCat(ShowNumber(milliseconds, 1), "ms")
                             : absl::StrCat(ShowNumber(milliseconds / 1000, 1), "s");
}

// What became of it.
std::string ShowAct(const LoggedDecision& logged) {
  if (!logged.scale_error.empty()) {
    return absl::StrCat("the scale could not be written: ", logged.scale_error);
  }
  if (logged.scale_written) return "the scale was written";
  if (!logged.decision.rescale) return absl::StrCat("mode ", ModeName(logged.mode));
  switch (logged.mode) {
    case Mode::kShadow:
      return "mode shadow: the scale is not written, only compared";
    case Mode::kAdvise:
      return "mode advise: the scale is not written, the count is published as a metric";
    case Mode::kAct:
      break;
  }
  return "the scale was not written";
}

std::vector<std::string> Notes(const LoggedDecision& logged) {
  std::vector<std::string> notes = {ShowAct(logged)};
  if (logged.times > 1) {
    notes.push_back(absl::StrCat("the same came out ", logged.times, " times since ",
                                 ShowTime(logged.first),
                                 "; the numbers are those of the last one"));
  }
  if (!logged.activation.empty()) notes.push_back(absl::StrCat("triggers: ", logged.activation));
  std::string took = absl::StrCat("reading and deciding took ", ShowShort(logged.took));
  if (logged.newest_sample.has_value()) {
    absl::StrAppend(&took, ", the newest sample was ",
                    ShowShort(logged.decision.now - *logged.newest_sample), " old");
  }
  notes.push_back(std::move(took));
  if (logged.pods_in_all > logged.pods.size()) {
    notes.push_back(absl::StrCat("of ", logged.pods_in_all, " pods the first ", logged.pods.size(),
                                 " and their samples are kept in the log; the sums are of all"));
  }
  return notes;
}

}  // namespace

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kShadow:
      return "shadow";
    case Mode::kAdvise:
      return "advise";
    case Mode::kAct:
      return "act";
  }
  return "";
}

LoggedCase::LoggedCase(LoggedDecision logged) : autoscaler_(logged.managed->autoscaler) {
  for (const TriggerMetric& metric : logged.trigger_metrics) {
    autoscaler_.metrics.push_back(ToMetricSpec(metric));
  }
  // A trigger that has changed since may tell of fewer.
  if (logged.decision.proposals.size() > autoscaler_.metrics.size()) {
    logged.decision.proposals.resize(autoscaler_.metrics.size());
  }
  std::optional<Combination>& combination = logged.decision.combination;
  if (combination.has_value() && combination->winner.value_or(0) >= autoscaler_.metrics.size()) {
    combination.reset();
  }
  given_.autoscaler = &autoscaler_;
  given_.now_source = logged.times > 1 ? "the last of its kind" : "once";
  given_.notes = Notes(logged);
  given_.scale = std::move(logged.scale);
  const ObjectReference& target = autoscaler_.scale_target;
  given_.scale_source = absl::StrCat(target.kind, " ", target.name);
  pods_.resize(logged.pods.size());
  for (size_t i = 0; i < pods_.size(); ++i) {
    pods_[i].name = std::move(logged.pods[i]);
    given_.pods.push_back(&pods_[i]);
  }
  given_.table = PodTable(given_.pods, {}, false);
  given_.pod_name_prefix = SharedNamePrefix(given_.pods);
  given_.pods_in_all = logged.pods_in_all;
  given_.readings = std::move(logged.readings);
  given_.decision = std::move(logged.decision);
  // Each proposal with the age that its reading had.
  for (size_t i = 0; i < given_.decision.proposals.size(); ++i) {
    Proposal& proposal = given_.decision.proposals[i];
    if (i < given_.readings.size()) proposal.reading_time = given_.readings[i].timestamp;
  }
}

}  // namespace flyball::scaler
