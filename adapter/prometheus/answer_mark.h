// Tells whether an answer of /api/v1/query says what an earlier one said, but for the time, from 24
// bytes that are kept of the earlier one.
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
  absl::Time time;    // that stands at each point
  size_t points = 0;  // `"value":[time,...`
};

// The mark of an answer without the time at each point. nullopt: there is no point, the first one's
// time cannot be read, or another point has another time. What looks like a point may stand in a
// part that is no sample: whoever has read the answer sees whether there are as many samples.
std::optional<MarkedAnswer> MarkAnswer(absl::string_view body);

}  // namespace flyball::adapter::prometheus
