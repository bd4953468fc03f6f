// SHA-256 of a body in hexadecimal: ETags and the hash= of OpenAPI.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

std::string Sha256Hex(absl::string_view bytes);  // upper case

}  // namespace flyball::apiservice
