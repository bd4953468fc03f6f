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

struct ListQuery {
  kube::ResourceInfo resource;
  std::string ns = {};                         // "": all namespaces
  std::string label_selector = {};             // "": all
  absl::Duration timeout = absl::Seconds(10);  // of each page
};

// Each object's JSON, beginning with its apiVersion and kind. Errors as kube::ListPages; also
// kResourceExhausted beyond 50,000 objects.
absl::StatusOr<std::vector<std::string>> ListObjects(http::HttpTransport& server,
                                                     const ListQuery& query);

}  // namespace flyball::doctor
