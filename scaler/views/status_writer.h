// Writes statuses in the background, within the budget: what a person cares about first, of each
// autoscaler only the newest.
//
// Thread-safe. It has no clock-driven thread of its own: what waits for its time is let go by
// Release. A status that was not written (a conflict, an error, no longer ours) is reported by
// Slot::TakeFailed and offered again by the next decision.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/client/api_client.h"
#include "kube/client/request_budget.h"
#include "scaler/stores/managed.h"
#include "scaler/stores/ownership.h"
#include "scaler/views/status_json.h"

namespace flyball::scaler {

struct StatusJob {
  ManagedPtr managed;
  AutoscalerStatus status;
  std::optional<OwnStatus> own;
};

class StatusWriter {
 public:
  // One for each autoscaler, kept by whoever offers its statuses.
  class Slot {
   public:
    // Whether the last status offered was not written; asking resets it.
    bool TakeFailed() { return failed_.exchange(false); }

   private:
    friend class StatusWriter;
    std::atomic<bool> failed_ = false;
    std::optional<StatusJob> job_;              // under the writer's lock, as all below
    MonotonicTime due_ = absl::ZeroDuration();  // of the job
    bool waiting_ = false;                      // until then
    bool queued_ = false;
    bool writing_ = false;
    bool urgent_ = false;
    std::string written_version_;  // of the object, by our last write
  };
  using SlotPtr = std::shared_ptr<Slot>;
  using OnFailure = std::function<void(const StatusJob&, const absl::Status&)>;

  struct Parts {
    kube::ApiClient& client;
    kube::RequestBudget& budget;
    Clock& clock;
    const Ownership& ownership;
  };

  // `on_failure` is called of errors but conflicts, from a writer's thread.
  StatusWriter(const Parts& parts, int threads, OnFailure on_failure);
  ~StatusWriter();  // drops what was not written yet
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  // Not to be written before `due`, or before an earlier offer of the same slot is due that was not
  // written yet: the newest takes its place. `urgent`: before those that are not.
  void Offer(const SlotPtr& slot, StatusJob job, bool urgent, MonotonicTime due);
  // Writes one of those that may be written, on the calling thread. False: there is none.
  bool WriteNext();
  // What is due by `now` may be written.
  void Release(MonotonicTime now);
  // Releases all; returns when all is written, `at_most` later (real time) at the latest.
  void Flush(absl::Duration at_most);

  // Whether `managed` was seen before our last write of its status, which is done or under way: the
  // watch is a little behind.
  bool WroteAfter(const SlotPtr& slot, const Managed& managed) const;

  // Whether all that was offered is written.
  bool IsSettled(const Slot& slot) const;

  uint64_t written() const { return written_.load(); }
  uint64_t conflicts() const { return conflicts_.load(); }
  size_t queued() const;  // without those that wait for their time

 private:
  void Work();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !urgent_.empty() || !routine_.empty();
  }
  SlotPtr Pop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Place(const SlotPtr& slot, MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Push(const SlotPtr& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(const StatusJob& job, std::string& version);

  const Parts parts_;
  const OnFailure on_failure_;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
  mutable absl::Mutex mutex_;
  std::set<std::pair<MonotonicTime, SlotPtr>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::deque<SlotPtr> urgent_ ABSL_GUARDED_BY(mutex_);
  std::deque<SlotPtr> routine_ ABSL_GUARDED_BY(mutex_);
  int writing_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace flyball::scaler
