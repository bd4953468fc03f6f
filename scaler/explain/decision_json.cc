#include "scaler/explain/explain.h"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "absl/types/span.h"
#include "kube/objects/quantity.h"
#include "kube/objects/yaml_text.h"
#include "scaler/explain/amounts.h"
#include "scaler/explain/sentence.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

std::string QuantityText(int64_t milli, const std::string& resource = "") {
  return kube::Quantity::FromMilli(milli, resource == "memory" ? kube::Quantity::Format::kBinarySI
                                                               : kube::Quantity::Format::kDecimalSI)
      .ToString();
}

// JSON has no NaN and no infinities.
Json Ratio(double ratio) {
  if (std::isfinite(ratio)) return ratio;
  return std::isnan(ratio) ? "NaN" : ratio > 0 ? "+Inf" : "-Inf";
}

// In the order of their enums.
constexpr const char* kFormulas[] = {
    "None", "PodAverage", "PodUtilization", "TotalPerReadyPod", "TotalFromZero", "TotalOverTarget"};
constexpr const char* kVerdicts[] = {"Failed",    "Computed",     "WithinTolerance",
                                     "WouldFlip", "WouldReverse", "Instead"};
constexpr const char* kLimits[] = {"Nothing", "ScaleUpLimit", "ScaleDownLimit", "MaxReplicas",
                                   "MinReplicas"};
constexpr const char* kGroups[] = {"ignored", "unready", "missing", "ready"};
static_assert(std::size(kOutcomeNames) == static_cast<size_t>(Outcome::kDecided) + 1);
static_assert(std::size(kFormulas) == static_cast<size_t>(Formula::kTotalOverTarget) + 1);
static_assert(std::size(kVerdicts) == static_cast<size_t>(Verdict::kInstead) + 1);
static_assert(std::size(kLimits) == static_cast<size_t>(LimitedBy::kMinReplicas) + 1);
static_assert(std::size(kGroups) == static_cast<size_t>(PodGroup::kReady) + 1);

template <typename Enum>
const char* NameOf(Enum value, absl::Span<const char* const> names) {
  return names[static_cast<size_t>(value)];
}

Json ReadingTrace(const GivenCase& given, size_t index) {
  const Reading& reading = given.readings[index];
  const std::string& resource = given.autoscaler.metrics[index].resource;
  Json out = Json::object();
  if (!reading.error.empty()) out["error"] = reading.error;
  if (reading.timestamp.has_value()) {
    out["timestamp"] = ShowTime(*reading.timestamp);
    out["ageSeconds"] = absl::ToDoubleSeconds(given.decision.now - *reading.timestamp);
  }
  for (const PodSample& sample : reading.samples) {
    Json item = Json::object();
    if (sample.row != kStranger) item["pod"] = given.table.name(static_cast<size_t>(sample.row));
    item["value"] = QuantityText(sample.value_milli, resource);
    item["ageSeconds"] = absl::ToDoubleSeconds(given.decision.now - sample.timestamp);
    item["windowSeconds"] = absl::ToDoubleSeconds(sample.window);
    out["samples"].push_back(std::move(item));
  }
  for (const int64_t amount : reading.amounts_milli) {
    out["values"].push_back(QuantityText(amount, resource));
  }
  return out;
}

Json GroupsTrace(const GivenCase& given, const Proposal& proposal) {
  Json out = {{"ready", Json::array()},
              {"unready", Json::array()},
              {"missing", Json::array()},
              {"ignored", Json::array()}};
  for (size_t i = 0; i < proposal.pod_groups.size() && i < given.table.size(); ++i) {
    out[NameOf(proposal.pod_groups[i], kGroups)].push_back(given.table.name(i));
  }
  out["strangers"] = proposal.groups.strangers;
  return out;
}

