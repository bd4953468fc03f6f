#include "backtest/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/counted.h"
#include "kube/objects/json_members.h"

namespace flyball::backtest {
namespace {

using Json = nlohmann::ordered_json;
using kube::TimeText;

constexpr size_t kShownChanges = 20;

std::string ChangeText(const Simulated::Change& change) {
  return absl::StrCat(TimeText(change.at), "  ", change.from, " -> ", change.to,
                      change.metric.empty() ? "" : ", by ", change.metric,
                      change.reason == "none" ? "" : absl::StrCat(", limited by ", change.reason),
                      "\n");
}

}  // namespace

std::string ReportText(const BacktestReport& report, bool all) {
  const Simulated& simulated = report.simulated;
  std::string out =
      absl::StrCat(report.title, " from ", TimeText(report.begin), " to ", TimeText(report.end),
                   ", decided every ", absl::FormatDuration(report.step), "\n");
  for (const std::string& metric : report.metrics) absl::StrAppend(&out, "  ", metric, "\n");
  absl::StrAppend(&out, Counted(simulated.changes.size(), "change"), ", between ", simulated.lowest,
                  " and ", simulated.highest, " replicas\n");
  absl::StrAppendFormat(&out, "%.1f replica hours", simulated.replica_hours);
  if (report.replica_hours_then.has_value()) {
    absl::StrAppendFormat(&out, "; there really were %.1f", *report.replica_hours_then);
  }
  absl::StrAppend(&out, "\n");
  if (simulated.at_max > absl::ZeroDuration()) {
    absl::StrAppend(&out, "at maxReplicas for ", absl::FormatDuration(simulated.at_max), "\n");
  }
  if (simulated.not_followed > absl::ZeroDuration()) {
    absl::StrAppend(&out, "held without a metric for ",
                    absl::FormatDuration(simulated.not_followed), "\n");
  }
  const size_t shown =
      all ? simulated.changes.size() : std::min(simulated.changes.size(), kShownChanges);
  const size_t first = simulated.changes.size() - shown;
  if (first > 0) absl::StrAppend(&out, "the last ", shown, " changes; --all shows all of them\n");
  for (size_t i = first; i < simulated.changes.size(); ++i) out += ChangeText(simulated.changes[i]);
  for (const std::string& note : report.notes) absl::StrAppend(&out, "note: ", note, "\n");
  return out;
}

std::string ReportJson(const BacktestReport& report) {
  const Simulated& simulated = report.simulated;
  Json changes = Json::array();
  for (const Simulated::Change& change : simulated.changes) {
    changes.push_back({{"at", TimeText(change.at)},
                       {"from", change.from},
                       {"to", change.to},
                       {"limitedBy", change.reason},
                       {"metric", change.metric}});
  }
  Json out = {{"autoscaler", report.title},
              {"begin", TimeText(report.begin)},
              {"end", TimeText(report.end)},
              {"stepSeconds", absl::ToDoubleSeconds(report.step)},
              {"metrics", report.metrics},
              {"lowest", simulated.lowest},
              {"highest", simulated.highest},
              {"replicaHours", simulated.replica_hours},
              {"replicaHoursThen", nullptr},
              {"secondsAtMax", absl::ToDoubleSeconds(simulated.at_max)},
              {"secondsWithoutMetric", absl::ToDoubleSeconds(simulated.not_followed)},
              {"changes", std::move(changes)},
              {"notes", report.notes}};
  if (report.replica_hours_then.has_value()) out["replicaHoursThen"] = *report.replica_hours_then;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flyball::backtest
