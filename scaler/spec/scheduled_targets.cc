#include "scaler/spec/scheduled_targets.h"

#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/quantity.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {
namespace {

constexpr std::pair<absl::string_view, absl::string_view> kTargetKeys[] = {
    {"kubernetes-workload", "value"}, {"metrics-api", "targetValue"}, {"prometheus", "threshold"}};

bool IsNamed(const MetricSpec& metric, absl::string_view name) {
  if (metric.type == MetricType::kContainerResource) {
    return absl::StrCat(metric.container, "/", metric.resource) == name;
  }
  return (metric.resource.empty() ? metric.metric.name : metric.resource) == name;
}

std::string MetricProblem(const ScheduledTarget& target, const MetricSpec& metric) {
  int32_t percent = 0;
  if (metric.target.average_utilization.has_value()) {
    return absl::SimpleAtoi(target.amount, &percent) && percent > 0
               ? ""
               : "must be a whole percentage above 0";
  }
  const absl::StatusOr<kube::Quantity> quantity = kube::Quantity::Parse(target.amount);
  if (!quantity.ok() || quantity->Sign() <= 0) return "must be a quantity above 0";
  return IsBeyond(*quantity) ? "is too large" : "";
}

// What a trigger takes for its target (triggers/parts/metric_value.h), which it rounds to
// thousandths.
constexpr double kLeastTarget = 0.0005;

std::string TriggerProblem(const ScheduledTarget& target, const TriggerSpec& trigger) {
  if (TargetKeyOf(trigger.type).empty()) {
    return absl::StrCat("a trigger of type ", trigger.type, " has no target in the spec");
  }
  const absl::string_view text = absl::StripAsciiWhitespace(target.amount);
  double number = 0;
  if (!IsJsonNumber(text) || !absl::SimpleAtod(text, &number) || !(number > 0)) {
    return "must be a number above 0, as JSON writes it";
  }
  if (number < kLeastTarget) return "must be at least 0.001";
  return number * 1000 <= static_cast<double>(kMaxMetricMilli) ? "" : "is too large";
}

void SetTarget(const ScheduledTarget& target, MetricTarget& out) {
  if (out.average_utilization.has_value()) {
    int32_t percent = 0;
    if (absl::SimpleAtoi(target.amount, &percent)) out.average_utilization = percent;
    return;
  }
  const absl::StatusOr<kube::Quantity> quantity = kube::Quantity::Parse(target.amount);
  if (!quantity.ok()) return;
  // An Object metric may have both amounts; its type says which of them counts.
  const bool average = !out.value.has_value() ||
                       (out.type == TargetType::kAverageValue && out.average_value.has_value());
  (average ? out.average_value : out.value) = MakeTargetAmount(*quantity);
}

}  // namespace

absl::string_view TargetKeyOf(absl::string_view trigger_type) {
  for (const auto& [type, key] : kTargetKeys) {
    if (type == trigger_type) return key;
  }
  return "";
}

std::string TargetProblem(const ScheduledTarget& target, const std::vector<MetricSpec>& metrics,
                          const std::vector<TriggerSpec>& triggers) {
  bool found = false;
  for (const MetricSpec& metric : metrics) {
    if (!IsNamed(metric, target.name)) continue;
    found = true;
    if (std::string problem = MetricProblem(target, metric); !problem.empty()) return problem;
  }
  for (const TriggerSpec& trigger : triggers) {
    if (trigger.name.empty() || trigger.name != target.name) continue;
    found = true;
    if (std::string problem = TriggerProblem(target, trigger); !problem.empty()) return problem;
  }
  return found ? "" : "names no metric and no trigger of the spec";
}

void SetTargets(const std::vector<ScheduledTarget>& targets, std::vector<MetricSpec>& metrics,
                std::vector<TriggerSpec>& triggers) {
  for (const ScheduledTarget& target : targets) {
    for (MetricSpec& metric : metrics) {
      if (IsNamed(metric, target.name)) SetTarget(target, metric.target);
    }
    for (TriggerSpec& trigger : triggers) {
      if (trigger.name.empty() || trigger.name != target.name) continue;
      trigger.metadata[std::string(TargetKeyOf(trigger.type))] = target.amount;
    }
  }
}

}  // namespace flyball::scaler
