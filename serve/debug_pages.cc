#include "serve/debug_pages.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/one_line.h"
#include "kube/objects/json_members.h"
#include "scaler/explain/amounts.h"
#include "scaler/explain/explain.h"
#include "scaler/explain/given_case.h"

namespace flyball::serve {
namespace {

using Json = nlohmann::ordered_json;
using kube::TimeText;
using scaler::ShowTime;

constexpr size_t kDefaultLimit = 1000;

Json KeyJson(const scaler::AutoscalerKey& key) {
  return {{"namespace", key.ns}, {"name", key.name}, {"kind", AutoscalerKindName(key.kind)}};
}

// In the order of scaler::Outcome.
constexpr const char* kOutcomes[] = {"scale unknown", "switched off",    "above max",
                                     "below min",     "metrics unknown", "decided"};
static_assert(std::size(kOutcomes) == static_cast<size_t>(scaler::Outcome::kDecided) + 1);

Json DecisionJson(scaler::LoggedDecision logged) {
  Json out = {{"first", ShowTime(logged.first)},
              {"last", ShowTime(logged.last)},
              {"times", logged.times},
              {"mode", scaler::ModeName(logged.mode)},
              {"scaleWritten", logged.scale_written}};
  if (!logged.scale_error.empty()) out["scaleError"] = logged.scale_error;
  if (logged.newest_sample.has_value()) {
    out["newestSampleAgeSeconds"] =
        absl::ToDoubleSeconds(logged.decision.now - *logged.newest_sample);
  }
  const scaler::GivenCase given = scaler::CaseFromLog(std::move(logged));
  out["text"] = scaler::ExplainText(given);
  out["trace"] = Json::parse(scaler::ExplainJson(given), nullptr, false);
  return out;
}

Json OneAutoscaler(const DecisionSources& sources, const std::string& ns, const std::string& name,
                   std::optional<scaler::AutoscalerKind> kind) {
  Json out = Json::array();
  for (const auto each : {scaler::AutoscalerKind::kHpa, scaler::AutoscalerKind::kOwn}) {
    if (kind.has_value() && *kind != each) continue;
    const scaler::AutoscalerKey key = {.kind = each, .ns = ns, .name = name};
    std::vector<scaler::LoggedDecision> last = sources.log.Last(key);
    if (last.empty()) continue;
    Json entry = KeyJson(key);
    entry["decisions"] = Json::array();
    for (scaler::LoggedDecision& logged : last) {
      entry["decisions"].push_back(DecisionJson(std::move(logged)));
    }
    out.push_back(std::move(entry));
  }
  return out;
}

void AllAutoscalers(const DecisionSources& sources, const std::string& ns,
                    std::optional<scaler::AutoscalerKind> kind, size_t limit, Json& out) {
  out["autoscalers"] = Json::array();
  size_t omitted = 0;
  for (const scaler::DecisionSummary& summary : sources.log.List(ns)) {
    if (kind.has_value() && *kind != summary.key.kind) continue;
    if (out["autoscalers"].size() >= limit) {
      ++omitted;
      continue;
    }
    Json entry = KeyJson(summary.key);
    entry["mode"] = scaler::ModeName(summary.mode);
    entry["outcome"] = kOutcomes[static_cast<size_t>(summary.outcome)];
    if (summary.outcome != scaler::Outcome::kScaleUnknown) {
      entry["currentReplicas"] = summary.current;
      entry["desiredReplicas"] = summary.desired;
    }
    entry["first"] = ShowTime(summary.first);
    entry["last"] = ShowTime(summary.last);
    entry["times"] = summary.times;
    if (!summary.error.empty()) entry["error"] = summary.error;
    out["autoscalers"].push_back(std::move(entry));
  }
  if (omitted > 0) out["omitted"] = omitted;
}

Json SideJson(const scaler::ShadowSide& side) {
  return {{"currentReplicas", side.current},
          {"desiredReplicas", side.desired},
          {"measured", side.metrics},
          {"conditions", side.conditions}};
}

Json CountsJson(const scaler::ShadowCounts& counts) {
  Json out = {
      {"equal", counts.equal}, {"different", counts.DifferentInAll()}, {"reasons", Json::object()}};
  for (size_t i = 0; i < scaler::kShadowReasons; ++i) {
    if (counts.different[i] == 0) continue;
    out["reasons"][scaler::kShadowReasonNames[i]] = counts.different[i];
  }
  return out;
}

void ShadowJson(const scaler::Shadow& shadow, const std::string& ns, Json& out) {
  const scaler::ShadowReport report = shadow.Report();
  out["total"] = CountsJson(report.counts);
  out["objects"] = Json::array();
  for (const scaler::ShadowObject& object : report.objects) {
    if (!ns.empty() && object.key.ns != ns) continue;
    Json entry = KeyJson(object.key);
    entry.update(CountsJson(object.counts));
    entry["open"] = object.open;
    entry["last"] = Json::array();
    for (const scaler::ShadowDifference& difference : object.last) {
      Json told = {{"time", ShowTime(difference.time)},
                   {"reason", scaler::kShadowReasonNames[static_cast<size_t>(difference.reason)]},
                   {"detail", difference.detail},
                   {"theirs", SideJson(difference.theirs)}};
      if (difference.ours.has_value()) told["ours"] = SideJson(*difference.ours);
      entry["last"].push_back(std::move(told));
    }
    out["objects"].push_back(std::move(entry));
  }
}

// `series` counts series with the same names and label names once. `failures` and `error` are about
// the series query, `queries` is about the queries for requests.
Json RuleJson(const adapter::RuleStatus& rule) {
  Json out = {{"list", rule.list},
              {"index", rule.index},
              {"where", rule.where},
              {"seriesQuery", rule.series_query},
              {"series", rule.series},
              {"lastSuccess", nullptr},
              {"durationSeconds", absl::ToDoubleSeconds(rule.duration)},
              {"failures", rule.failures},
              {"error", rule.error},
              {"metrics", rule.metrics},
              {"queries", {{"failing", false}, {"failuresTotal", 0}}}};
  if (!rule.source.empty()) out["source"] = rule.source;
  if (rule.last_success) out["lastSuccess"] = TimeText(*rule.last_success);
  if (rule.last_failure.has_value()) {
    const adapter::RuleFailure& failure = *rule.last_failure;
    out["queries"] = {{"failing", failure.in_a_row > 0},
                      {"failuresTotal", failure.in_all},
                      {"lastFailure",
                       {{"at", TimeText(failure.at)},
                        {"metric", failure.metric},
                        {"promql", failure.promql},
                        {"error", failure.error}}}};
  }
  if (rule.last_answer.has_value()) {
    const adapter::RuleStatus::Answered& answer = *rule.last_answer;
    if (!answer.by.empty()) out["answeredBy"] = answer.by;
    out["queries"]["lastAnswer"] = {{"at", TimeText(answer.at)},
                                    {"promql", answer.promql},
                                    {"values", answer.values},
                                    {"durationSeconds", absl::ToDoubleSeconds(answer.took)}};
  }
  return out;
}

}  // namespace

std::optional<scaler::AutoscalerKind> ParseAutoscalerKind(absl::string_view kind) {
  const std::string lower = absl::AsciiStrToLower(kind);
  for (const char* name :
       {"hpa", "horizontalpodautoscaler", "horizontalpodautoscalers",
        "horizontalpodautoscaler.autoscaling", "horizontalpodautoscalers.autoscaling"}) {
    if (lower == name) return scaler::AutoscalerKind::kHpa;
  }
  for (const char* name :
       {"as", "autoscaler", "autoscalers", "autoscaler.flyball.dev", "autoscalers.flyball.dev"}) {
    if (lower == name) return scaler::AutoscalerKind::kOwn;
  }
  return std::nullopt;
}

const char* AutoscalerKindName(scaler::AutoscalerKind kind) {
  return kind == scaler::AutoscalerKind::kHpa ? "HorizontalPodAutoscaler" : "Autoscaler";
}

absl::StatusOr<NamedAutoscaler> ParseNamedAutoscaler(const std::string& text) {
  std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('/', 1));
  if (parts.second.empty()) parts = {"", parts.first};
  const NamedAutoscaler named = {.kind = ParseAutoscalerKind(parts.first), .name = parts.second};
  if (parts.first.empty() || named.kind.has_value()) return named;
  return absl::InvalidArgumentError(
      absl::StrCat("expected hpa/NAME or autoscaler/NAME, got ", text));
}

