#include "apiservice/endpoints/answer_room.h"

#include <algorithm>

#include "http/server/event_workers.h"

namespace flyball::apiservice {

std::shared_ptr<const void> AnswerRoom::Take(size_t bytes, MonotonicTime deadline) {
  if (bytes <= kShort) return {std::shared_ptr<const void>(), this};  // which holds nothing
  bytes = std::min(bytes, all_);
  const auto fits = [this, bytes]()
                        ABSL_NO_THREAD_SAFETY_ANALYSIS { return taken_ + bytes <= all_; };
  absl::MutexLock lock(&mutex_);
  if (!fits()) {
    const http::EventWorkers::Waiting waiting;
    if (!clock_.Await(mutex_, absl::Condition(&fits), deadline)) return nullptr;
  }
  taken_ += bytes;
  return std::shared_ptr<const void>(this, [this, bytes](const void*) { Give(bytes); });
}

void AnswerRoom::Give(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  taken_ -= bytes;
}

}  // namespace flyball::apiservice
