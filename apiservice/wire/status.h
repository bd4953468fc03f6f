// meta/v1 Status: the body of every error.
//
// Pure. Shapes and texts are those of k8s.io/apimachinery 0.30 pkg/api/errors, so that clients and
// differential tests see what prometheus-adapter 0.12.0 answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace flyball::apiservice::wire {

struct StatusCause {
  std::string message;
  std::string reason = {};  // "" is left out
  std::string field = {};   // "" is left out
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::vector<StatusCause> causes;
};

struct Status {
  int code = 500;
  std::string reason;  // "" is left out
  std::string message;
  std::optional<StatusDetails> details;  // absent is left out; empty is `{}`
};

std::string ToJson(const Status& status);      // one line and a newline
std::string ToProtobuf(const Status& status);  // with the envelope

// ---- errors of the API server library ----
Status RouteNotFound();     // 404 "the server could not find the requested resource"
Status MethodNotAllowed();  // 405
Status WatchNotSupported(absl::string_view group, absl::string_view resource);  // 405
Status BadRequest(absl::string_view message);
Status UriTooLong(absl::string_view message);             // 414
Status RequestEntityTooLarge(absl::string_view message);  // 413 "Request entity too large: …"
Status Unauthorized();
// 403 about a resource; `text` is the sentence that names user and verb.
Status Forbidden(absl::string_view group, absl::string_view resource, absl::string_view name,
                 absl::string_view text);
Status ForbiddenPath(absl::string_view text);
// 406: no media type that Accept names is served; or one is, but not in the form asked for (`as`).
Status NoRepresentation(const std::vector<std::string>& media_types);
Status NotAcceptable(const std::vector<std::string>& media_types);
Status UnsupportedMediaType();  // 415
// 404 `pods "x" not found`.
Status ObjectNotFound(absl::string_view group, absl::string_view resource, absl::string_view name);
Status Timeout();

// Shortens the texts to what an answer may repeat, since clients send names of any length.
Status Shortened(Status status);

// Converts a provider's error by the table in adapter/provider.h.
Status FromProviderError(const absl::Status& error);

}  // namespace flyball::apiservice::wire
