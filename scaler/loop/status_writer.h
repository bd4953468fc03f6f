// Writes statuses in the background, within the budget: what a person cares about first, of each
// autoscaler only the newest.
//
// Thread-safe. A status that was not written (a conflict, an error, no longer ours) is reported by
// StatusSlot::failed and offered again by the next decision.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/api_client.h"
#include "kube/request_budget.h"
#include "scaler/loop/managed.h"
#include "scaler/loop/ownership.h"
#include "scaler/loop/status_json.h"

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
    std::optional<StatusJob> job_;  // under the writer's lock, as all below
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
  ~StatusWriter();  // drops what is queued
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  void Offer(const SlotPtr& slot, StatusJob job, bool urgent);

  uint64_t written() const { return written_.load(); }
  uint64_t conflicts() const { return conflicts_.load(); }
  size_t queued() const;

 private:
  void Work();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !urgent_.empty() || !routine_.empty();
  }
  SlotPtr Pop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Push(const SlotPtr& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(const StatusJob& job, std::string& version);

  const Parts parts_;
  const OnFailure on_failure_;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
  mutable absl::Mutex mutex_;
  std::deque<SlotPtr> urgent_ ABSL_GUARDED_BY(mutex_);
  std::deque<SlotPtr> routine_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace flyball::scaler
