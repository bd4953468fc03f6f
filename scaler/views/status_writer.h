// Writes statuses in the background, within the budget of requests: urgent ones first, and of each
// autoscaler only the newest.
//
// Thread-safe. Its threads write; none of them waits for the clock: a status that is not due yet is
// let go by a call of Release. When a status was not written (because of a conflict or an error, or
// because the autoscaler is no longer ours) Outbox::TakeFailed says so, and the next decision
// offers it again.
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
  // The place of one autoscaler's statuses in this writer, kept by whoever offers them.
  class Outbox {
   public:
    // Whether the last status offered was not written; asking resets it.
    bool TakeFailed() { return failed_.exchange(false); }

   private:
    friend class StatusWriter;
    std::atomic<bool> failed_ = false;
    std::optional<StatusJob> job_;              // under the writer's lock, as all that follows
    MonotonicTime due_ = absl::ZeroDuration();  // when the job may be written
    bool waiting_ = false;                      // it is not due yet
    bool queued_ = false;
    bool writing_ = false;
    bool urgent_ = false;
    std::string written_version_;  // resourceVersion that our last write gave the object
  };
  using OutboxPtr = std::shared_ptr<Outbox>;
  using OnFailure = std::function<void(const StatusJob&, const absl::Status&)>;

  struct Deps {
    kube::ApiClient& client;
    kube::RequestBudget& budget;
    Clock& clock;
    const Ownership& ownership;
  };

  // `on_failure` is called of each error that is no conflict, from a writer's thread.
  StatusWriter(const Deps& deps, int threads, OnFailure on_failure);
  ~StatusWriter();  // drops what was not written yet
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  // Offers a status that may be written from `due` on. It takes the place of an earlier offer to
  // the same outbox that was not written yet, and is due no later than that one was. `urgent`: it
  // is written before those that are not.
  void Offer(const OutboxPtr& outbox, StatusJob job, bool urgent, MonotonicTime due);
  // Writes one status that is due, on the calling thread. False: there is none.
  bool WriteNext();
  // Lets those be written that are due by `now`, and returns when the next one is; infinite: none
  // waits.
  MonotonicTime Release(MonotonicTime now);
  // Lets all be written, and returns when they are, or after `at_most`.
  void Flush(absl::Duration at_most);

  // Whether `managed` is older than our last write of its status, which is done or under way: then
  // the watch is a little behind, and the status in `managed` is not what is stored.
  bool WroteAfter(const OutboxPtr& outbox, const Managed& managed) const;

  // Whether all that was offered is written.
  bool IsSettled(const Outbox& outbox) const;

  uint64_t written() const { return written_.load(); }
  uint64_t conflicts() const { return conflicts_.load(); }
  size_t queued() const;  // without those that wait for their time

 private:
  void Work();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !urgent_.empty() || !routine_.empty();
  }
  OutboxPtr Pop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Place(const OutboxPtr& outbox, MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Push(const OutboxPtr& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(const StatusJob& job, std::string& version);

  const Deps deps_;
  const OnFailure on_failure_;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
  mutable absl::Mutex mutex_;
  std::set<std::pair<MonotonicTime, OutboxPtr>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::deque<OutboxPtr> urgent_ ABSL_GUARDED_BY(mutex_);
  std::deque<OutboxPtr> routine_ ABSL_GUARDED_BY(mutex_);
  int writing_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace flyball::scaler
