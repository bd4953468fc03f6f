// Writes statuses in the background, within the budget of requests: urgent ones first, and only the
// newest of each autoscaler. Namespaces take turns.
//
// Thread-safe. Its threads write, but do not wait for the clock: a status that is not due yet is
// queued by a later call of Release. If a status was not written (because of a conflict or an
// error, or because the autoscaler is no longer ours), Outbox::TakeFailed says so, and the next
// decision offers it again.
#pragma once

#include <atomic>
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
#include "base/turns.h"
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
  // The place of one autoscaler's statuses in this writer, kept by the caller of Offer.
  class Outbox {
   public:
    // Whether the last status offered was not written; asking resets it.
    bool TakeFailed() { return failed_.exchange(false); }

   private:
    friend class StatusWriter;
    std::atomic<bool> failed_ = false;
    std::optional<StatusJob> job_;              // this and the next are under the writer's lock
    MonotonicTime due_ = absl::ZeroDuration();  // when the job may be written
    bool waiting_ = false;                      // the job is not due yet
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

  // `on_failure` is called for each error that is not a conflict, from a writing thread. If not all
  // `threads` can be made, fewer do the work. Throws std::system_error if not even one can be made.
  // 0: nothing is written.
  StatusWriter(const Deps& deps, int threads, OnFailure on_failure);
  ~StatusWriter();  // drops what was not written yet
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  // Offers a status that may be written from `due` on. It replaces an earlier one of the same
  // outbox that was not written yet, and is due no later than that one was. Urgent statuses are
  // written before others.
  void Offer(const OutboxPtr& outbox, StatusJob job, bool urgent, MonotonicTime due);
  // Writes one status that is due, on the calling thread. False: there is none.
  bool WriteNext();
  // Queues the statuses that are due by `now`. Returns when the next one is due; infinite: none
  // waits.
  MonotonicTime Release(MonotonicTime now);
  // Queues all statuses, due or not, and returns when they are written, or after `at_most`.
  void Flush(absl::Duration at_most);

  // Whether our last write of the status, which is done or under way, is newer than `managed`. Then
  // the watch is a little behind, and the status in `managed` is not the stored one.
  bool WroteAfter(const OutboxPtr& outbox, const Managed& managed) const;

  // Whether all that was offered is written.
  bool IsSettled(const Outbox& outbox) const;

  uint64_t written() const { return written_.load(); }
  uint64_t conflicts() const { return conflicts_.load(); }
  size_t queued() const;  // without those that are not due yet

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
  Turns<OutboxPtr> urgent_ ABSL_GUARDED_BY(mutex_), routine_ ABSL_GUARDED_BY(mutex_);
  int writing_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace flyball::scaler
