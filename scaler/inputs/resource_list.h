// Reads members of a document that Conform (scaler/spec/shape.h) has made fit its shape, so that
// only quantities can still be wrong.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/objects/selector.h"
#include "scaler/math/pods.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

// Nodes that no document has: an object without members, and a string.
Node MapNode();
Node TextNode(absl::string_view text);

// The items of a list member; none when it is absent.
const std::vector<Node>& ItemsOf(const Node& node, absl::string_view key);
// A member that is an object; an empty one when it is absent.
const Node& ObjectOf(const Node& node, absl::string_view key);
// An RFC 3339 time; nullopt when absent.
std::optional<absl::Time> TimeOf(const Node& node, absl::string_view key);
// A map of strings.
kube::Labels LabelsOf(const Node& node, absl::string_view key);

// A map of resource names to quantities; empty when absent.
//   kInvalidArgument  "PATH.KEY[cpu]: …"
absl::StatusOr<ResourceList> ResourcesOf(const Node& node, absl::string_view key,
                                         absl::string_view path);

}  // namespace flyball::scaler
