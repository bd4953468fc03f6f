#include <map>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "base/go/duration.h"
#include "kube/objects/json_members.h"
#include "scaler/front/request_meter.h"
#include "scaler/vectors/requests/activity_reporter.h"
#include "scaler/vectors/requests/kinds.h"
#include "scaler/vectors/requests/scenario.h"
#include "scaler/vectors/requests/stat_wire.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

Json MeterJson(int64_t ms, const MeterReport& report) {
  const WireStat stat{.pod_name = "pod",
                      .concurrency = report.concurrency,
                      .proxied_concurrency = report.proxied_concurrency,
                      .requests = report.requests,
                      .proxied_requests = report.proxied_requests,
                      .uptime_seconds = go::ToSeconds(absl::Milliseconds(ms))};
  return {{"t", ms},
          {"conc", NumberJson(report.concurrency)},
          {"pconc", NumberJson(report.proxied_concurrency)},
          {"count", NumberJson(report.requests)},
          {"pcount", NumberJson(report.proxied_requests)},
          {"wire", StatHex(stat)}};
}

Json SentJson(int64_t ms, const std::vector<ActivityReport>& reports) {
  Json stats = Json::array();
  std::vector<WireMessage> messages;
  for (const ActivityReport& report : reports) {
    stats.push_back({report.target, NumberJson(report.concurrency), NumberJson(report.requests)});
    messages.push_back({.ns = "ns",
                        .revision = report.target,
                        .stat = {.pod_name = "activator",
                                 .concurrency = report.concurrency,
                                 .requests = report.requests}});
  }
  return {{"t", ms}, {"stats", stats}, {"wire", MessagesHex(messages)}};
}

absl::Status NoSuchEvent(const std::string& what) {
  return absl::InvalidArgumentError("events: expected a known one, got " + what);
}

}  // namespace

absl::StatusOr<Json> AnswerRequestStats(const Json& in) {
  const ScenarioClock clock(in);
  RequestMeter meter(clock.At(0));
  Json reports = Json::array();
  for (const Json& event : kube::ItemsOf(in, "events")) {
    const int64_t ms = IntAt(event, 0);
    const absl::Time now = clock.At(ms);
    const std::string what = TextAt(event, 1);
    if (what == "report") {
      reports.push_back(MeterJson(ms, meter.Report(now)));
    } else if (what == "in" || what == "pin") {
      meter.Begin(now, what == "pin");
    } else if (what == "out" || what == "pout") {
      meter.End(now, what == "pout");
    } else {
      return NoSuchEvent(what);
    }
  }
  return Json{{"reports", reports}};
}

absl::StatusOr<Json> AnswerReporter(const Json& in) {
  const ScenarioClock clock(in);
  ActivityReporter reporter;
  std::map<std::string, std::string> targets;  // the target of each request that is under way
  Json sent = Json::array();
  for (const Json& event : kube::ItemsOf(in, "events")) {
    const int64_t ms = IntAt(event, 0);
    const absl::Time now = clock.At(ms);
    const std::string what = TextAt(event, 1);
    const std::string request = TextAt(event, 2);
    if (what == "report") {
      const std::vector<ActivityReport> reports = reporter.Report(now);
      if (!reports.empty()) sent.push_back(SentJson(ms, reports));
    } else if (what == "in") {
      targets[request] = TextAt(event, 3);
      if (const auto first = reporter.Begin(targets[request], now)) {
        sent.push_back(SentJson(ms, {*first}));
      }
    } else if (what == "out") {
      const auto found = targets.find(request);
      if (found == targets.end()) continue;
      reporter.End(found->second, now);
      targets.erase(found);
    } else {
      return NoSuchEvent(what);
    }
  }
  return Json{{"sent", sent}};
}

}  // namespace flyball::scaler
