// An API server's error answer as a Status.
//
// Pure.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "http/client/transport.h"

namespace flyball::kube {

// The code of HttpStatusCode(http_status). The text is `what`: the message of the Status object in
// `body`, or the start of the body, or the number.
absl::Status ApiError(absl::string_view what, int http_status, absl::string_view body);

// The error for an answer other than 2xx, worded as in client-go v0.34.4: only the message of the
// Status object, or for any other body the text of apimachinery's NewGenericServerResponse. The
// code is that of HttpStatusCode, but kAlreadyExists for a 409 with that reason. `path` is the
// request's, with or without its query.
absl::Status AnswerError(absl::string_view method, absl::string_view path,
                         const http::HttpAnswer& answer);

}  // namespace flyball::kube
