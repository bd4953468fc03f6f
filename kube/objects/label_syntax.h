// What a label key and a label value may look like, with Kubernetes' wording of what is wrong.
//
// Pure. Source: k8s.io/apimachinery v0.34.4 pkg/util/validation.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::kube {

// Everything wrong with `key` as `[prefix/]name`; empty if it is a legal label key.
std::vector<std::string> LabelKeyProblems(absl::string_view key);

// Everything wrong with `value`; empty if it is a legal label value.
std::vector<std::string> LabelValueProblems(absl::string_view value);

// `text` in double quotes as Go's %q prints it. Code points that Go calls unprintable are known
// only below U+0100, at U+FEFF and around the line separators; others are kept as they are.
std::string GoQuoted(absl::string_view text);

}  // namespace flyball::kube
