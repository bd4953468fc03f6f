#include "scaler/math/recording.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

// Leaves the status empty for a proposal that is invalid or that was made without a reading.
void FillMetricStatus(const MetricSpec& metric, const Proposal& proposal, MetricStatus& status) {
  if (!proposal.valid || proposal.verdict == Verdict::kInstead) {
    status = MetricStatus();
    return;
  }
  const absl::string_view type = MetricTypeName(metric.type);
  status.type = metric.type;
  status.type_text.assign(type.data(), type.size());
  status.resource = metric.resource;
  status.container = metric.container;
  status.metric_name = metric.metric.name;
  status.metric_selector = metric.metric.selector;
  status.described_object = metric.described_object;
  status.average_utilization = proposal.utilization;
  const kube::Quantity amount = kube::Quantity::FromMilli(
      proposal.measured_milli, metric.resource == "memory" ? kube::Quantity::Format::kBinarySI
                                                           : kube::Quantity::Format::kDecimalSI);
  const bool total =
      proposal.formula == Formula::kTotalPerReadyPod || proposal.formula == Formula::kTotalFromZero;
  status.value.reset();
  status.average_value.reset();
  (total ? status.value : status.average_value) = amount;
}

}  // namespace

void SetCondition(const ConditionUpdate& update, absl::Time now,
                  std::vector<Condition>& conditions) {
  auto found = std::find_if(conditions.begin(), conditions.end(),
                            [&](const Condition& c) { return c.type == update.type; });
  const bool is_new = found == conditions.end();
  if (is_new) {
    found = conditions.insert(conditions.end(), Condition{});
    found->type = std::string(update.type);
  }
  if (is_new || found->status != update.status) found->last_transition_time = now;
  found->status = update.status;
  found->reason.assign(update.reason.data(), update.reason.size());
  found->message.clear();
  for (const absl::string_view piece : update.message) {
    found->message.append(piece.data(), piece.size());
  }
}

void RemoveCondition(absl::string_view type, std::vector<Condition>& conditions) {
  std::erase_if(conditions, [type](const Condition& condition) { return condition.type == type; });
}

const Condition* FindCondition(absl::string_view type, const std::vector<Condition>& conditions) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [type](const Condition& one) { return one.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

bool ConditionIsTrue(const AutoscalerStatus& status, absl::string_view type) {
  const Condition* const found = FindCondition(type, status.conditions);
  return found != nullptr && found->status == ConditionStatus::kTrue;
}

bool SeesLoadAtZero(const Autoscaler& autoscaler) {
  return std::any_of(
      autoscaler.metrics.begin(), autoscaler.metrics.end(), [](const MetricSpec& metric) {
        return metric.type == MetricType::kObject || metric.type == MetricType::kExternal;
      });
}

std::string TargetText(const Autoscaler& autoscaler) {
  return absl::StrCat(autoscaler.scale_target.kind, "/", autoscaler.ns, "/",
                      autoscaler.scale_target.name);
}

void RebuildStatus(const DecisionInput& input, int32_t desired, Decision& decision) {
  AutoscalerStatus& status = decision.status;
  status.observed_generation.reset();
  if (input.config->observes_generation) status.observed_generation = input.autoscaler->generation;
  status.current_replicas = decision.current;
  status.desired_replicas = desired;
  const size_t count = decision.metrics_computed ? decision.proposals.size() : 0;
  status.current_metrics.resize(count);
  for (size_t i = 0; i < count; ++i) {
    FillMetricStatus(input.autoscaler->metrics[i], decision.proposals[i],
                     status.current_metrics[i]);
  }
}

void EndInError(const DecisionInput& input, std::string error, Decision& decision) {
  decision.error = std::move(error);
  decision.error_outlives_status = true;
  decision.rescale = false;
  decision.status_changed = !SemanticallyEqual(StoredStatus(input), decision.status);
}

}  // namespace flyball::scaler
