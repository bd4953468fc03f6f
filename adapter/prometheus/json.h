// Parses answers of the Prometheus HTTP API. The only place that knows their JSON.
//
// Pure; safe on any thread.
// Source: the HTTP API v1 of Prometheus (Thanos, Mimir and VictoriaMetrics answer alike). What is
//         accepted follows prometheus-adapter 0.12.0: unknown fields and warnings are ignored, any
//         `status` but "error" is success, a native histogram counts as 0, times are cut to
//         milliseconds. A value such as `1_000`, which Go reads and no Prometheus writes, is
//         infinite here, so that its sample is left out and the others stand.
//
// Errors:
//   kInvalidArgument  `status: "error"` of type bad_data or execution: the query is refused
//   kUnavailable      `status: "error"` of type timeout, canceled, internal or unavailable, or
//                     bytes that are not such an answer: HTML, cut off, other JSON. The text says
//                     what came.
//   kUnknown          `status: "error"` of another type, such as VictoriaMetrics' "422": the
//                     HTTP code says what it is
//
// Memory: while parsing up to twice the body's size again, and what the results take. The samples
// of a query take no more than kMaxSampleBytes, beyond which the answer is too long
// (failure_notes.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapter/queries/metric_source.h"
#include "adapter/queries/past_samples.h"

namespace flyball::adapter::prometheus {

// Short labels take more than ten times their text.
inline constexpr size_t kMaxSampleBytes = 48 << 20;  // about 200,000 samples with three labels

// The answer of /api/v1/query. Samples of a vector in the answer's order; labels sorted by name.
absl::StatusOr<QueryResult> ParseQueryAnswer(std::string body);

// Does the same for a query that is a range selector: returns the samples themselves. Series with
// native histograms have no samples here. kUnavailable also for an answer that is no matrix.
absl::StatusOr<std::vector<PastSeries>> ParsePastAnswer(std::string body);

// Parses a time of an answer: seconds with a fraction, cut to milliseconds. nullopt: the text is no
// time.
std::optional<absl::Time> TimeOfText(absl::string_view text);

// The answer of /api/v1/series, reduced to distinct (name, label names). Ordered by the last
// occurrence of each, because if two series give one metric name the last one counts. `data: null`
// and an absent `data` are kUnavailable.
absl::StatusOr<std::vector<SeriesName>> ParseSeriesAnswer(std::string body);

// The version in the answer of /api/v1/status/buildinfo.
absl::StatusOr<std::string> ParseBuildInfoAnswer(std::string body);

}  // namespace flyball::adapter::prometheus
