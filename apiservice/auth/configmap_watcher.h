// Follows the ConfigMap kube-system/extension-apiserver-authentication.
//
// One thread: list, then watch, again after each end, with back-off after errors (1 s to 30 s).
// The content that was read last stays in use when the ConfigMap is deleted or cannot be read.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/repeating_thread.h"
#include "http/client/transport.h"

namespace flyball::apiservice {

class ConfigMapWatcher {
 public:
  using Data = std::map<std::string, std::string>;
  // Called from the watching thread for each state that was seen.
  using OnData = std::function<void(const Data&)>;

  // `transport` and the clock outlive the watcher. No other object uses the transport: Stop() shuts
  // it down to end the watch.
  ConfigMapWatcher(http::HttpTransport* transport, Clock& clock, OnData on_data);
  ~ConfigMapWatcher();

  // Reads it once, now. kNotFound, kPermissionDenied, kUnavailable.
  absl::StatusOr<Data> Read();

  // Starts the thread.
  void Start();
  // Ends it; waits for a call under way.
  void Stop();

 private:
  // Watches once more; returns when to do it again.
  absl::Duration Watch();
  absl::Status WatchOnce();
  void HandleLine(absl::string_view line);

  http::HttpTransport* const transport_;
  const OnData on_data_;
  // The thread's own.
  std::string resource_version_;
  absl::Duration wait_;  // after a failure
  bool reported_ = false;
  bool started_ = false;
  RepeatingThread thread_;
};

}  // namespace flyball::apiservice
