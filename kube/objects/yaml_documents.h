// The documents of a YAML text.
//
// Pure.
#pragma once

#include <string>
#include <vector>

namespace YAML {
class Node;
}

namespace flyball::kube {

// Like YAML::LoadAll, which never ends on some texts, such as a single comma: it keeps finding a
// document at the same place, until there is no memory left. Throws YAML::Exception.
std::vector<YAML::Node> LoadYamlDocuments(const std::string& text);

}  // namespace flyball::kube
