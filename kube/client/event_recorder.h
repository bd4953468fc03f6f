// Kubernetes events about objects, sent in the background.
//
// Thread-safe; one thread. Recording never waits: the queue is bounded, and events that do not fit
// are counted and dropped. Namespaces take turns, and none has more room than is left for all.
// Similar events are correlated as k8s.io/client-go v0.34.4 tools/record does (event_correlator.h).
// An event that the server refuses is dropped; one that does not reach it, or gets a 5xx, is tried
// again while later ones wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/turns.h"
#include "kube/client/api_client.h"
#include "kube/client/event_correlator.h"

namespace flyball::kube {

// The interface for events.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Must not wait. Only the first 4 KiB of a message are sent.
  virtual void Record(const EventSubject& about, bool warning, absl::string_view reason,
                      absl::string_view message) = 0;
};

struct EventRecorderOptions {
  size_t max_queue = 2000;  // one namespace alone has half, as much as client-go keeps
  int max_tries = 12;       // of one event
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
  // Sends queued events for at most a second, and waits for the call under way.
  ~EventRecorder() override;
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void Record(const EventSubject& about, bool warning, absl::string_view reason,
              absl::string_view message) override;

  Stats stats() const;

 private:
  // A name made of object name and time, or a random one if that is no valid name. No two names are
  // equal, even if the clock stands still.
  std::string NewName(absl::string_view object, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  bool Send(const ObjectEventRecord& event);
  absl::Status SendOnce(const ObjectEventRecord& event);
  // Waits before the next try; false: the recorder ends meanwhile.
  bool Pause(bool first);

  ApiClient& client_;
  Clock& clock_;
  const std::string component_;
  const EventRecorderOptions options_;
  EventCorrelator correlator_;  // the thread's own

  mutable absl::Mutex mutex_;
  std::random_device random_ ABSL_GUARDED_BY(mutex_);
  Turns<ObjectEventRecord> queue_ ABSL_GUARDED_BY(mutex_);  // by namespace
  Stats stats_ ABSL_GUARDED_BY(mutex_);
  int64_t last_nanos_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  MonotonicTime last_send_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace flyball::kube
