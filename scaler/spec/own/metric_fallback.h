// spec.metrics[].fallback and spec.triggers[].fallback of an Autoscaler: what a metric or a trigger
// asks for while it is unknown.
//
// Pure. The fields have the names of those of a rule's onFailure; here `then` may also ask for
// replicas, since the autoscaler is known. Each form of `then` becomes a count or a bound when it
// is read. A trigger has no `then.value`, because its target is in metadata that only its type
// reads, or comes from a server. In OwnSpec::metric_fallbacks those of triggers follow those of
// metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/quantity.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/field_error.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// A fallback as it is written.
struct WrittenThen {
  std::optional<int32_t> replicas;
  std::optional<kube::Quantity> value;
  bool max = false, min = false;
};
struct WrittenFallback {
  std::optional<int32_t> after_failures;
  std::optional<std::string> keep_last;
  std::optional<WrittenThen> then;
};

// One metric of the list as it is written, without the fields that an HPA has too.
struct WrittenMetric {
  std::optional<WrittenFallback> fallback;
};

constexpr auto kThenFields = [](auto& field, WrittenThen& to) {
  field("replicas", to.replicas);
  field.OrElse("max", to.max, false);
  field.OrElse("min", to.min, false);
};
constexpr auto kWaitFields = [](auto& field, WrittenFallback& to) {
  field("failureThreshold", to.after_failures);
  field("keepLast", to.keep_last);
};
constexpr auto kMetricFallbackFields = [](auto& field, WrittenMetric& to) {
  field("fallback", to.fallback, [](auto& field, WrittenFallback& to) {
    kWaitFields(field, to);
    field("then", to.then, [](auto& field, WrittenThen& to) {
      kThenFields(field, to);
      field("value", to.value);
    });
  });
};
constexpr auto kTriggerFallbackFields = [](auto& field, WrittenFallback& to) {
  kWaitFields(field, to);
  field("then", to.then, kThenFields);
};

// The fallback of each metric; empty if none has one. `metrics` are those of the same spec,
// compiled.
std::vector<std::optional<MetricFallback>> ReadMetricFallbacks(
    const std::vector<WrittenMetric>& written, const std::vector<MetricSpec>& metrics,
    FieldErrors& errors);

// Computes the counts of values anew, for targets that a schedule has replaced.
void FollowTargets(const std::vector<MetricSpec>& metrics,
                   std::vector<std::optional<MetricFallback>>& fallbacks);

// The fallback of one trigger; `at` is its path, for errors.
MetricFallback ReadTriggerFallback(const WrittenFallback& written, const std::string& at,
                                   FieldErrors& errors);

// A duration that both Go and CEL read the same: without a sign, and in ms, s, m and h.
std::optional<absl::Duration> ParseDurationText(const std::string& text);

}  // namespace flyball::scaler
