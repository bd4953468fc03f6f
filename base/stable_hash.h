// A hash that is the same in each process and version, for values on which replicas have to agree
// or that are compared with an earlier run.
//
// Pure. FNV-1a of 64 bits. It has no seed, so somebody who chooses the texts can make them collide;
// tables in memory use absl's hash. The last bytes of a text change only few bits of the hash, so a
// caller that uses a part of the hash has to mix it first.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace flyball {

inline uint64_t StableHash(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace flyball
