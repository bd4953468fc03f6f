#include "adapter/live/api/query_gate.h"

#include "http/server/event_workers.h"

namespace flyball::live {

absl::StatusOr<std::shared_ptr<const void>> QueryGate::Enter(MonotonicTime deadline) {
  absl::MutexLock lock(&mutex_);
  if (!HasPlace()) {
    if (waiting_ == max_waiting_) {
      return absl::DeadlineExceededError("too many queries wait, query timed out in query queue");
    }
    ++waiting_;
    const http::EventWorkers::Waiting not_serving;
    const bool got = clock_.Await(mutex_, absl::Condition(this, &QueryGate::HasPlace), deadline);
    --waiting_;
    if (!got) return absl::DeadlineExceededError("query timed out in query queue");
  }
  ++taken_;
  return std::shared_ptr<const void>(this, [this](const void*) { Leave(); });
}

void QueryGate::Leave() {
  absl::MutexLock lock(&mutex_);
  --taken_;
}

}  // namespace flyball::live
