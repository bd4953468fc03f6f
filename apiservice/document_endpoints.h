// What is served beside the metrics: discovery, OpenAPI, health, version, index.
//
// Thread-safe. The user has been authenticated and authorized before.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapter/provider.h"
#include "apiservice/discovery_docs.h"
#include "apiservice/health.h"
#include "apiservice/net/message.h"
#include "apiservice/options.h"
#include "apiservice/render.h"
#include "apiservice/router.h"
#include "base/clock.h"
#include "base/snapshot.h"

namespace flyball::apiservice {

class DocumentEndpoints {
 public:
  // `clock` and `health` outlive it.
  DocumentEndpoints(VersionInfo version, const HealthChecks* health, Clock* clock);

  // Whether the group (and version, unless "") is on.
  bool Serves(absl::string_view group, absl::string_view version,
              const adapter::Providers& providers);

  HttpResponse GroupList(const HttpRequest& request, const Style& style,
                         const adapter::Providers& providers);
  HttpResponse Group(const RoutedRequest& routed, const Style& style,
                     const adapter::Providers& providers);
  HttpResponse ResourceList(const RoutedRequest& routed, const Style& style,
                            const adapter::Providers& providers);
  // 200 at `/`, 404 anywhere else.
  HttpResponse Index(int status, const adapter::Providers& providers);
  HttpResponse Health(const RoutedRequest& routed, const adapter::Providers& providers);
  HttpResponse Version();
  // The three OpenAPI endpoints.
  HttpResponse OpenApi(const HttpRequest& request, const RoutedRequest& routed, const Style& style,
                       const adapter::Providers& providers);

 private:
  struct OpenApiSet;
  std::shared_ptr<const OpenApiSet> OpenApiOf(const adapter::Providers& providers);

  const VersionInfo version_;
  const HealthChecks* const health_;
  Clock* const clock_;
  DiscoveryDocs discovery_;
  Snapshot<OpenApiSet> openapi_;
};

}  // namespace flyball::apiservice
