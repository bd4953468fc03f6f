#include "scaler/explain/given_case.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/explain/amounts.h"
#include "scaler/triggers/trigger.h"
#include "scaler/views/logged_decision.h"

namespace flyball::scaler {
namespace {

std::string ShowShort(absl::Duration duration) {
  const double milliseconds = absl::ToDoubleMilliseconds(duration);
  return milliseconds < 1000 ? absl::StrCat(ShowNumber(milliseconds, 1), "ms")
                             : absl::StrCat(ShowNumber(milliseconds / 1000, 1), "s");
}

std::string ShowAct(const LoggedDecision& logged) {
  if (!logged.scale_error.empty()) {
    return absl::StrCat(logged.mode == Mode::kAdvise ? "the smaller count is not published: "
                                                     : "the scale could not be written: ",
                        logged.scale_error);
  }
  if (logged.scale_written) return "the scale was written";
  if (!logged.decision.rescale) return absl::StrCat("mode ", ModeName(logged.mode));
  if (logged.mode == Mode::kAct) return "the scale was not written";
  return absl::StrCat("mode ", ModeName(logged.mode), ": the scale is not written, ",
                      logged.mode == Mode::kAdvise ? "the count is published as a metric"
                                                   : "the count is only compared");
}

std::vector<std::string> Notes(const LoggedDecision& logged) {
  std::vector<std::string> notes = {ShowAct(logged)};
  if (logged.times > 1) {
    notes.push_back(absl::StrCat("the same was decided ", logged.times, " times since ",
                                 ShowTime(logged.first),
                                 "; the numbers are those of the last time"));
  }
  if (!logged.managed->scheduled.empty()) {
    notes.push_back(absl::StrCat("schedules: ", logged.managed->scheduled));
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

GivenCase CaseFromLog(LoggedDecision logged) {
  GivenCase out;
  out.autoscaler = logged.managed->autoscaler;
  for (const TriggerMetric& metric : logged.trigger_metrics) {
    out.autoscaler.metrics.push_back(ToMetricSpec(metric));
  }
  out.now_source = logged.times > 1 ? "the last of equal decisions" : "one decision";
  out.notes = Notes(logged);
  out.scale = std::move(logged.scale);
  const ObjectReference& target = out.autoscaler.scale_target;
  out.scale_source = absl::StrCat(target.kind, " ", target.name);
  std::vector<PodTable::Source> pods;  // the log has only their names
  for (const std::string& name : logged.pods) {
    pods.push_back({.name = name, .row = {}, .shape = nullptr});
  }
  out.table = PodTable(pods, {}, {});
  out.pods_in_all = logged.pods_in_all;
  out.readings = std::move(logged.readings);
  out.decision = std::move(logged.decision);
  return out;
}

}  // namespace flyball::scaler
