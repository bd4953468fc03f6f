// The three metrics APIs: answers a routed request from the providers or from the cache.
//
// Thread-safe. The user has been authenticated and authorized before. A client that polls costs
// only a cache hit: an answer is reused as long as the provider allows it (base/freshness.h), and
// only within one second of the wall clock if its timestamps are the present time. An answer that
// would be too long is refused before it is made: 413. Long questions, the lists
// that a metric source is asked for, and long answers each share a room (room.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "adapter/provider.h"
#include "apiservice/endpoints/options.h"
#include "apiservice/requests/render.h"
#include "apiservice/requests/router.h"
#include "base/clock.h"
#include "base/expiring_cache.h"
#include "http/server/message.h"
#include "http/server/room.h"

namespace flyball::apiservice {

class MetricEndpoints {
 public:
  struct Counters {
    std::atomic<uint64_t> cache_hits{0}, cache_misses{0};
  };

  // `count` counts the memory of long answers elsewhere as well (RoomLimits::also).
  MetricEndpoints(Clock* clock, const LimitOptions& limits,
                  std::function<std::shared_ptr<const void>(size_t bytes)> count = nullptr);

  // `target` is the raw request target; `deadline` the end of the request. The endpoint must be a
  // metric one, and its provider must exist.
  http::HttpResponse Serve(absl::string_view target, const RoutedRequest& routed,
                           const Style& style, const adapter::Providers& providers,
                           MonotonicTime deadline);

  const Counters& counters() const { return counters_; }
  size_t cache_bytes() const { return cache_.bytes(); }

 private:
  struct Rendered;
  struct KeptAnswer;
  http::HttpResponse Render(const RoutedRequest& routed, const Style& style,
                            const adapter::Providers& providers, MonotonicTime deadline,
                            Rendered* rendered);

  Clock* const clock_;
  const size_t max_answer_bytes_;
  http::Room questions_, lists_, answers_;  // taken in this order
  ExpiringCache<std::shared_ptr<const KeptAnswer>, 4> cache_;
  Counters counters_;
};

}  // namespace flyball::apiservice
