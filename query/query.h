// `flyball query`: one PromQL query over the samples of a file, as a table or as Prometheus's HTTP
// API would answer it.
//
// Pure: the caller reads the file. The query runs on the caller's thread.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "promql/dialect.h"

namespace flyball::query {

// Times and durations as the API takes them: `1700000000.5` or RFC 3339, `15` or `5m`.
struct QueryOptions {
  std::string expr = {};
  std::optional<std::string> time = {};  // absent: that of the newest sample
  // All three for a range query, none for one moment.
  std::optional<std::string> start = {}, end = {}, step = {};
  std::string lookback = "5m";
  promql::Dialect dialect = promql::Dialect::k3;
  bool json = false;
};

// The output: a line for each value, or the `data` of the API.
//   kInvalidArgument     the samples, the times or the query are wrong ("bad_data" in the API)
//   kFailedPrecondition  the query fails on these samples ("execution")
//   kResourceExhausted   it reads too many samples ("execution")
absl::StatusOr<std::string> AnswerQuery(absl::string_view samples, const QueryOptions& options);

}  // namespace flyball::query
