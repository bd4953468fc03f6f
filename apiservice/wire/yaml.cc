#include "apiservice/wire/yaml.h"

#include <nlohmann/json.hpp>

#include "kube/objects/yaml_text.h"

namespace flyball::apiservice::wire {

std::string YamlFromJson(absl::string_view json) {
  const auto value = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  return value.is_discarded() ? "" : kube::YamlOf(value);  // its objects are sorted by key
}

}  // namespace flyball::apiservice::wire
