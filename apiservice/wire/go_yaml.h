// JSON as YAML, byte for byte as the original writes it.
//
// Pure. Source: JSONToYAML of sigs.k8s.io/yaml 1.4. Its emitter is a translation of libyaml's; the
// order of keys, and which texts are quoted, are of goyaml.v2 (sorter.go, resolve.go, encode.go).
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::apiservice::wire {

// What is not JSON gives nothing.
std::string YamlOfJson(absl::string_view json);

}  // namespace flyball::apiservice::wire
