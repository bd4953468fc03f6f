// Probes the readiness of pods: by a connection, or a GET that is answered 2xx or 3xx.
//
// Thread-safe. One thread waits in poll(2) for all probes under way, which is enough for 256 of
// them. The caller limits how many there are at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "serve/front/carried_pod.h"

namespace flyball::serve {

class Prober {
 public:
  static constexpr absl::Duration kTimeout = absl::Milliseconds(300);

  // The seconds of `clock`, which outlives it, must be those of poll(2).
  explicit Prober(Clock& clock);
  ~Prober();  // stops
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // kResourceExhausted: no thread can be made; kUnavailable: no event descriptor.
  absl::Status Start();
  // Probes under way end as failed.
  void Stop();

  using Done = std::function<void(front::ProbeResult)>;

  // Asks once. `address` is "10.0.0.7:8080" or "[fd00::7]:8080". `done` is called from the thread,
  // with kSilent if there is no answer within the timeout; if the thread is not running, it is
  // called at once.
  void Ask(const std::string& address, const ReadinessCheck& check, Done done);

 private:
  struct Probe;

  void Run();
  bool TakeNew(std::vector<std::unique_ptr<Probe>>& probes);
  void Sleep(const std::vector<std::unique_ptr<Probe>>& probes);

  Clock& clock_;
  int wake_fd_ = -1;
  absl::Mutex mutex_;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Probe>> new_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace flyball::serve
