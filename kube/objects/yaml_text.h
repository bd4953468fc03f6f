// JSON as YAML: two spaces deeper at each level, texts in quotes where YAML 1.1 would read
// something else.
//
// Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace flyball::kube {

// With a line's end. `Json` is nlohmann::json, whose keys are sorted, or nlohmann::ordered_json,
// whose keys stay in their order.
template <typename Json>
std::string YamlOf(const Json& json);

}  // namespace flyball::kube