std::string DebugRulesJson(const RulesPage& page) {
  Json document = {{"version", page.version}, {"relisted", page.relisted}};
  document["ruleFile"] = {{"inForce", page.last_reload.ok()}};
  if (!page.last_reload.ok()) {
    document["ruleFile"]["error"] = std::string(page.last_reload.message());
  }
  document["prometheus"] = Json::array();
  for (const auto& server : page.servers) {
    document["prometheus"].push_back({{"url", server.server},
                                      {"reachable", server.reachable},
                                      {"lastError", server.last_error}});
  }
  document["rules"] = Json::array();
  for (const adapter::RuleStatus& rule : page.rules) document["rules"].push_back(RuleJson(rule));
  // Series queries come from a file and an error from the network: neither need be UTF-8.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string DebugDecisionsJson(const DecisionSources& sources,
                               const apiservice::DebugParameter& parameter) {
  Json out = {{"replica", sources.replica}};
  const std::string ns = parameter("namespace");
  const std::string name = parameter("name");
  const std::string kind = parameter("kind");
  const std::string report = parameter("report");
  size_t limit = kDefaultLimit;
  const std::string wanted = parameter("limit");
  if (!wanted.empty() && !absl::SimpleAtoi(wanted, &limit)) {
    out["error"] = "limit: expected a number";
  } else if (!kind.empty() && !ParseAutoscalerKind(kind).has_value()) {
    out["error"] =
        absl::StrCat("kind: expected HorizontalPodAutoscaler or Autoscaler, got ", Abridged(kind));
  } else if (!report.empty() && report != "shadow") {
    out["error"] = absl::StrCat("report: expected shadow, got ", Abridged(report));
  } else if (report == "shadow") {
    ShadowJson(sources.shadow, ns, out);
  } else if (!name.empty()) {
    out["autoscalers"] = OneAutoscaler(sources, ns, name, ParseAutoscalerKind(kind));
  } else {
    AllAutoscalers(sources, ns, ParseAutoscalerKind(kind), limit, out);
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flyball::serve
