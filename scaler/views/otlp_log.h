// Sends the decisions that differ from their predecessor to a receiver of OpenTelemetry logs:
// --decision-log-otlp.
//
// Thread-safe; Start and Stop are called at most once each. Lines are made by the thread that
// decides and wait in memory for a thread that sends them. Lines that the receiver cannot take now
// (it is not reachable, or answers 429 or 5xx) wait for the next try, a second later and then up to
// kLongestPause; those that it refuses are dropped, and further ones wait as long. Why it does not
// take them is logged once.
//
// Limits: kMaxWaiting lines wait; further ones are dropped and counted. kMaxSent lines a request.
// 8 bytes and the key for each autoscaler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/repeating_thread.h"
#include "http/client/transport.h"
#include "scaler/views/decision_record.h"
#include "scaler/views/otlp_record.h"

namespace flyball::scaler {

class OtlpLog : public DecisionObserver {
 public:
  static constexpr size_t kMaxWaiting = 4096;
  static constexpr size_t kMaxSent = 512;

  // Sends to the path `target` of that server.
  OtlpLog(std::unique_ptr<http::HttpTransport> server, std::string target, Clock& clock);

  void Start();
  // Sends the lines that wait, but takes no longer than about a second, and ends the thread.
  void Stop();

  void OnDecision(const DecisionRecord& record) override;
  void OnForgotten(const AutoscalerKey& key) override;

  // Sends the lines that wait; false: some of them wait for the next try.
  bool Flush();
  // The same; returns after which time to do it again.
  absl::Duration SendAll();

  uint64_t sent() const { return sent_; }
  uint64_t dropped() const { return dropped_; }

 private:
  enum class Outcome { kTaken, kRefused, kNotNow };

  Outcome Send(const std::vector<TimedLine>& lines);
  void Tell(std::string failure);

  const std::unique_ptr<http::HttpTransport> server_;
  const std::string target_;
  Clock& clock_;
  absl::Mutex mutex_;
  absl::flat_hash_map<AutoscalerKey, uint64_t> last_ ABSL_GUARDED_BY(mutex_);  // DecisionNews
  std::deque<TimedLine> waiting_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> sent_ = 0, dropped_ = 0;
  absl::Duration pause_;    // this and the next two: of the sending thread
  std::string failure_;     // of the last request; "" if the receiver took the lines
  bool tried_ = false;      // something was sent since the last pause
  RepeatingThread thread_;  // last, since it uses the members above
};

}  // namespace flyball::scaler
