// The page that is scraped as protobuf: MetricFamily messages, each with its length in front.
//
// Pure; safe on any thread. Source: prometheus/client_model 0.6.3 metrics.proto, and Prometheus
// 3.15.0 model/textparse/protobufparse.go as it reads it without native histograms: summaries and
// histograms are handed over sample by sample, as on a page of text.
// Limits: none of its own; work and memory are those of the page.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"

namespace flyball::formats {

// What fails is kInvalidArgument and says at which byte the family begins; the sink then has what
// came before.
absl::Status ParseProtobufExposition(absl::string_view page, ScrapeSink& sink);

}  // namespace flyball::formats
