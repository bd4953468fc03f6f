#include "scaler/stores/managed.h"

#include "absl/hash/hash.h"
#include "scaler/spec/own/metric_fallback.h"
#include "scaler/spec/scheduled_targets.h"

namespace flyball::scaler {

ManagedPtr ManagedAt(const ManagedPtr& written, absl::Time now) {
  if (written->own.schedules.empty() || !written->refused.empty()) return written;
  const ScheduledSpec spec = SpecAt(written->own.schedules, written->autoscaler, now);
  if (spec.why.empty()) return written;
  auto made = std::make_shared<Managed>(*written);
  made->autoscaler.min_replicas = spec.min_replicas;
  made->autoscaler.max_replicas = spec.max_replicas;
  SetTargets(spec.targets, made->autoscaler.metrics, made->own.triggers);
  FollowTargets(made->autoscaler.metrics, made->own.metric_fallbacks);
  made->own.paused |= spec.paused;
  made->scheduled = spec.why;
  made->spec_hash =
      absl::HashOf(written->spec_hash, spec.min_replicas, spec.max_replicas, spec.paused);
  for (const auto& [name, amount] : spec.targets) {
    made->spec_hash = absl::HashOf(made->spec_hash, name, amount);
  }
  return made;
}

}  // namespace flyball::scaler
