#include "apiservice/wire/yaml.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

#include "kube/objects/yaml_text.h"

namespace flyball::apiservice::wire {
namespace {

using Json = nlohmann::json;  // its objects are sorted by key

void EmitString(const std::string& text, YAML::Emitter& out) {
  if (!kube::IsPlainYaml(text)) out << YAML::DoubleQuoted;
  out << text;
}

void Emit(const Json& value, YAML::Emitter& out) {
  if (value.is_object()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, member] : value.items()) {
      out << YAML::Key;
      EmitString(key, out);
      out << YAML::Value;
      Emit(member, out);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& item : value) Emit(item, out);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    EmitString(value.get_ref<const std::string&>(), out);
  } else if (value.is_null()) {
    out << YAML::Null;
  } else if (value.is_boolean()) {
    out << value.get<bool>();
  } else {
    out << value.dump();  // a number reads the same in both
  }
}

}  // namespace

std::string YamlFromJson(absl::string_view json) {
  const Json value = Json::parse(json.begin(), json.end(), nullptr, false);
  if (value.is_discarded()) return "";
  YAML::Emitter out;
  Emit(value, out);
  return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace flyball::apiservice::wire
