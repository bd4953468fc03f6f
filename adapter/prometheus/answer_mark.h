// Recognises an answer of /api/v1/query that equals an earlier one except for its time, by 24 bytes
// that are kept of the earlier one.
//
// Pure; safe on any thread.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/queries/metric_source.h"

namespace flyball::adapter::prometheus {

struct MarkedAnswer {
  AnswerMark mark;
  absl::Time time;    // the time at each point
  size_t points = 0;  // `"value":[time,...`
};

// The mark of an answer, computed without the time at each point. nullopt: there is no point, the
// first one's time cannot be read, or another point has another time. Text that looks like a point
// may be in a part that is no sample: a caller that has parsed the answer compares the number of
// points with that of the samples.
std::optional<MarkedAnswer> MarkAnswer(absl::string_view body);

}  // namespace flyball::adapter::prometheus
