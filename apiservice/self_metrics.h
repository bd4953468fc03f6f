// The server's metrics about itself, under the names of the Kubernetes API server library.
//
// Thread-safe. Requests are counted in fixed tables of atomics; the families are made only when
// /metrics is read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "apiservice/auth/authenticator.h"
#include "apiservice/auth/authorizer.h"
#include "apiservice/auth/review_client.h"
#include "apiservice/endpoints/metric_endpoints.h"
#include "apiservice/requests/router.h"
#include "base/histogram.h"
#include "http/server/http_server.h"

namespace flyball::apiservice {

class MetricFamilies;

// Upper bounds in seconds of apiserver_request_duration_seconds.
inline constexpr std::array<double, 23> kDurationBounds = {
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,  1.25, 1.5, 2,
    3,     4,     5,    6,   8,   10,  15,  20,  30, 45,   60};

// Upper bounds in bytes of apiserver_response_sizes.
inline constexpr std::array<double, 7> kSizeBounds = {1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

class SelfMetrics {
 public:
  SelfMetrics() = default;

  // Counts a request that the original counts: one that a handler of metrics, health or aggregated
  // discovery answered (`routed.handled`), or one that was refused with 429.
  void Count(const RoutedRequest& routed, int code, absl::Duration took, size_t body_bytes);

  std::atomic<int64_t> in_flight{0};
  std::atomic<uint64_t> refused_in_flight{0};
  std::atomic<uint64_t> refused_reviews{0};

  // Sources of other numbers. To be set before the first Text(); without a cluster there are no
  // reviews.
  struct Sources {
    const http::HttpServer::Counters* http = nullptr;
    const Authenticator::Counters* authentication = nullptr;
    const Authorizer::Counters* authorization = nullptr;
    const ReviewClient::Durations* token_reviews = nullptr;
    const ReviewClient::Durations* access_reviews = nullptr;
    const MetricEndpoints* metrics = nullptr;
    std::function<absl::Time()> certificate_end;
    std::function<absl::Time()> now;
  };
  Sources sources;

  // The exposition text of these metrics.
  std::string Text() const;

 private:
  static constexpr std::array<int, 13> kCodes = {200, 304, 400, 404, 405, 406, 413,
                                                 422, 429, 500, 503, 504, 0};
  // One for each distinguished kind of request.
  static constexpr size_t kKinds = 20;
  struct RequestMetrics {
    std::array<std::atomic<uint64_t>, kCodes.size()> codes{};
    Histogram<kDurationBounds.size()> seconds{kDurationBounds};
    Histogram<kSizeBounds.size()> bytes{kSizeBounds};
  };
  static size_t KindOf(const RoutedRequest& routed);
  static void AddRequests(const RequestMetrics& from, size_t kind, bool watch, MetricFamilies* out);

  std::array<RequestMetrics, kKinds> by_kind_;
  std::array<RequestMetrics, kKinds> watches_by_kind_;  // those with ?watch=, whose verb is WATCH
};

}  // namespace flyball::apiservice
