// The last query of a rule that was answered, for /debug/rules.
//
// Thread-safe. An answer that many callers get is recorded by the first of them; for the others,
// and for an answer to an earlier query, recording costs an atomic load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "rules/source_choice.h"

namespace flyball::rules {

struct AnsweredQuery {
  std::string promql;                        // its first kMaxPromql bytes
  SourceChoice source = SourceChoice::kAny;  // the source that answered; kAny: unknown
  size_t values = 0;                         // samples of the answer
  absl::Duration took;                       // from the question to the answer
  MonotonicTime sent = absl::ZeroDuration();
};

class LastAnswer {
 public:
  // A selector may be a megabyte long, and each rule keeps one query.
  static constexpr size_t kMaxPromql = 2048;

  void Note(absl::string_view promql, SourceChoice source, size_t values, absl::Duration took,
            MonotonicTime sent) ABSL_LOCKS_EXCLUDED(mutex_);
  // nullopt: none has been answered.
  std::optional<AnsweredQuery> Get() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

  std::atomic<int64_t> noted_ = kNever;  // when it was sent, in nanoseconds
  mutable absl::Mutex mutex_;
  AnsweredQuery last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::rules
