// All objects of one resource, listed once.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::doctor {

kube::ResourceInfo ResourceNamed(absl::string_view group, absl::string_view version,
                                 absl::string_view resource, absl::string_view kind);

// Each object's JSON, beginning with its apiVersion and kind. `ns` "" is all namespaces, `labels`
// "" selects all; `timeout` is for each page. Errors as kube::ListPages; also kResourceExhausted
// beyond 50,000 objects.
absl::StatusOr<std::vector<std::string>> ListObjects(http::HttpTransport& server,
                                                     const kube::ResourceInfo& resource,
                                                     absl::string_view ns, absl::string_view labels,
                                                     absl::Duration timeout);

}  // namespace flyball::doctor
