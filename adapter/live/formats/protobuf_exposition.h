// Reads a page that is scraped as protobuf: MetricFamily messages, each preceded by its length.
//
// Pure; safe on any thread. Source: prometheus/client_model 0.6.3 metrics.proto, and Prometheus
// 3.15.0 model/textparse/protobufparse.go as it reads it without native histograms: summaries and
// histograms are handed over sample by sample, as on a page of text. Limits: the name of a family
// is no longer than a label's value may be; a metric has at most 65,536 buckets or quantiles; as
// text its labels take at most kMaxSeriesText, since no caller accepts a longer series; the texts
// that name all samples, each with the labels of its metric, are at most kMaxTextRatio times as
// long as the page, or kMinTextBytes.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"

namespace flyball::formats {

inline constexpr size_t kMaxTextRatio = 64;
inline constexpr size_t kMinTextBytes = 4 << 20;

// Errors are kInvalidArgument, with the byte at which the family begins, or kResourceExhausted for
// the last two of the limits; the sink then has everything that came before.
absl::Status ParseProtobufExposition(absl::string_view page, ScrapeSink& sink);

}  // namespace flyball::formats
