// Kubernetes events about objects, sent in the background.
//
// Thread-safe; one thread. Recording never waits: the queue is bounded and what does not fit is
// counted and dropped. Similar events are aggregated and each object has a budget, as
// k8s.io/client-go v0.34.4 tools/record does: an equal event raises the count of the one stored;
// more than 10 similar ones in 10 minutes become one "(combined from similar events): "; a burst of
// 25 for each source and object, then one each 5 minutes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "kube/api_client.h"

namespace flyball::kube {

struct EventSubject {
  std::string api_version;  // "autoscaling/v2"
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
};

class EventRecorder {
 public:
  struct Stats {
    uint64_t sent = 0, dropped = 0, failed = 0;
  };

  // `component` is the source: "horizontal-pod-autoscaler". client and clock outlive the recorder.
  EventRecorder(ApiClient& client, Clock& clock, std::string component);
  ~EventRecorder();  // sends what is queued for at most a second
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void Record(const EventSubject& about, bool warning, absl::string_view reason,
              absl::string_view message);

  Stats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::kube
