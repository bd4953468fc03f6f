// The endpoints other than metrics: discovery, OpenAPI, health, version, index.
//
// Thread-safe. The user has been authenticated and authorized before.
#pragma once

#include <functional>
#include <string>

#include "adapter/provider.h"
#include "apiservice/endpoints/discovery_docs.h"
#include "apiservice/endpoints/health.h"
#include "apiservice/endpoints/options.h"
#include "apiservice/requests/render.h"
#include "apiservice/requests/router.h"
#include "base/clock.h"
#include "http/server/message.h"

namespace flyball::apiservice {

class DocumentEndpoints {
 public:
  // `version`: of the program, for /version. `own_paths`: paths that the index lists in addition to
  // the original's. `port`: the server's, for the list of groups. `clock` and `health` outlive it.
  DocumentEndpoints(ProgramVersion version, const HealthChecks* health,
                    const std::vector<std::string>& own_paths, std::function<int()> port,
                    Clock* clock);

  // Whether the group is on.
  bool Serves(absl::string_view group, const adapter::Providers& providers);

  http::HttpResponse GroupList(const http::HttpRequest& request, const Style& style,
                               const adapter::Providers& providers);
  http::HttpResponse Group(const RoutedRequest& routed, const Style& style,
                           const adapter::Providers& providers);
  http::HttpResponse ResourceList(const RoutedRequest& routed, const Style& style,
                                  const adapter::Providers& providers);
  // 200 at `/`, 404 anywhere else.
  http::HttpResponse Index(int status, const adapter::Providers& providers);
  http::HttpResponse Health(const RoutedRequest& routed, const adapter::Providers& providers);
  http::HttpResponse Version();
  // The three OpenAPI endpoints.
  http::HttpResponse OpenApi(const http::HttpRequest& request, const RoutedRequest& routed,
                             const Style& style, const adapter::Providers& providers);

 private:
  const ProgramVersion version_;
  const HealthChecks* const health_;
  Clock* const clock_;
  DiscoveryDocs discovery_;
};

}  // namespace flyball::apiservice
