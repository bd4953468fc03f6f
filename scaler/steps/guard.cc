#include "scaler/steps/guard.h"

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

constexpr char kBeyond[] = " is beyond ±9.0e15";

// Sums of thousandths that cannot overflow.
__extension__ typedef __int128 WideInt;

template <typename Item>
void Refuse(std::string error, MetricsAnswer<Item>& answer) {
  answer.error = std::move(error);
  answer.items.clear();
}

}  // namespace

std::string BeyondText(absl::string_view what, const kube::Quantity& amount) {
  return absl::StrCat(what, ": ", amount.ToString(), kBeyond);
}

void GuardAnswer(MetricsAnswer<PodMetrics>& answer) {
  for (const PodMetrics& pod : answer.items) {
    for (const PodMetrics::ContainerUsage& container : pod.containers) {
      for (const auto& [resource, usage] : container.usage) {
        if (!IsBeyond(usage)) continue;
        return Refuse(BeyondText(absl::StrCat(resource, " of container ", container.name,
                                              " of pod ", pod.name),
                                 usage),
                      answer);
      }
    }
  }
}

void GuardAnswer(MetricsAnswer<ObjectMetric>& answer) {
  for (const ObjectMetric& item : answer.items) {
    if (!IsBeyond(item.value)) continue;
    return Refuse(BeyondText(absl::StrCat("value of ", item.object_name), item.value), answer);
  }
}

void GuardAnswer(MetricsAnswer<ExternalMetric>& answer) {
  for (size_t i = 0; i < answer.items.size(); ++i) {
    if (!IsBeyond(answer.items[i].value)) continue;
    return Refuse(BeyondText(absl::StrCat("series ", i), answer.items[i].value), answer);
  }
}

void GuardReading(Reading& reading) {
  if (!reading.error.empty()) return;
  WideInt sum = 0;
  for (const PodSample& sample : reading.samples) sum += sample.value_milli;
  for (const int64_t amount : reading.amounts_milli) sum += amount;
  if (sum <= kMaxMetricMilli && sum >= -kMaxMetricMilli) return;
  reading.error = absl::StrCat("the sum of ", reading.samples.size() + reading.amounts_milli.size(),
                               " items", kBeyond);
  reading.samples.clear();
  reading.amounts_milli.clear();
}

void GuardStatus(const AutoscalerStatus& stored, Decision& decision) {
  std::vector<MetricStatus>& metrics = decision.status.current_metrics;
  bool changed = false;
  for (size_t i = 0; i < metrics.size() && i < decision.proposals.size(); ++i) {
    const Proposal& proposal = decision.proposals[i];
    if (proposal.formula != Formula::kTotalOverTarget || proposal.base_replicas != 0) continue;
    changed = changed || metrics[i].average_value.has_value();
    metrics[i].average_value.reset();
  }
  if (changed) decision.status_changed = !SemanticallyEqual(stored, decision.status);
}

}  // namespace flyball::scaler
