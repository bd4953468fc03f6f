// The answers of a receiver of OTLP over HTTP, in the encoding of the request.
//
// Pure. Source: opentelemetry-proto's collector/metrics/v1 and google/rpc/status.proto.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/otlp.h"

namespace flyball::formats {

// An ExportMetricsServiceResponse. `message` says why points were rejected or, if none were, what
// the sender should know. Without either, everything was accepted.
std::string OtlpSuccess(OtlpEncoding encoding, size_t rejected_points, absl::string_view message);

// A google.rpc.Status; its codes are absl's.
std::string OtlpFailure(OtlpEncoding encoding, const absl::Status& status);

absl::string_view OtlpMediaType(OtlpEncoding encoding);

}  // namespace flyball::formats
