// JSON bodies as YAML, for Accept: application/yaml.
//
// Pure. As sigs.k8s.io/yaml: keys sorted, two-space indentation, strings quoted where YAML 1.1
// would read something else.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::apiservice::wire {

// `json` is one of our own bodies; anything that is not JSON gives an empty string.
std::string YamlFromJson(absl::string_view json);

}  // namespace flyball::apiservice::wire
