// Converts OpenTelemetry's names to Prometheus's.
//
// Pure. Source: github.com/prometheus/otlptranslator 1.0.0, strategy UnderscoreEscapingWithSuffixes
// for metrics, and for labels the defaults of Prometheus 3.15.0: names that begin with one `_` get
// `key` in front, runs of `_` are kept.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/otlp.h"

namespace flyball::formats {

// Makes `http_server_duration_seconds` of `http.server.duration` in `s`.
//   kInvalidArgument  nothing but separators is left
absl::StatusOr<std::string> OtlpMetricName(const OtlpMetric& metric);

// Makes `k8s_pod_name` of `k8s.pod.name`.
//   kInvalidArgument  no name, or nothing but separators
absl::StatusOr<std::string> OtlpLabelName(absl::string_view key);

}  // namespace flyball::formats
