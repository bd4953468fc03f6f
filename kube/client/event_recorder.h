// Kubernetes events about objects, sent in the background.
//
// Thread-safe; one thread. Recording never waits: the queue is bounded and what does not fit is
// counted and dropped. Similar events are correlated as k8s.io/client-go v0.34.4 tools/record does
// (event_correlator.h). What the server refuses is given up; what does not reach it, or meets a 5xx
// there, is tried again while the others wait behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/client/api_client.h"

namespace flyball::kube {

struct EventSubject {
  std::string api_version;  // "autoscaling/v2"
  std::string kind;
  std::string ns;  // "" for a cluster-scoped object: its events are in namespace default
  std::string name;
  std::string uid;
  std::string resource_version;
};

// Where events are handed to.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Must not wait.
  virtual void Record(const EventSubject& about, bool warning, absl::string_view reason,
                      absl::string_view message) = 0;
};

struct EventRecorderOptions {
  size_t max_queue = 1000;
  int max_tries = 12;                              // of one event
  absl::Duration retry_delay = absl::Seconds(10);  // the first is a random part of it
};

class EventRecorder : public EventSink {
 public:
  struct Stats {
    uint64_t sent = 0;      // stored, as a new event or as one more of an old one
    uint64_t filtered = 0;  // beyond the budget of their object
    uint64_t dropped = 0;   // no room in the queue, or no time left at the end
    uint64_t failed = 0;    // refused, or not sent in max_tries
  };

  // `component` is the source: "horizontal-pod-autoscaler". client and clock outlive the recorder.
  EventRecorder(ApiClient& client, Clock& clock, std::string component,
                EventRecorderOptions options = {});
  // Sends what is queued for at most a second, and the call under way.
  ~EventRecorder() override;
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void Record(const EventSubject& about, bool warning, absl::string_view reason,
              absl::string_view message) override;

  Stats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::kube
