#include "http/server/room.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "http/server/event_workers.h"

namespace flyball::http {

absl::StatusOr<std::shared_ptr<const void>> Room::Take(size_t amount, MonotonicTime deadline,
                                                       size_t held,
                                                       std::shared_ptr<const void>* counted) {
  using Taken = std::shared_ptr<const void>;
  if (amount <= limits_.free) return Taken(Taken(), this);  // which holds nothing
  amount = std::min(amount, limits_.all);
  held = std::min(held, std::max<size_t>(limits_.max_waiting, 1));  // one alone may wait
  const auto fits = [this, amount]()
                        ABSL_NO_THREAD_SAFETY_ANALYSIS { return taken_ + amount <= limits_.all; };
  {
    absl::MutexLock lock(&mutex_);
    if (!fits()) {
      if (held > limits_.max_waiting - waiting_) {
        return absl::ResourceExhaustedError("too many wait");
      }
      const EventWorkers::Waiting not_serving;
      waiting_ += held;
      // Also if the wait throws, for want of memory.
      const absl::Cleanup waited = [this, held]()
                                       ABSL_NO_THREAD_SAFETY_ANALYSIS { waiting_ -= held; };
      if (counted != nullptr) counted->reset();
      if (!clock_.Await(mutex_, absl::Condition(&fits), deadline)) {
        return absl::DeadlineExceededError("there was no room in time");
      }
    }
    taken_ += amount;
  }
  // Not under the lock: if it throws, for want of memory, it gives the room back.
  Taken taken(this, [this, amount](const void*) { Give(amount); });
  if (limits_.also == nullptr) return taken;
  return Taken(std::make_shared<std::pair<Taken, Taken>>(std::move(taken), limits_.also(amount)));
}

void Room::Give(size_t amount) {
  absl::MutexLock lock(&mutex_);
  taken_ -= amount;
}

}  // namespace flyball::http
