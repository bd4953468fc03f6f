// SHA-256, which has two uses: it is the ETag of bodies and the hash= of OpenAPI, and the key in
// caches of answers, so that a long question takes no more room than a short one.
//
// Pure, thread-safe.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

std::string Sha256(absl::string_view bytes);     // 32 bytes
std::string Sha256Hex(absl::string_view bytes);  // upper case

}  // namespace flyball::apiservice
