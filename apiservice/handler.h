// Answers a request, without sockets; defines the order of the checks.
//
// Thread-safe. Order: target and ?timeout (414, 400), user (401, 429), Impersonate-* (403),
// requests under way (429), authorization (403, 429, 500), parameters and route (404, 405, 400),
// of documents the Content-Type (415, 406), Accept (406), then the endpoint. Cheap checks come
// before expensive ones: no selector is parsed for a user who may not ask. Every answer carries
// Audit-Id and Cache-Control.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "adapter/provider.h"
#include "apiservice/auth/authenticator.h"
#include "apiservice/auth/authorizer.h"
#include "apiservice/endpoints/document_endpoints.h"
#include "apiservice/endpoints/metric_endpoints.h"
#include "apiservice/options.h"
#include "apiservice/self_metrics.h"
#include "base/clock.h"
#include "base/log_limiter.h"
#include "http/server/message.h"
#include "http/server/pages.h"

namespace flyball::apiservice {

class RequestHandler {
 public:
  struct Deps {  // all outlive the handler
    Clock* clock = nullptr;
    Authenticator* authenticator = nullptr;
    Authorizer* authorizer = nullptr;
    DocumentEndpoints* documents = nullptr;
    MetricEndpoints* metrics = nullptr;
    SelfMetrics* self_metrics = nullptr;
    std::function<adapter::Providers()> providers;
    std::function<std::string()> metrics_text;  // the body of /metrics
    std::function<std::string()> debug_rules;   // the body of /debug/rules; empty: 404
    DebugPage debug_decisions;                  // of /debug/decisions; empty: 404
    std::vector<http::Pages*> pages;            // further ones; reviewed as paths, not as resources
  };

  RequestHandler(LimitOptions limits, Deps deps);

  http::HttpResponse Handle(const http::HttpRequest& request);

 private:
  // `user`: the client's user, once it is known.
  http::HttpResponse Answer(const http::HttpRequest& request, RoutedRequest* routed,
                            const Style& style, MonotonicTime start, UserPtr* user);
  http::HttpResponse Authorized(const http::HttpRequest& request, RoutedRequest* routed,
                                const Style& style, const User& user, MonotonicTime start);
  // The page that the request is for; nullptr: none of Deps::pages.
  http::Pages* PagesOf(const http::HttpRequest& request) const;
  http::HttpResponse TooManyReviews();
  http::HttpResponse Metrics();
  http::HttpResponse Debug(const RoutedRequest& routed, const Style& style,
                           const adapter::Providers& providers);
  http::HttpResponse Dispatch(const http::HttpRequest& request, RoutedRequest& routed,
                              const Style& style, MonotonicTime start);
  // Answers for groups, lists and metrics, in the form that the client accepts.
  http::HttpResponse Api(const http::HttpRequest& request, RoutedRequest& routed,
                         const Style& style, const adapter::Providers& providers,
                         MonotonicTime deadline);

  const LimitOptions limits_;
  const Deps deps_;
  LogLimiter complaints_;
  absl::Mutex making_metrics_;
  absl::Mutex making_debug_page_;
};

}  // namespace flyball::apiservice
