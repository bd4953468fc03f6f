// The compact result of one query about objects, which is kept while the query is repeated.
//
// Plain values; immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace flyball::adapter {

struct ResourceReadings {
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

  struct Reading {
    int64_t milli = 0;       // kUnknown: no number that could be shown
    uint32_t container = 0;  // of `containers`
  };

  // The readings of an object, in the order of the answer.
  absl::Span<const Reading> Of(size_t object) const {
    return absl::MakeConstSpan(readings).subspan(begins[object],
                                                 begins[object + 1] - begins[object]);
  }
  // The time of Of(object)[i]; `times` is not empty.
  absl::Time TimeOf(size_t object, size_t i) const { return times[begins[object] + i]; }

  std::vector<Reading> readings;  // by object
  std::vector<uint32_t> begins;   // where each object's readings begin; the last entry is the end
  // The time of each entry of `readings`; empty: all have the same time, which is kept elsewhere.
  std::vector<absl::Time> times;
  std::vector<std::string> containers;
};

}  // namespace flyball::adapter
