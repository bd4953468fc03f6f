// SHA-256: of bodies for ETags and the hash= of OpenAPI, of questions for the caches that answers
// to them are kept in, so that a long question takes no more room than a short one.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

std::string Sha256(absl::string_view bytes);     // 32 bytes
std::string Sha256Hex(absl::string_view bytes);  // upper case

}  // namespace flyball::apiservice
