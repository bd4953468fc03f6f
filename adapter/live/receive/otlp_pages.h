// The pages that take metrics by OpenTelemetry's protocol over HTTP: POST /v1/metrics, and
// /api/v1/otlp/v1/metrics as in Prometheus.
//
// Thread-safe. The client has been authenticated and authorized before.
//
// Answers, as in the protocol, in the encoding of the request:
//   200  taken; a partial success says how many data points were refused, for good or for want of
//        room, and why
//   400  a malformed request
//   413  too long after decompression
//   415  another media type or encoding, as text
//   429, 503 with Retry-After: too many requests at once; nothing was taken for want of room
#pragma once

#include <atomic>
#include <cstddef>

#include "adapter/live/receive/otlp_receiver.h"
#include "adapter/live/receive/push_room.h"
#include "base/clock.h"
#include "http/server/pages.h"

namespace flyball::live {

struct OtlpLimits {
  size_t max_uncompressed_bytes = 20u << 20;
  size_t max_json_bytes = 4u << 20;  // the same of JSON, whose reading takes many times as much
  int max_at_once = 4;               // requests that are read at the same time
};

class OtlpPages : public http::Pages {
 public:
  // All outlive it.
  OtlpPages(OtlpReceiver& receiver, PushRoom& room, Clock& clock, OtlpLimits limits = {})
      : receiver_(receiver), room_(room), clock_(clock), limits_(limits) {}

  bool Has(absl::string_view path) const override;
  http::HttpResponse Answer(const http::HttpRequest& request) override;

 private:
  http::HttpResponse Take(formats::OtlpEncoding encoding, absl::string_view message);

  size_t MaxBytes(formats::OtlpEncoding encoding) const;

  OtlpReceiver& receiver_;
  PushRoom& room_;
  Clock& clock_;
  const OtlpLimits limits_;
  std::atomic<int> under_way_ = 0;
};

}  // namespace flyball::live
