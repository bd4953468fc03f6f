// Lists all objects of one resource, without a watch.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::doctor {

// The JSON of each object, beginning with its apiVersion and kind. `ns` "" means all namespaces,
// `labels` "" selects all; `timeout` holds for each page. Errors: those of kube::ListPages, and
// kResourceExhausted beyond 50,000 objects.
absl::StatusOr<std::vector<std::string>> ListObjects(http::HttpTransport& server,
                                                     const kube::ResourceInfo& resource,
                                                     absl::string_view ns, absl::string_view labels,
                                                     absl::Duration timeout);

}  // namespace flyball::doctor
