#include "scaler/spec/knative/settings.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/go/arithmetic.h"
#include "scaler/spec/knative/annotations.h"

namespace flyball::scaler::knative {
namespace {

// The metric of the annotation, or the class's default if there is none.
std::string MetricOf(const TextMap& annotations) {
  if (std::optional<std::string> metric = TextAnnotation(annotations, kMetric)) return *metric;
  const std::string of_class = TextAnnotation(annotations, kClass).value_or(kKpaClass);
  if (of_class == kKpaClass) return kConcurrencyMetric;
  return of_class == kHpaClass ? "cpu" : "";
}

void ResolveTarget(const Config& config, const Revision& revision, RequestSettings& settings) {
  const auto limit = static_cast<double>(revision.container_concurrency);
  double utilization = 0;
  if (settings.metric == kRpsMetric) {
    settings.total = config.requests_per_second_target_default;
    utilization = config.rps_target_utilization;
  } else {
    settings.total = limit == 0 ? config.container_concurrency_target_default : limit;
    utilization = config.container_concurrency_target_fraction;
  }
  if (const auto target = FloatAnnotation(revision.annotations, kTarget)) {
    const bool capped = settings.metric == kConcurrencyMetric && limit != 0;
    settings.total = capped ? GoMin(*target, limit) : *target;
  }
  if (const auto percent = FloatAnnotation(revision.annotations, kTargetUtilization)) {
    utilization = *percent / 100;
  }
  settings.target = GoMax(kSmallestTarget, settings.total * utilization);
}

// `percent` of the stable window in whole seconds, halves rounded up, and at least one second.
absl::Duration PanicWindow(absl::Duration stable, double percent) {
  const auto nanoseconds = static_cast<double>(absl::ToInt64Nanoseconds(stable));
  const absl::Duration share = absl::Nanoseconds(GoInt64(nanoseconds * percent / 100));
  const absl::Duration rounded = absl::Floor(share + absl::Milliseconds(500), absl::Seconds(1));
  return std::max(rounded, absl::Seconds(1));
}

bool IsWeighted(const TextMap& annotations) {
  const std::string algorithm = TextAnnotation(annotations, kAlgorithm).value_or("");
  return algorithm == "weighted-exponential" || algorithm == "weightedExponential";
}

int32_t InitialScale(const Config& config, const TextMap& annotations) {
  const std::optional<int32_t> scale = IntAnnotation(annotations, kInitialScale);
  if (!scale.has_value()) return config.initial_scale;
  return *scale == 0 && !config.allow_zero_initial_scale ? config.initial_scale : *scale;
}

void ResolveScaleToZero(const Config& config, const Revision& revision, RequestSettings& settings) {
  settings.enable_scale_to_zero = config.enable_scale_to_zero;
  settings.scale_to_zero_grace_period = config.scale_to_zero_grace_period;
  if (settings.reachable) {
    settings.pod_retention = DurationAnnotation(revision.annotations, kPodRetention)
                                 .value_or(config.scale_to_zero_pod_retention_period);
  }
  settings.progress_deadline = DurationAnnotation(revision.annotations, kProgressDeadline)
                                   .value_or(config.progress_deadline);
}

}  // namespace

RequestSettings ResolveSettings(const Config& config, const Revision& revision) {
  const TextMap& annotations = revision.annotations;
  RequestSettings settings;
  settings.metric = MetricOf(annotations);
  settings.reachable = revision.reachability != Reachability::kUnreachable;
  ResolveTarget(config, revision, settings);
  settings.max_scale_up_rate = config.max_scale_up_rate;
  settings.max_scale_down_rate = config.max_scale_down_rate;
  settings.panic_threshold =
      FloatAnnotation(annotations, kPanicThreshold).value_or(config.panic_threshold_percentage) /
      100;
  settings.target_burst_capacity =
      FloatAnnotation(annotations, kTargetBurstCapacity).value_or(config.target_burst_capacity);
  settings.activator_capacity = config.activator_capacity;
  settings.stable_window = DurationAnnotation(annotations, kWindow).value_or(config.stable_window);
  settings.panic_window = PanicWindow(
      settings.stable_window,
      FloatAnnotation(annotations, kPanicWindow).value_or(config.panic_window_percentage));
  settings.scale_down_delay =
      DurationAnnotation(annotations, kScaleDownDelay).value_or(config.scale_down_delay);
  settings.weighted = IsWeighted(annotations);
  settings.initial_scale = InitialScale(config, annotations);
  settings.activation_scale = IntAnnotation(annotations, kActivationScale).value_or(0);
  settings.min_scale =
      settings.reachable ? IntAnnotation(annotations, kMinScale).value_or(config.min_scale) : 0;
  settings.max_scale = IntAnnotation(annotations, kMaxScale).value_or(config.max_scale);
  ResolveScaleToZero(config, revision, settings);
  return settings;
}

}  // namespace flyball::scaler::knative
