// The order in which the states of one object were stored, by metadata.resourceVersion.
//
// Pure.
#pragma once

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

// Versions grow. For versions that are no numbers the order is not known: false.
inline bool IsOlder(absl::string_view version, absl::string_view than) {
  uint64_t a = 0, b = 0;
  return absl::SimpleAtoi(version, &a) && absl::SimpleAtoi(than, &b) && a < b;
}

}  // namespace flyball::kube
