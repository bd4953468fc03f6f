// The YAML side of document.h. It has a file of its own because only that file includes yaml-cpp.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

inline constexpr int kMaxDocumentDepth = 100;

absl::StatusOr<std::vector<Node>> ParseYamlDocuments(absl::string_view text,
                                                     const ParseLimits& limits);

}  // namespace flyball::scaler
