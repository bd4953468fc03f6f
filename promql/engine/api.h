// The formats of Prometheus's HTTP API: times in queries, and answers.
//
// Pure. Source: Prometheus 2.42.0 and 3.15.0 web/api/v1; the answers are equal byte for byte,
// except for blanks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "promql/engine/value.h"

namespace flyball::promql {

// Seconds since the epoch, rounded to milliseconds, or RFC 3339.
//   kInvalidArgument  another form, or beyond the range of int64 milliseconds
absl::StatusOr<int64_t> ParseApiTimeMs(absl::string_view text);
// Seconds, or `1h30m`; also 0 and negative ones.
absl::StatusOr<int64_t> ParseApiDurationMs(absl::string_view text);

// The `data` of query: {"resultType":…,"result":…}. The value was evaluated at `time_ms`. Ends soon
// after `most_bytes`: a longer result is incomplete.
std::string QueryDataJson(const Value& value, int64_t time_ms,
                          size_t most_bytes = std::string::npos);
// The `data` of query_range.
std::string QueryRangeDataJson(const std::vector<Range>& series,
                               size_t most_bytes = std::string::npos);

// {"status":"error",…} for a failure of Parse, EvalInstant or EvalRange: errorType is bad_data,
// execution, timeout or canceled, by the code.
std::string ErrorJson(const absl::Status& status);

// Appends a text with its quotes; bytes that are not UTF-8 become U+FFFD.
void AppendJsonText(absl::string_view text, std::string* out);

// The error for a parameter that cannot be read: `invalid parameter "time": …`.
absl::Status InvalidParameter(absl::string_view name, const absl::Status& status);

}  // namespace flyball::promql
