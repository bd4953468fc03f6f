// Whether a watch has been marked, for tests.
#pragma once

#include <cstdint>

#include "adapter/live/store/watch.h"

namespace flyball::live {

// True once for all samples since the last call.
inline bool TakeMark(Watch& watch) {
  const uint64_t before = watch.number();
  return watch.Take() != before;
}

}  // namespace flyball::live
