// Texts of YAML: their documents, and JSON as YAML.
//
// Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace YAML {
class Node;
}

namespace flyball::kube {

// Like YAML::LoadAll, which never ends on some texts, such as a single comma: it keeps finding a
// document at the same place, until there is no memory left. Throws YAML::Exception.
std::vector<YAML::Node> LoadYamlDocuments(const std::string& text);

// JSON as YAML with a line's end: two spaces deeper at each level, texts in quotes where YAML 1.1
// would read something else. `Json` is nlohmann::json, whose keys are sorted, or
// nlohmann::ordered_json, whose keys stay in their order.
template <typename Json>
std::string YamlOf(const Json& json);

}  // namespace flyball::kube
