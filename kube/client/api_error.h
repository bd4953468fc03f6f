// An API server's error answer as a Status.
//
// Pure.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "http/client/transport.h"

namespace flyball::kube {

// The code of HttpStatusCode(http_status); the text is `what`: the message of the Status object in
// `body`, or the start of the body, or the number.
absl::Status ApiError(absl::string_view what, int http_status, absl::string_view body);

// An answer that is none of 2xx as client-go v0.34.4 tells it: the message of the Status object
// alone, or what apimachinery's NewGenericServerResponse makes of any other body. The code is that
// of HttpStatusCode, but kAlreadyExists for a 409 of that reason. `path` is the request's, with or
// without its query.
absl::Status AnswerError(absl::string_view method, absl::string_view path,
                         const http::HttpAnswer& answer);

}  // namespace flyball::kube
