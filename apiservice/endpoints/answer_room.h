// Bounds the memory of all long answers that are being made, since many may be asked for at once.
//
// Thread-safe. It must outlive what was taken of it.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball::apiservice {

class AnswerRoom {
 public:
  // Answers that take no more than this to make need no room.
  static constexpr size_t kShort = 64 << 10;

  AnswerRoom(size_t bytes, Clock& clock) : all_(bytes), clock_(clock) {}

  AnswerRoom(const AnswerRoom&) = delete;
  AnswerRoom& operator=(const AnswerRoom&) = delete;

  // Waits until there is room for so many bytes, or for all bytes if more are asked for. They are
  // free again once the last copy of the result is gone. nullptr: the deadline came before.
  std::shared_ptr<const void> Take(size_t bytes, MonotonicTime deadline);

 private:
  void Give(size_t bytes);

  const size_t all_;
  Clock& clock_;
  absl::Mutex mutex_;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::apiservice
