#include "scaler/explain/given_triggers.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

// Returns the reading and sets the metric. The error says why they are unknown.
absl::StatusOr<TriggerReading> ReadOne(const TriggerSpec& spec, const TriggerContext& context,
                                       absl::Time now, TriggerMetric& metric) {
  if (spec.type != "cron") {
    return absl::UnavailableError(
        absl::StrCat("a trigger of type ", spec.type, " is not asked if the input is files"));
  }
  const absl::StatusOr<std::unique_ptr<Trigger>> trigger = MakeTrigger(spec, context);
  if (!trigger.ok()) return trigger.status();
  const absl::StatusOr<std::vector<TriggerMetric>> metrics =
      (*trigger)->Metrics(absl::ZeroDuration());
  if (!metrics.ok()) return metrics.status();
  metric = metrics->front();
  return (*trigger)->Read(now, absl::ZeroDuration()).front();
}

}  // namespace

std::vector<TriggerReading> ReadGivenTriggers(const OwnSpec& own, absl::Time now,
                                              Autoscaler& autoscaler) {
  std::vector<TriggerReading> out;
  for (size_t i = 0; i < own.triggers.size(); ++i) {
    const TriggerSpec& spec = own.triggers[i];
    TriggerMetric metric{.name = absl::StrCat("s", i, "-", spec.type), .target_milli = 1000};
    absl::StatusOr<TriggerReading> reading = ReadOne(spec,
                                                     {.ns = autoscaler.ns,
                                                      .autoscaler = autoscaler.name,
                                                      .index = i,
                                                      .target = autoscaler.scale_target,
                                                      .min_replicas = autoscaler.min_or_default(),
                                                      .max_replicas = autoscaler.max_replicas,
                                                      .count_pods = {},
                                                      .read_secret = {},
                                                      .clients = {},
                                                      .front = nullptr},
                                                     now, metric);
    autoscaler.metrics.push_back(ToMetricSpec(metric));
    out.push_back(reading.ok() ? *std::move(reading)
                               : TriggerReading{.error = std::string(reading.status().message()),
                                                .time = now});
  }
  return out;
}

}  // namespace flyball::scaler
