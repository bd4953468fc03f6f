// Watches the ConfigMap kube-system/extension-apiserver-authentication.
//
// The content that was read last stays in use when the ConfigMap is deleted or cannot be read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/watch/object_watch.h"

namespace flyball::apiservice {

class ConfigMapWatcher : public kube::WatchHandler {
 public:
  using Data = std::map<std::string, std::string>;
  // Called from the watching thread with the content whenever it has changed.
  using OnData = std::function<void(const Data&)>;

  // The clock outlives the watcher. The end of the watch shuts the transport down.
  ConfigMapWatcher(std::shared_ptr<http::HttpTransport> transport, Clock& clock, OnData on_data);

  // Reads it once; to be called before Start. kNotFound, kPermissionDenied, kUnavailable.
  absl::StatusOr<Data> Read();

  // Begins to watch.
  void Start();
  // Ends the watch; waits for a call under way.
  void Stop() { watch_.reset(); }

 private:
  void ListStarted() override { exists_ = false; }
  void Listed(absl::string_view object_json) override;
  void ListEnded() override;
  void Changed(kube::ChangeType type, absl::string_view object_json) override;
  void StatusChanged(const absl::Status& status) override;

  const std::shared_ptr<http::HttpTransport> transport_;
  Clock& clock_;
  const OnData on_data_;
  // Used only by the watching thread after Start.
  bool exists_ = false;
  std::optional<Data> last_;
  std::unique_ptr<kube::ObjectWatch> watch_;  // last: its thread uses what is above
};

}  // namespace flyball::apiservice
