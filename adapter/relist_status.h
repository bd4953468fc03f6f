// The state of each rule's discovery, for /metrics, the log and /debug/rules.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "adapter/rule_failure.h"

namespace flyball::adapter {

struct RuleStatus {
  std::string list;   // "rules" or "externalRules"
  int index = 0;      // in its list, from 0
  std::string where;  // "config.yaml:12"
  std::string series_query;
  std::string source;  // the source that the rule wants: "live" or "prometheus"; "": any
  size_t series = 0;   // distinct series that the rule accepts, of the last success
  std::optional<absl::Time> last_success;
  absl::Duration duration;  // of the last attempt
  int failures = 0;         // in a row, 0 after a success
  std::string error;        // of the last attempt; "" after a success or before the first

  // The last answered query for one of its metrics.
  struct Answered {
    absl::Time at;
    std::string by;  // "live" or "prometheus"; "": unknown
    std::string promql;
    size_t values = 0;
    absl::Duration took;
  };
  std::optional<Answered> last_answer;

  // Only if they are asked for (`with_metrics`).
  std::vector<std::string> metrics;         // what it offers: "pods/requests_per_second"
  std::optional<RuleFailure> last_failure;  // of a query for one of them
};

}  // namespace flyball::adapter
