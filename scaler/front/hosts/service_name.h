// Services of the front are named as `namespace/name`.
#pragma once

#include "absl/strings/string_view.h"

namespace flyball::front {

// The result is a part of `service`, not a copy.
inline absl::string_view NamespaceOf(absl::string_view service) {
  return service.substr(0, service.find('/'));
}

}  // namespace flyball::front
