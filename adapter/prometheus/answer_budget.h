// Bounds the bytes of the answers that are being read and parsed at the same time, so that many
// callers with long answers do not fill the memory: answers for which there is no room wait, and so
// do the servers that send them.
//
// Thread-safe. It outlives its shares. Any answer gets through: one share at a time is the long
// one, whose further bytes are not counted. It is the first that grows beyond half of the limit, or
// for which there is no room. The others use the room that is left. So the memory is bounded by the
// limit, the longest answer, and the uncounted bytes of each share.
#pragma once

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball::adapter::prometheus {

class AnswerBudget {
 public:
  // A share of no more bytes than this is not counted and never waits.
  static constexpr size_t kFreeBytes = 16 << 10;

  AnswerBudget(size_t limit, Clock& clock) : limit_(limit), clock_(clock) {}

  AnswerBudget(const AnswerBudget&) = delete;
  AnswerBudget& operator=(const AnswerBudget&) = delete;

  // The bytes of one answer, given back on destruction. Used by one thread.
  class Share {
   public:
    Share(AnswerBudget& budget, MonotonicTime deadline) : budget_(budget), deadline_(deadline) {}
    ~Share();

    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Waits for room. False: there was none before the deadline.
    bool GrowTo(size_t bytes);

   private:
    AnswerBudget& budget_;
    const MonotonicTime deadline_;
    size_t taken_ = 0;
    bool is_long_ = false;
  };

 private:
  const size_t limit_;
  Clock& clock_;
  absl::Mutex mutex_;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool long_ ABSL_GUARDED_BY(mutex_) = false;  // there is a long one
};

}  // namespace flyball::adapter::prometheus
