#include "kube/watch/kind_watch.h"

#include <utility>

#include "base/thread_limit.h"
#include "spdlog/spdlog.h"

namespace flyball::kube {

KindWatch::KindWatch(const RestMapper& mapper, const MakeTransport& make_transport, Clock& clock,
                     std::function<void()> on_change)
    : on_change_(std::move(on_change)) {
  for (const GroupResource& resource :
       {GroupResource{"apiextensions.k8s.io", "customresourcedefinitions"},
        GroupResource{"apiregistration.k8s.io", "apiservices"}}) {
    const ResourceInfo* info = mapper.FindExact(resource);
    if (info == nullptr || !info->watchable) continue;
    absl::StatusOr<std::unique_ptr<http::HttpTransport>> server = make_transport();
    if (!server.ok()) {
      spdlog::warn("{} are not watched: {}", resource.ToString(),
                   std::string(server.status().message()));
      continue;
    }
    ObjectWatchOptions watch;
    watch.resource = *info;
    watch.metadata_only = true;
    watch.max_backoff = absl::Minutes(5);
    WatchHandler& handler = *this;
    auto made = UnlessNoThread(
        [&] { return std::make_unique<ObjectWatch>(watch, *std::move(server), clock, handler); });
    if (made.ok()) {
      watches_.push_back(*std::move(made));
    } else {
      spdlog::warn("{} are not watched: {}", resource.ToString(),
                   std::string(made.status().message()));
    }
  }
}

}  // namespace flyball::kube
