#include "scaler/spec/own/metric_fallback.h"

#include <re2/re2.h>

#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMaxDurationText = 32;
constexpr absl::Duration kMaxKeepLast = absl::Hours(24);

void ReadKeepLast(const std::string& text, const std::string& at, MetricFallback& out,
                  FieldErrors& errors) {
  const std::optional<absl::Duration> duration = ParseDurationText(text);
  if (!duration.has_value()) {
    errors.Invalid(at + ".keepLast", "must be a duration like 90s or 5m");
  } else if (*duration <= absl::ZeroDuration() || *duration > kMaxKeepLast) {
    errors.Invalid(at + ".keepLast", "must be above 0 and at most 24h");
  } else {
    out.keep_last = *duration;
  }
}

// Rounded up; the target is above 0.
int32_t ReplicasOfTotal(int64_t milli, int64_t target) {
  const absl::int128 count = (absl::int128(milli) + target - 1) / target;
  return static_cast<int32_t>(std::min<absl::int128>(count, std::numeric_limits<int32_t>::max()));
}

// Turns a value that replaces the metric into a count of replicas. This needs a total and a target
// for each replica: the count is then their quotient. With any other target the count would be a
// multiple of the current count, and would grow or shrink at each decision.
void ReadValue(const kube::Quantity& value, const MetricSpec& metric, const std::string& at,
               MetricFallback& out, FieldErrors& errors) {
  const bool of_total = metric.type == MetricType::kObject || metric.type == MetricType::kExternal;
  if (!of_total || !metric.target.average_value.has_value()) {
    errors.Invalid(at + ".then.value",
                   "needs an External or Object metric with a target of type AverageValue; "
                   "another one takes replicas");
    return;
  }
  if (value.Sign() < 0) {
    return errors.Invalid(at + ".then.value", "must be greater than or equal to 0");
  }
  if (IsBeyond(value)) return errors.Invalid(at + ".then.value", "is too large");
  const int64_t target = metric.target.average_value->milli;
  if (target <= 0) return;
  out.value_milli = value.MilliValue();
  out.replicas = ReplicasOfTotal(*out.value_milli, target);
}

// `metric` is nullptr for a trigger.
void ReadThen(const WrittenThen& then, const MetricSpec* metric, const std::string& at,
              MetricFallback& out, FieldErrors& errors) {
  const int said = static_cast<int>(then.replicas.has_value()) +
                   static_cast<int>(then.value.has_value()) + static_cast<int>(then.max) +
                   static_cast<int>(then.min);
  if (said != 1) {
    errors.Invalid(at + ".then", metric != nullptr ? "must have one of replicas, value, max and min"
                                                   : "must have one of replicas, max and min");
  }
  using Then = MetricFallback::Then;
  out.then = then.max ? Then::kMax : then.min ? Then::kMin : Then::kReplicas;
  if (then.replicas.value_or(0) < 0) {
    errors.Invalid(at + ".then.replicas", "must be greater than or equal to 0");
  }
  out.replicas = then.replicas.value_or(0);
  if (then.value.has_value() && metric != nullptr) ReadValue(*then.value, *metric, at, out, errors);
}

MetricFallback ReadOne(const WrittenFallback& written, const MetricSpec* metric,
                       const std::string& at, FieldErrors& errors) {
  MetricFallback out;
  if (!written.keep_last.has_value() && !written.then.has_value()) {
    errors.Required(at, "must have keepLast, then or both");
  }
  if (written.keep_last.has_value() && written.after_failures.has_value()) {
    errors.Invalid(at, "must have keepLast or failureThreshold: both say how long to wait");
  }
  if (written.after_failures.value_or(0) < 0) {
    errors.Invalid(at + ".failureThreshold", "must be greater than or equal to 0");
  }
  out.after_failures = written.after_failures.value_or(out.after_failures);
  if (written.keep_last.has_value()) ReadKeepLast(*written.keep_last, at, out, errors);
  if (written.then.has_value()) ReadThen(*written.then, metric, at, out, errors);
  return out;
}

}  // namespace

std::vector<std::optional<MetricFallback>> ReadMetricFallbacks(
    const std::vector<WrittenMetric>& written, const std::vector<MetricSpec>& metrics,
    FieldErrors& errors) {
  std::vector<std::optional<MetricFallback>> out;
  for (size_t i = 0; i < std::min(written.size(), metrics.size()); ++i) {
    if (!written[i].fallback.has_value()) continue;
    out.resize(metrics.size());
    out[i] = ReadOne(*written[i].fallback, &metrics[i],
                     absl::StrCat("spec.metrics[", i, "].fallback"), errors);
  }
  return out;
}

void FollowTargets(const std::vector<MetricSpec>& metrics,
                   std::vector<std::optional<MetricFallback>>& fallbacks) {
  for (size_t i = 0; i < std::min(metrics.size(), fallbacks.size()); ++i) {
    if (!fallbacks[i].has_value() || !fallbacks[i]->value_milli.has_value()) continue;
    const int64_t target = metrics[i].target.average_value->milli;
    fallbacks[i]->replicas = ReplicasOfTotal(*fallbacks[i]->value_milli, target);
  }
}

MetricFallback ReadTriggerFallback(const WrittenFallback& written, const std::string& at,
                                   FieldErrors& errors) {
  return ReadOne(written, nullptr, at, errors);
}

std::optional<absl::Duration> ParseDurationText(const std::string& text) {
  static const re2::LazyRE2 kGrammar = {R"(([0-9]+(\.[0-9]+)?(ms|s|m|h))+)"};
  absl::Duration duration;
  if (text.size() > kMaxDurationText || !re2::RE2::FullMatch(text, *kGrammar) ||
      !absl::ParseDuration(text, &duration)) {
    return std::nullopt;
  }
  return duration;
}

}  // namespace flyball::scaler
