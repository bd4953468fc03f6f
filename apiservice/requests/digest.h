// SHA-256, which is used for two things: bodies have it as their ETag and as the hash= of OpenAPI,
// and caches of answers have it for a key, so that a long question takes no more room than a short
// one.
//
// Pure, thread-safe.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

std::string Sha256(absl::string_view bytes);     // 32 bytes
std::string Sha256Hex(absl::string_view bytes);  // upper case

}  // namespace flyball::apiservice
