// An observer of how queries were answered: sent, joined, reused, and by which source.
#pragma once

#include <cstddef>

#include "rules/source_choice.h"

namespace flyball::adapter {

enum class QueryOutcome { kSent, kJoined, kReused, kFailed };

// Implementations are thread-safe.
class QueryObserver {
 public:
  virtual ~QueryObserver() = default;
  virtual void OnQuery(QueryOutcome outcome) = 0;
  // Called with the source of each answer.
  virtual void OnAnswer(rules::SourceChoice source) = 0;
  // For merged queries: how many objects were put into a query, and how many were already known.
  virtual void OnObjects(size_t sent, size_t reused) = 0;
};

}  // namespace flyball::adapter
