// The three metrics APIs: a routed request → its answer, from the providers or from the cache.
//
// Thread-safe. The user has been authenticated and authorized before. A steady poller costs a cache
// hit: an answer is given again while the provider says so (base/freshness.h), and within one
// second of the wall clock where its timestamps say "now". An answer that would be too long is
// refused before it is made: 413. Long ones are made one after the other (answer_room.h).
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "adapter/provider.h"
#include "apiservice/endpoints/answer_room.h"
#include "apiservice/endpoints/options.h"
#include "apiservice/requests/render.h"
#include "apiservice/requests/router.h"
#include "base/clock.h"
#include "base/expiring_cache.h"
#include "http/server/message.h"

namespace flyball::apiservice {

class MetricEndpoints {
 public:
  struct Counters {
    std::atomic<uint64_t> cache_hits{0}, cache_misses{0};
  };

  MetricEndpoints(Clock* clock, const LimitOptions& limits);

  // `target` is the raw request target; `deadline` the end of the request. The endpoint must be one
  // of the metric ones and its provider there.
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
  AnswerRoom room_;
  ExpiringCache<std::shared_ptr<const KeptAnswer>, 4> cache_;
  Counters counters_;
};

}  // namespace flyball::apiservice
