// A time some milliseconds before another one, but not before the least int64.
#pragma once

#include <cstdint>
#include <limits>

namespace flyball::live {

// `span_ms` is not negative.
inline int64_t Earlier(int64_t time_ms, int64_t span_ms) {
  int64_t earlier;
  return __builtin_sub_overflow(time_ms, span_ms, &earlier) ? std::numeric_limits<int64_t>::min()
                                                            : earlier;
}

}  // namespace flyball::live
