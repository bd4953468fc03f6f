#include "scaler/explain/given_own.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/steps/metric_fallback.h"
#include "scaler/steps/reading_maker.h"
#include "scaler/triggers/fallback.h"
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
  ASSIGN_OR_RETURN(const std::unique_ptr<Trigger> trigger, MakeTrigger(spec, context));
  ASSIGN_OR_RETURN(const auto metrics, trigger->Metrics(absl::ZeroDuration()));
  metric = metrics.front();
  return trigger->Read(now, absl::ZeroDuration()).front();
}

// What the fallback of an unknown metric asks for in the first decision; if it asks for nothing
// yet, a note says what it waits for.
std::optional<Reading::Instead> FirstCount(const MetricFallback& fallback, const std::string& name,
                                           const CountBounds& bounds, absl::Time now,
                                           GivenCase& out) {
  MetricOutage outage;
  NoteFailure(nullptr, absl::ZeroDuration(), outage);
  const std::optional<Reading::Instead> instead =
      CountInstead(fallback, outage, bounds, {.wall = now, .monotonic = absl::ZeroDuration()});
  if (!instead.has_value()) {
    out.notes.push_back(
        absl::StrCat("the fallback of ", name, " does not count yet: it ",
                     fallback.keep_last > absl::ZeroDuration()
                         ? absl::StrCat("keeps for ", absl::FormatDuration(fallback.keep_last),
                                        " what was asked for last, which is in no file")
                         : absl::StrCat("waits for ", fallback.after_failures,
                                        " decisions in a row in which it is unknown")));
  }
  return instead;
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

void FollowFallbacks(const OwnSpec& own, int32_t min_replicas, absl::Time now, GivenCase& out,
                     std::vector<TriggerReading>& triggers) {
  const auto name = [&](size_t i) {
    const MetricSpec& metric = out.autoscaler.metrics[i];
    return metric.metric.name.empty() ? metric.resource : metric.metric.name;
  };
  const CountBounds of_metrics{.current = out.scale.spec_replicas,
                               .min = out.autoscaler.min_or_default(),
                               .max = out.autoscaler.max_replicas};
  const size_t first = out.autoscaler.metrics.size() - triggers.size();
  for (size_t i = 0; i < first && i < out.readings.size() && i < own.metric_fallbacks.size(); ++i) {
    if (out.readings[i].error.empty() || !own.metric_fallbacks[i].has_value()) continue;
    out.readings[i].instead = FirstCount(*own.metric_fallbacks[i], name(i), of_metrics, now, out);
  }
  CountBounds of_triggers = of_metrics;
  of_triggers.min = min_replicas;
  for (size_t i = 0; i < triggers.size(); ++i) {
    if (!triggers[i].failed()) continue;
    Reading* const reading = out.readings.empty() ? nullptr : &out.readings[first + i];
    if (const MetricFallback* of_it = FallbackOfTrigger(own, first, i)) {
      const auto instead = FirstCount(*of_it, name(first + i), of_triggers, now, out);
      if (reading != nullptr) reading->instead = instead;
      triggers[i] = ActivityInstead(triggers[i], instead);
    } else if (own.fallback.has_value()) {
      const MetricSpec& metric = out.autoscaler.metrics[first + i];
      const bool of_value = metric.target.type == TargetType::kValue;
      const TargetAmount& target = of_value ? *metric.target.value : *metric.target.average_value;
      const TriggerMetric trigger{
          .name = name(first + i), .target_type = metric.target.type, .target_milli = target.milli};
      triggers[i] =
          ApplyFallback({.metric = trigger,
                         .reading = triggers[i],
                         .fallback = *own.fallback,
                         .failures = 1,
                         .ready_pods = static_cast<int32_t>(out.table.running_and_ready())});
      if (reading != nullptr) MakeTriggerReading(triggers[i], *reading);
    }
  }
}

}  // namespace flyball::scaler
