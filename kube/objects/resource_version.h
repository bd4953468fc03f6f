// The order of the stored states of one object, by metadata.resourceVersion.
//
// Pure.
#pragma once

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

// Versions grow. If one of them is no number the order is unknown: false.
inline bool IsOlder(absl::string_view version, absl::string_view than) {
  uint64_t a = 0, b = 0;
  return absl::SimpleAtoi(version, &a) && absl::SimpleAtoi(than, &b) && a < b;
}

}  // namespace flyball::kube
