// The last good answers of external metrics, for the time in which their source fails.
//
// For each question the answer with the greatest total within the last `window` before the failure
// is given, with its own times; nothing is given if that one was too large to be kept. So a kept
// total never asks for fewer replicas than any answer of that window did, and a controller whose
// scale-down stabilisation is no longer than the window shrinks nothing because of it.
//
// The silence of a source counts from a question's last good answer or, if there was none within
// the window, from the first failure: one failure is not yet a long silence. If nobody has asked
// for longer than the window and kLongestPause, the next failure counts as the first.
//
// Thread-safe; holds its lock for map operations only.
//
// Limits: kMaxQuestions questions and kMaxBytes for all answers; beyond these what nobody has asked
// for that long goes first, and then the namespace that takes most makes room, by those that were
// not answered for longest. kMaxItems series and kMaxAnswerBytes in an answer (of a larger one only
// the time and the total are kept); kBuckets answers for each question.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/provider.h"
#include "base/clock.h"

namespace flyball::adapter {

class KeptAnswers {
 public:
  static constexpr size_t kMaxQuestions = 4096;
  static constexpr size_t kMaxItems = 1000;
  static constexpr size_t kMaxAnswerBytes = 256 << 10;
  static constexpr size_t kMaxBytes = 12 << 20;
  static constexpr int kBuckets = 10;
  static constexpr absl::Duration kLongestPause = absl::Minutes(5);  // between two syncs of an HPA

  // `started`: when this process started; nothing is known from before.
  explicit KeptAnswers(MonotonicTime started) : started_(started) {}

  // Keeps a good answer of now. An answer without items says only that the source answers.
  // `meaning`: the query that the rule makes for it; with another one it is another question, since
  // the answers may have another unit.
  void Keep(const ExternalMetricRequest& request, absl::string_view meaning,
            const ExternalMetricList& list, absl::Duration window, MonotonicTime now);

  struct Kept {
    // nullptr: there is none that is young enough, or the greatest was too large to be kept.
    std::shared_ptr<const ExternalMetricList> list = {};
    double total_milli = 0;  // of the greatest
    MonotonicTime silent_since;
  };
  // After a failure. `heard`: the source has answered something since the start; if not, it is
  // silent since then.
  Kept Find(const ExternalMetricRequest& request, absl::string_view meaning, absl::Duration window,
            MonotonicTime now, bool heard);

 private:
  // The greatest answer of a tenth of the window. It is given as long as any part of that tenth is
  // within the window.
  struct Bucket {
    MonotonicTime begin;
    double total_milli = 0;
    std::shared_ptr<const ExternalMetricList> list;  // nullptr: it is too large
    size_t bytes = 0;                                // that the list takes
  };
  struct History {
    std::string ns;
    MonotonicTime last_good;  // of a question that only failed: its first failure
    MonotonicTime last_asked;
    absl::Duration window;
    std::optional<MonotonicTime> silent_since;  // set by the failures since then
    std::deque<Bucket> buckets;                 // oldest first
  };

  void KeepList(const ExternalMetricList& list, double total, absl::Duration window,
                MonotonicTime now, std::deque<Bucket>& buckets)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static size_t BytesOf(const History& history);  // that its lists take
  // Whether nobody has asked for so long that the next failure counts as the first.
  static bool IsForgotten(const History& history, MonotonicTime now);
  void DropForgotten(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const MonotonicTime started_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, History> histories_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // that all lists take
};

}  // namespace flyball::adapter
