// core/v1 Pods as documents -> the pods that the replica math knows.
//
// Pure. Only what the math needs is looked at; unknown fields are ignored as the API's clients do.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/math/pods.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

// `path` begins the messages: "pods[3]".
//   kInvalidArgument  a field that is needed has the wrong type
absl::StatusOr<Pod> ReadPod(const Node& node, absl::string_view path = "");

}  // namespace flyball::scaler
