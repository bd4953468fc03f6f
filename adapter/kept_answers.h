// The last good answers of external metrics, for the time in which their source fails.
//
// For each question the answer with the greatest total within the last `window` before the failure
// is given, with its own times; nothing is given if that one was too large to be kept. So a kept
// total never asks for fewer replicas than any answer of that window did, and a controller whose
// scale-down stabilisation is no longer than the window does not shrink a target because of it.
//
// The silence of a source counts from a question's last good answer or, if there was none within
// the window, from the first failure: one failure is not yet a long silence. If nobody has asked
// for longer than the window and kLongestPause, the next failure counts as the first.
//
// Thread-safe; holds its lock for map operations only.
//
// Limits: kMaxQuestions questions, and kMaxBytes for all questions and answers. Beyond these,
// questions that nobody has asked for that long are removed first, and then, from the namespace
// that takes most, those that have not been answered for the longest time. kMaxItems series and
// kMaxAnswerBytes in an answer (for a larger one only time and total are kept); kBuckets answers
// for each question.
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
  static constexpr size_t kMaxBytes = 8 << 20;
  static constexpr int kBuckets = 10;
  static constexpr absl::Duration kLongestPause = absl::Minutes(5);  // between two syncs of an HPA

  // `started`: when this process started; nothing earlier is known.
  explicit KeptAnswers(MonotonicTime started) : started_(started) {}

  // Keeps a good answer, received now. One without items says only that the source answers.
  // `meaning`: the query that the rule makes for the request. With another query it counts as
  // another question, since the answers may have another unit.
  void Keep(const ExternalMetricRequest& request, absl::string_view meaning,
            const ExternalMetricList& list, absl::Duration window, MonotonicTime now);

  struct Kept {
    // nullptr: none is young enough, or the greatest was too large to be kept.
    std::shared_ptr<const ExternalMetricList> list = {};
    double total_milli = 0;  // of the greatest answer
    MonotonicTime silent_since;
  };
  // To be called after a failure. `heard`: the source has answered something since the start; if
  // not, it counts as silent since the start.
  Kept Find(const ExternalMetricRequest& request, absl::string_view meaning, absl::Duration window,
            MonotonicTime now, bool heard);

 private:
  // The greatest answer in a tenth of the window. It is given as long as any part of that tenth is
  // within the window.
  struct Bucket {
    MonotonicTime begin;
    double total_milli = 0;
    std::shared_ptr<const ExternalMetricList> list;  // nullptr: it was too large
    size_t bytes = 0;                                // size of the list
  };
  struct History {
    std::string ns;
    size_t key_bytes = 0;     // of the question
    MonotonicTime last_good;  // or the first failure, if there was no good answer
    MonotonicTime last_asked;
    absl::Duration window;
    std::optional<MonotonicTime> silent_since;  // set by failures after last_good
    std::deque<Bucket> buckets;                 // oldest first
  };

  // Of a question that is known from now on.
  History& HistoryOf(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepList(const ExternalMetricList& list, double total, absl::Duration window,
                MonotonicTime now, std::deque<Bucket>& buckets)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static size_t BytesOf(const History& history);  // size of the question and its lists
  // Whether nobody has asked for so long that the next failure counts as the first.
  static bool IsForgotten(const History& history, MonotonicTime now);
  void DropForgotten(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const MonotonicTime started_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, History> histories_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // size of all questions and lists
};

}  // namespace flyball::adapter
