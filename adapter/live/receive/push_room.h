// Room for the requests with samples that are read at the same time, of all pages together: what
// they take in memory once they are uncompressed, with what reading makes of them.
//
// Thread-safe; a share is used by one thread. Bytes are only counted. Whoever finds all of it free
// may take any number, so that a long request is read alone.
#pragma once

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace flyball::live {

class PushRoom {
 public:
  static constexpr size_t kBytes = size_t{64} << 20;
  // How many times the length of a request reading it takes, at most about.
  static constexpr size_t kRemoteWrite = 2, kText = 4, kOtlpProtobuf = 3, kOtlpJson = 13;

  explicit PushRoom(size_t bytes = kBytes) : all_(bytes) {}

  PushRoom(const PushRoom&) = delete;
  PushRoom& operator=(const PushRoom&) = delete;

  // What one request has of it, until it is destroyed. The room outlives it.
  class Share {
   public:
    explicit Share(PushRoom& room) : room_(room) {}
    ~Share() { room_.Change(&bytes_, 0); }

    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False: others have the room that this would take, and nothing has changed.
    bool GrowTo(size_t bytes) { return bytes <= bytes_ || room_.Change(&bytes_, bytes); }

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

  const size_t all_;
  absl::Mutex mutex_;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::live
