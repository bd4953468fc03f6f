// Connections that triggers share: equal servers and credentials are one client, so that ten
// thousand triggers of one Prometheus have one pool of connections and one thread between them.
//
// Thread-safe. A client lives as long as a trigger that uses it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kube/transport.h"
#include "scaler/triggers/external/external_scaler.h"

namespace flyball::scaler {

class TriggerClients {
 public:
  // Errors as kube::MakeHttpTransport.
  absl::StatusOr<std::shared_ptr<kube::HttpTransport>> Http(const kube::TransportOptions& options);
  // Errors as MakeExternalScaler.
  absl::StatusOr<std::shared_ptr<ExternalScaler>> External(const ExternalAddress& address);

  // Ends the calls under way and refuses new ones.
  void Shutdown();

 private:
  absl::Mutex mutex_;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::weak_ptr<kube::HttpTransport>> http_ ABSL_GUARDED_BY(mutex_);
  std::map<ExternalAddress, std::weak_ptr<ExternalScaler>> external_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scaler
