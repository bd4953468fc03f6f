// Helpers of all converters: they read the objects of a file and add errors with their place. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "convert/convert.h"
#include "scaler/spec/document.h"

namespace flyball::convert {

// The annotation that kubectl writes for itself.
inline constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

// Each document of the file, with a List replaced by its objects. The error is also added to the
// conversion.
absl::StatusOr<std::vector<scaler::Node>> ReadObjects(absl::string_view file,
                                                      absl::string_view text,
                                                      Conversion& conversion);

// The object without members of its spec that are null: to the API server they are absent. Items of
// lists stay.
nlohmann::ordered_json ObjectOf(const scaler::Node& node);

// NAMESPACE/NAME of an object that `object` names, in its own namespace.
std::string NamespacedName(const nlohmann::ordered_json& object, const std::string& name);

// The text in one line, so that a text from an object cannot end a comment or a message.
std::string OneLine(absl::string_view text);

// Adds `FILE:LINE: what`, or `FILE: what` if `line` is 0.
void AddError(absl::string_view file, int line, absl::string_view what, Conversion& conversion);
// Adds the error that the file has no object of the kinds.
void AddNothing(absl::string_view file, absl::string_view kinds, Conversion& conversion);
// Adds an error whose message may begin with `line N: `; else its line is `line`.
void AddDecodeError(absl::string_view file, int line, absl::string_view message,
                    Conversion& conversion);

}  // namespace flyball::convert
