#include "rules/last_answer.h"

#include <algorithm>

namespace flyball::rules {

void LastAnswer::Note(absl::string_view promql, SourceChoice source, size_t values,
                      absl::Duration took, MonotonicTime sent) {
  const int64_t noted = absl::ToInt64Nanoseconds(sent);
  if (noted <= noted_.load(std::memory_order_relaxed)) return;
  absl::MutexLock lock(&mutex_);
  if (noted <= noted_.load(std::memory_order_relaxed)) return;
  noted_.store(noted, std::memory_order_relaxed);
  last_.promql.assign(promql.data(), std::min(promql.size(), kMaxPromql));
  last_.source = source;
  last_.values = values;
  last_.took = took;
  last_.sent = sent;
}

std::optional<AnsweredQuery> LastAnswer::Get() const {
  if (noted_.load(std::memory_order_relaxed) == kNever) return std::nullopt;
  absl::MutexLock lock(&mutex_);
  return last_;
}

}  // namespace flyball::rules
