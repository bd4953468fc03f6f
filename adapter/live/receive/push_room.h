// Limits the memory of pushed requests that are read at the same time, over all pages: their size
// after decompression, with what reading makes of them.
//
// Thread-safe; a share is used by one thread. Bytes are only counted. If nothing is taken, a share
// may take any number, so that a long request is read alone. A share of up to a 64th of the room is
// not counted, so that short requests are read meanwhile; the pages read only a few at once.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace flyball::live {

class PushRoom {
 public:
  static constexpr size_t kBytes = size_t{64} << 20;
  // Approximate memory for reading a request, at most, as a multiple of its length.
  static constexpr size_t kRemoteWrite = 2, kText = 4, kOtlpProtobuf = 3, kOtlpJson = 13;

  explicit PushRoom(size_t bytes = kBytes) : all_(bytes), uncounted_(bytes / 64) {}

  PushRoom(const PushRoom&) = delete;
  PushRoom& operator=(const PushRoom&) = delete;

  // The memory of one request, given back on destruction. The room outlives it.
  class Share {
   public:
    explicit Share(PushRoom& room) : room_(room) {}
    ~Share() { room_.Change(&bytes_, 0); }

    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False: others have taken the room for it, and nothing has changed.
    bool GrowTo(size_t bytes) {
      return bytes <= std::max(bytes_, room_.uncounted_) || room_.Change(&bytes_, bytes);
    }

   private:
    PushRoom& room_;
    size_t bytes_ = 0;
  };

 private:
  bool Change(size_t* share, size_t bytes) {
    absl::MutexLock lock(&mutex_);
    const size_t others = taken_ - *share;
    if (bytes > 0 && others > 0 && others + bytes > all_) return false;
    taken_ = others + bytes;
    *share = bytes;
    return true;
  }

  const size_t all_, uncounted_;
  absl::Mutex mutex_;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::live
