// Amounts by the names of resources, as requests and usages of documents say them.
//
// Pure.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/math/pods.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

// A map of resource names to quantities; empty when absent.
//   kInvalidArgument  "PATH[cpu]: …"
absl::StatusOr<ResourceList> ReadResources(const std::optional<Node>& map, absl::string_view path);

}  // namespace flyball::scaler
