// Sends resources over incremental xDS: one stream for each Envoy, all fed from one table.
//
// Thread-safe. One lock guards the table and what each stream was sent; it is not held while the
// front is called. A stream has one message under way at a time; what changes meanwhile is sent
// after it, in its state at that time (delta_stream.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "ads.grpc.pb.h"
#include "base/clock.h"
#include "scaler/front/data_path.h"
#include "scaler/front/envoy/delta_stream.h"
#include "scaler/front/envoy/resource_table.h"

namespace flyball::front {

class AdsService final
    : public ::envoy::service::discovery::v3::AggregatedDiscoveryService::CallbackService {
 public:
  AdsService(const Clock& clock, std::string peer_name, DataPathEvents& events)
      : clock_(clock), peer_name_(std::move(peer_name)), events_(events) {}

  // See DataPath.
  void Put(Resource resource, uint64_t version) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(ResourceKind kind, const std::string& service) ABSL_LOCKS_EXCLUDED(mutex_);
  // Until then streams are accepted but not read.
  void BeginServing(const std::vector<std::string>& kept) ABSL_LOCKS_EXCLUDED(mutex_);

  grpc::ServerBidiReactor<envoy::DeltaDiscoveryRequest, envoy::DeltaDiscoveryResponse>*
  DeltaAggregatedResources(grpc::CallbackServerContext* call) override;

 private:
  class Stream;

  void OnChange(ResourceKind kind, const std::string& service)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(const Stream& stream, const std::string& node, bool first, bool returning,
            const DeltaStream::Verdict& verdict) ABSL_LOCKS_EXCLUDED(mutex_, telling_);
  void TellGone(const Stream& stream, const std::string& node)
      ABSL_LOCKS_EXCLUDED(mutex_, telling_);

  const Clock& clock_;
  const std::string peer_name_;
  DataPathEvents& events_;

  absl::Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  ResourceTable table_ ABSL_GUARDED_BY(mutex_);
  std::set<Stream*> streams_ ABSL_GUARDED_BY(mutex_);  // each until its OnDone

  // Held while events of an Envoy are reported to the front, so that those of an older stream never
  // come after those of a newer one. The front takes it in none of its calls.
  absl::Mutex telling_ ABSL_ACQUIRED_BEFORE(mutex_);
  absl::flat_hash_map<std::string, const Stream*> newest_ ABSL_GUARDED_BY(telling_);  // by node
};

}  // namespace flyball::front
