// spec.metrics[].fallback and spec.triggers[].fallback of an Autoscaler: what a metric or a trigger
// asks for while it is unknown.
//
// Pure. The words are those of a rule's onFailure; here `then` may ask for replicas, since the
// autoscaler is known. Every form becomes a count when it is read. A trigger has no `then.value`:
// its target stands in metadata that its type alone reads, or is learnt from a server. In
// OwnSpec::metric_fallbacks those of triggers stand behind those of metrics.
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

// One metric of the list as it is written, without what an HPA's has too.
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

// By metric; empty when none has a fallback. `metrics` are those of the same spec, compiled.
std::vector<std::optional<MetricFallback>> ReadMetricFallbacks(
    const std::vector<WrittenMetric>& written, const std::vector<MetricSpec>& metrics,
    FieldErrors& errors);

// Of one trigger; `at` is where it stands.
MetricFallback ReadTriggerFallback(const WrittenFallback& written, const std::string& at,
                                   FieldErrors& errors);

// What both Go and CEL read as a duration, without sign and with units that a person would use.
std::optional<absl::Duration> ParseDurationText(const std::string& text);

}  // namespace flyball::scaler
