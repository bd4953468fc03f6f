// Receives an ext_proc call for each request that an Envoy holds, and waits for the front's answer.
//
// Thread-safe. A lock guards the list of calls, and each call has a lock of its own; neither is
// held while the front is called.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "gate.grpc.pb.h"
#include "scaler/front/data_path.h"

namespace flyball::front {

class GateService final
    : public ::envoy::service::ext_proc::v3::ExternalProcessor::CallbackService {
 public:
  GateService(const Clock& clock, std::string peer_name, DataPathEvents& events)
      : clock_(clock), peer_name_(std::move(peer_name)), events_(events) {}

  // See DataPath.
  void Release(RequestId id, const std::optional<std::string>& pod) ABSL_LOCKS_EXCLUDED(mutex_);
  void Refuse(RequestId id, const Refusal& refusal) ABSL_LOCKS_EXCLUDED(mutex_);
  // Until then calls are accepted but not read, so that early ones wait.
  void BeginServing() ABSL_LOCKS_EXCLUDED(mutex_);

  grpc::ServerBidiReactor<envoy::ProcessingRequest, envoy::ProcessingResponse>* Process(
      grpc::CallbackServerContext* call) override;

 private:
  class Call;

  // Whether the call may read at once; if not, it now waits for BeginServing.
  bool MayRead(Call* call) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the wait for BeginServing. Returns whether the call was waiting.
  bool StopWaiting(Call* call) ABSL_LOCKS_EXCLUDED(mutex_);
  RequestId Add(std::shared_ptr<Call> call) ABSL_LOCKS_EXCLUDED(mutex_);
  void Drop(RequestId id) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<Call> Find(RequestId id) ABSL_LOCKS_EXCLUDED(mutex_);

  const Clock& clock_;
  const std::string peer_name_;
  DataPathEvents& events_;

  absl::Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<Call*> early_ ABSL_GUARDED_BY(mutex_);
  RequestId last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<RequestId, std::shared_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::front
