// Tells whether an answer of /api/v1/query is an earlier one at another time, from 24 bytes that
// are kept of the earlier one.
//
// Pure; safe on any thread. A digest is a GMAC under a key that this process draws and shows
// nobody: that two different answers of n bytes have the same one is as likely as n / 16 in 2^128,
// whoever chooses them.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/metric_source.h"

namespace flyball::adapter::prometheus {

struct MarkedAnswer {
  AnswerMark mark;
  absl::Time time;    // that stands at each point
  size_t points = 0;  // `"value":[time,...`
};

// Leaves the time out of each point. nullopt: there is no point, one has another time than the
// first, or that is none. Whether the points are the samples is known once the answer was read: it
// is where there are as many.
std::optional<MarkedAnswer> MarkAnswer(absl::string_view body);

}  // namespace flyball::adapter::prometheus
