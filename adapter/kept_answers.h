// The last good answers of external metrics, for the time in which their source fails.
//
// Of each question the answer with the greatest total of the last `window` before the failure is
// given, with its own times: a kept total never asks for fewer replicas than one of that window
// did, so that a controller whose scale-down stabilisation is no longer than the window doesn't
// shrink anything by it.
//
// The silence of a source counts from a question's last good answer, or, where there was none
// within the window, from the first failure: one failure is no long silence. Where nobody asked for
// longer than the window and kLongestPause, the next failure is the first one.
//
// Thread-safe; holds its lock for map operations only.
//
// Limits: kMaxQuestions questions, of which those that nobody asked for longest make room;
// kMaxItems series an answer, of a longer one only its time is kept; kBuckets answers of each
// question.
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
  static constexpr int kBuckets = 10;
  static constexpr absl::Duration kLongestPause = absl::Minutes(5);  // between two syncs of an HPA

  // `started`: nothing was known before.
  explicit KeptAnswers(MonotonicTime started) : started_(started) {}

  // A good answer of now. One without items only says that the source answers. `meaning`: what the
  // rule asks for it; another one is another question, since its answers may be of another unit.
  void Keep(const ExternalMetricRequest& request, absl::string_view meaning,
            const ExternalMetricList& list, absl::Duration window, MonotonicTime now);

  struct Kept {
    std::shared_ptr<const ExternalMetricList> list = {};  // nullptr: none that is young enough
    double total_milli = 0;                               // of it
    MonotonicTime silent_since;
  };
  // After a failure. `heard`: the source has answered something since the start; if not, it is
  // silent since then.
  Kept Find(const ExternalMetricRequest& request, absl::string_view meaning, absl::Duration window,
            MonotonicTime now, bool heard);

 private:
  // The greatest answer of a tenth of the window. It is given as long as any of that tenth is in
  // the window.
  struct Bucket {
    MonotonicTime begin;
    double total_milli = 0;
    std::shared_ptr<const ExternalMetricList> list;
  };
  struct History {
    MonotonicTime last_good;  // of a question that only failed: its first failure
    MonotonicTime last_asked;
    std::optional<MonotonicTime> silent_since;  // of the failures since then
    std::deque<Bucket> buckets;                 // oldest first
  };

  void MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const MonotonicTime started_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, History> histories_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::adapter
