// An API server's error answer as a Status.
//
// Pure.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

// The code of HttpStatusCode(http_status); the text is `what`: the message of the Status object in
// `body`, or the start of the body, or the number.
absl::Status ApiError(absl::string_view what, int http_status, absl::string_view body);

}  // namespace flyball::kube
