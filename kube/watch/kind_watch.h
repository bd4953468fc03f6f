// Reports that the kinds of a cluster may have changed, by watching its CustomResourceDefinitions
// and APIServices.
//
// One thread for each of the two. If one is forbidden or absent it is tried again after minutes.
// The objects are not kept.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"
#include "kube/watch/object_watch.h"

namespace flyball::kube {

class KindWatch : private WatchHandler {
 public:
  using MakeTransport = std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()>;

  // `on_change` runs after each list and each batch of changes, from the watches' threads, possibly
  // at the same time. Resources that `mapper` lacks are left out. The clock outlives this.
  KindWatch(const RestMapper& mapper, const MakeTransport& make_transport, Clock& clock,
            std::function<void()> on_change);

 private:
  void ListEnded() override { on_change_(); }
  void Flushed() override { on_change_(); }

  const std::function<void()> on_change_;
  std::vector<std::unique_ptr<ObjectWatch>> watches_;  // last: they call from their threads
};

}  // namespace flyball::kube
