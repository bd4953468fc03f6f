// The pages that take samples: POST /api/v1/write (remote write 1.0 and 2.0) and /api/v1/push (text
// that a shell script can make).
//
// Thread-safe. The client has been authenticated and authorized before.
//
// Answers of remote write, as in Prometheus unless said otherwise:
//   204  all samples are taken
//   400  a malformed request; or some of its samples are refused, for good or for want of room, the
//        rest is taken, and the text says how many and why the first one was (Prometheus takes back
//        the whole request of version 1.0)
//   413  too long after decompression
//   415  another media type or encoding
//   429  the room for it is taken by requests that are being read (push_room.h), with Retry-After
//   503  nothing was taken, since there is no room for new series now, with Retry-After
// For version 2.0 headers say what was written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "adapter/live/receive/ingest.h"
#include "adapter/live/receive/push_room.h"
#include "base/clock.h"
#include "http/server/pages.h"

namespace flyball::live {

struct PushLimits {
  size_t max_uncompressed_bytes = 32u << 20;
  int max_at_once = 4;  // requests that are uncompressed at the same time; more is 429
};

class PushPages : public http::Pages {
 public:
  // All outlive it.
  PushPages(Ingest& ingest, PushRoom& room, Clock& clock, PushLimits limits = {})
      : ingest_(ingest), room_(room), clock_(clock), limits_(limits) {}

  bool Has(absl::string_view path) const override;
  http::HttpResponse Answer(const http::HttpRequest& request) override;

 private:
  http::HttpResponse Write(const http::HttpRequest& request, int64_t now_ms);
  http::HttpResponse Push(const http::HttpRequest& request, int64_t now_ms);

  Ingest& ingest_;
  PushRoom& room_;
  Clock& clock_;
  const PushLimits limits_;
  std::atomic<int> under_way_ = 0;
};

}  // namespace flyball::live
