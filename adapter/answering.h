// What the three providers share: the sources of answers, and the errors that a client sees.
//
// Thread-safe.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/queries/query_batcher.h"
#include "adapter/relist.h"
#include "adapter/rule_failures.h"
#include "adapter/value_guard.h"
#include "base/clock.h"
#include "base/log_limiter.h"
#include "kube/objects/object_directory.h"

namespace flyball::adapter {

// What every provider needs. All of it outlives the providers.
struct Answering {
  const Relister& relister;  // of the series registry
  kube::ObjectDirectory& directory;
  QueryBatcher& batcher;
  ValueGuard& values;
  Clock& clock;
  LogLimiter& complaints;  // for failures whose cause is logged and not shown to the client
  RuleFailures& failures;
};

// The error when the source failed; it says no more to the client than the original does.
// kDeadlineExceeded keeps its code; anything else is kInternal "unable to fetch metrics". The cause
// is logged.
absl::Status FetchFailure(const Answering& answering, absl::string_view metric,
                          const absl::Status& cause);
// Does the same for a rule's query: the failure is also counted, and the error has a warning note
// that names the rule.
absl::Status FetchFailure(const Answering& answering, const RuleName& name,
                          const rules::CompiledRule& rule, absl::string_view metric,
                          const absl::Status& cause);

// Times in answers have no fractions.
absl::Time WholeSeconds(absl::Time time);

}  // namespace flyball::adapter
