// The group and version of a kind: "apps/v1", or "v1" of the core group.
//
// Pure. Source: k8s.io/apimachinery v0.34.4 pkg/runtime/schema ParseGroupVersion.
#pragma once

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

struct ApiVersion {
  std::string group;  // "" is core
  std::string version;

  // "" has neither. kInvalidArgument: more than one slash.
  static absl::StatusOr<ApiVersion> Parse(absl::string_view text) {
    if (std::count(text.begin(), text.end(), '/') > 1) {
      return absl::InvalidArgumentError(absl::StrCat("unexpected GroupVersion string: ", text));
    }
    const size_t slash = text.find('/');
    const bool core = slash == absl::string_view::npos;
    return ApiVersion{.group = std::string(text.substr(0, core ? 0 : slash)),
                      .version = std::string(text.substr(core ? 0 : slash + 1))};
  }
  // "" if the text cannot be read.
  static std::string GroupOf(absl::string_view text) {
    const absl::StatusOr<ApiVersion> parsed = Parse(text);
    return parsed.ok() ? parsed->group : "";
  }

  std::string ToString() const { return group.empty() ? version : group + "/" + version; }
};

}  // namespace flyball::kube
