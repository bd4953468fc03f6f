// Services of the front are named as `namespace/name`.
#pragma once

#include "absl/strings/string_view.h"

namespace flyball::front {

// A part of `service`.
inline absl::string_view NamespaceOf(absl::string_view service) {
  return service.substr(0, service.find('/'));
}

}  // namespace flyball::front
