// links: scaler_spec
//
// Annotations with schedules, of any bytes: of what is accepted bounds are never crossed, at times
// around the changes of clocks and of years, nothing changes within a minute, and targets stay
// above zero.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "scaler/spec/scheduled_targets.h"
#include "scaler/spec/schedules_read.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

constexpr int64_t kMoments[] = {1767225599, 1774745999, 1774746000, 1792888199, 1792891800, 0};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flyball::scaler;
  if (size > 4096) return 0;
  Autoscaler hpa;
  hpa.min_replicas = 2;
  hpa.max_replicas = 10;
  MetricSpec& queue = hpa.metrics.emplace_back();
  queue.type = MetricType::kExternal;
  queue.metric.name = "queue";
  queue.target.average_value = MakeTargetAmount(flyball::kube::Quantity::FromMilli(10000));
  MetricSpec& cpu = hpa.metrics.emplace_back();
  cpu.type = MetricType::kResource;
  cpu.resource = "cpu";
  cpu.target.average_utilization = 50;
  hpa.annotations[std::string(kSchedulesAnnotation)] =
      std::string(reinterpret_cast<const char*>(data), size);
  FieldErrors errors;
  const Schedules schedules = ReadScheduleAnnotations(hpa, errors);
  if (!std::move(errors).Sorted().empty()) return 0;
  Require(schedules.windows.size() <= kMaxSchedules);
  for (const int64_t moment : kMoments) {
    const absl::Time now = absl::FromUnixSeconds(moment);
    const ScheduledSpec spec = SpecAt(schedules, hpa, now);
    Require(1 <= spec.min_replicas.value_or(1));
    Require(spec.min_replicas.value_or(1) <= spec.max_replicas);
    Autoscaler then = hpa;
    std::vector<TriggerSpec> none;
    SetTargets(spec.targets, then.metrics, none);
    Require(then.metrics[0].target.average_value->milli > 0);
    Require(*then.metrics[1].target.average_utilization > 0);
    absl::Time change = now - absl::Seconds(moment % 60) + absl::Minutes(1);
    if (schedules.paused_until.has_value() && now < *schedules.paused_until) {
      change = std::min(change, *schedules.paused_until);
    }
    Require(SpecAt(schedules, hpa, change - absl::Nanoseconds(1)).why == spec.why);
  }
  return 0;
}