Json GapsTrace(const Proposal& proposal, const std::string& resource) {
  Json out = Json::object();
  if (proposal.missing_milli.has_value()) {
    out["eachMissingCountsAs"] = QuantityText(*proposal.missing_milli, resource);
  }
  if (proposal.missing_percent.has_value()) {
    out["eachMissingCountsAsPercentOfRequest"] = *proposal.missing_percent;
  }
  out["unreadyCountAsZero"] = proposal.unready_as_zero;
  out["sum"] = QuantityText(proposal.refilled_sum_milli, resource);
  out["samples"] = proposal.refilled_samples;
  if (proposal.formula == Formula::kPodUtilization) {
    out["requests"] = QuantityText(proposal.refilled_requests_milli, resource);
  }
  out["ratio"] = Ratio(proposal.refilled_ratio);
  if (proposal.discarded_replicas.has_value()) {
    out["discardedReplicas"] = *proposal.discarded_replicas;
  }
  return out;
}

Json ProposalTrace(const GivenCase& given, size_t index) {
  const MetricSpec& metric = given.autoscaler.metrics[index];
  const Proposal& proposal = given.decision.proposals[index];
  Json out = {{"type", metric.type_text}, {"metric", ShowMetricName(metric)}};
  out["target"] = ShowTarget(metric, proposal);
  if (index < given.readings.size()) out["reading"] = ReadingTrace(given, index);
  if (!proposal.pod_groups.empty()) out["pods"] = GroupsTrace(given, proposal);
  if (proposal.formula != Formula::kNone) {
    out["formula"] = NameOf(proposal.formula, kFormulas);
    out["sum"] = QuantityText(proposal.sum_milli, metric.resource);
    if (proposal.samples_counted > 0) out["samplesCounted"] = proposal.samples_counted;
    if (proposal.formula == Formula::kPodUtilization) {
      out["requests"] = QuantityText(proposal.requests_milli, metric.resource);
    }
    if (proposal.utilization.has_value()) out["utilizationPercent"] = *proposal.utilization;
    out["measured"] = QuantityText(proposal.measured_milli, metric.resource);
    out["ratio"] = Ratio(proposal.ratio);
    out["tolerance"] = {{"low", proposal.tolerance.low()}, {"high", proposal.tolerance.high()}};
    if (proposal.refilled) out["gaps"] = GapsTrace(proposal, metric.resource);
    out["multiplier"] = proposal.multiplier;
  }
  out["verdict"] = NameOf(proposal.verdict, kVerdicts);
  if (proposal.valid) {
    out["replicas"] = proposal.replicas;
  } else {
    out["reason"] = proposal.reason;
    out["error"] = proposal.error;
  }
  out["why"] = WhyThisProposal(metric, proposal);
  return out;
}

Json CombinationTrace(const Combination& combination) {
  Json out = {{"metrics", combination.total}, {"invalid", combination.invalid}};
  if (combination.winner.has_value()) {
    out["winner"] = *combination.winner;
    out["replicas"] = combination.replicas;
  }
  if (combination.gave_up) out["gaveUp"] = true;
  if (!combination.error.empty()) out["error"] = combination.error;
  return out;
}

Json StabilizationTrace(const Decision& decision) {
  const Stabilization& window = *decision.stabilization;
  Json out = {{"before", window.before}, {"after", window.after}};
  out["downWindowSeconds"] = absl::ToDoubleSeconds(window.down_window);
  out["downHighest"] = window.down_highest;
  if (window.with_behavior) {
    out["upWindowSeconds"] = absl::ToDoubleSeconds(window.up_window);
    out["upLowest"] = window.up_lowest;
  }
  if (window.by.has_value()) {
    out["by"] = {{"replicas", window.by->replicas}, {"time", ShowTime(window.by->time)}};
  }
  return out;
}

Json LimitingTrace(const Limiting& limiting) {
  Json out = {{"before", limiting.before}, {"after", limiting.after}};
  out["by"] = NameOf(limiting.by, kLimits);
  if (limiting.rate_limit.has_value()) out["rateLimit"] = *limiting.rate_limit;
  if (limiting.disabled) out["disabled"] = true;
  for (const PolicyLimit& policy : limiting.policies) {
    out["policies"].push_back({{"policy", policy.policy},
                               {"added", policy.added},
                               {"removed", policy.removed},
                               {"periodStart", policy.period_start},
                               {"limit", policy.limit}});
  }
  if (limiting.policy.has_value()) out["policy"] = *limiting.policy;
  out["lowest"] = limiting.lowest;
  out["highest"] = limiting.highest;
  return out;
}

Json StateTrace(const ScalerState& state) {
  Json out = {{"recommendations", Json::array()},
              {"scaleUpEvents", Json::array()},
              {"scaleDownEvents", Json::array()}};
  for (const Recommendation& item : state.recommendations) {
    out["recommendations"].push_back({{"replicas", item.replicas}, {"time", ShowTime(item.time)}});
  }
  const std::pair<const char*, const std::vector<ScaleEvent>*> kLists[] = {
      {"scaleUpEvents", &state.scale_ups}, {"scaleDownEvents", &state.scale_downs}};
  for (const auto& [name, events] : kLists) {
    for (const ScaleEvent& event : *events) {
      out[name].push_back(
          {{"change", event.change}, {"time", ShowTime(event.time)}, {"outdated", event.outdated}});
    }
  }
  return out;
}

Json Trace(const GivenCase& given) {
  const Decision& decision = given.decision;
  Json out = {{"namespace", given.autoscaler.ns}, {"name", given.autoscaler.name}};
  out["time"] = ShowTime(decision.now);
  out["target"] = {{"apiVersion", given.autoscaler.scale_target.api_version},
                   {"kind", given.autoscaler.scale_target.kind},
                   {"name", given.autoscaler.scale_target.name}};
  out["outcome"] = NameOf(decision.outcome, kOutcomeNames);
  const bool known = decision.outcome != Outcome::kScaleUnknown;
  if (known) out["currentReplicas"] = decision.current;
  if (known) out["statusReplicas"] = decision.status_replicas;
  out["minReplicas"] = decision.min_replicas;
  out["maxReplicas"] = decision.max_replicas;
  if (known) out["desiredReplicas"] = decision.count();
  out["rescale"] = decision.rescale;
  if (!decision.rescale_reason.empty()) out["reason"] = decision.rescale_reason;
  out["why"] = WhyThisCount(given);
  if (decision.metrics_computed) {
    out["proposals"] = Json::array();
    for (size_t i = 0; i < decision.proposals.size(); ++i) {
      out["proposals"].push_back(ProposalTrace(given, i));
    }
  }
  if (decision.combination.has_value()) {
    out["combination"] = CombinationTrace(*decision.combination);
  }
  if (decision.pending.has_value()) {
    out["pendingCapacity"] = {{"before", decision.pending->before},
                              {"after", decision.pending->after},
                              {"loading", decision.pending->loading},
                              {"settling", decision.pending->settling}};
  }
  if (decision.stabilization.has_value()) out["stabilization"] = StabilizationTrace(decision);
  if (decision.limiting.has_value()) out["limiting"] = LimitingTrace(*decision.limiting);
  out["conditions"] = Json::array();
  for (const Condition& condition : decision.status.conditions) {
    out["conditions"].push_back({{"type", condition.type},
                                 {"status", ConditionStatusName(condition.status)},
                                 {"reason", condition.reason},
                                 {"message", condition.message}});
  }
  out["events"] = Json::array();
  for (const Event& event : decision.events) {
    out["events"].push_back({{"type", event.warning ? "Warning" : "Normal"},
                             {"reason", event.reason},
                             {"message", event.message}});
  }
  if (!decision.error.empty()) out["error"] = decision.error;
  out["state"] = StateTrace(decision.state);
  out["notes"] = given.notes;
  return out;
}

}  // namespace

std::string ExplainJson(const GivenCase& given) {
  return Trace(given).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ExplainYaml(const GivenCase& given) { return "---\n" + kube::YamlOf(Trace(given)); }

}  // namespace flyball::scaler
