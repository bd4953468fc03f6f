#include "kube/objects/yaml_text.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {
namespace {

// Sees where each document begins.
class Progress : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos == began_) throw YAML::ParserException(mark, "no value begins like this");
    began_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int began_ = -1;
};

// Whether every reader takes the text as a string even without quotes: letters, digits and `-._/`,
// beginning with a letter, and not a word that YAML 1.1 takes as a bool or null.
bool IsPlain(absl::string_view text) {
  if (text.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(text[0]))) return false;
  for (const absl::string_view word :
       {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}) {
    if (absl::EqualsIgnoreCase(text, word)) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._/", c);
  });
}

void EmitText(const std::string& text, YAML::Emitter& out) {
  if (!IsPlain(text)) out << YAML::DoubleQuoted;
  out << text;
}

template <typename Json>
void Emit(const Json& value, YAML::Emitter& out) {
  if (value.is_structured() && value.empty()) out << YAML::Flow;
  if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, member] : value.items()) {
      out << YAML::Key;
      EmitText(key, out);
      out << YAML::Value;
      Emit(member, out);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    out << YAML::BeginSeq;
    for (const Json& item : value) Emit(item, out);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    EmitText(value.template get_ref<const std::string&>(), out);
  } else if (value.is_null()) {
    out << YAML::Null;
  } else {
    out << value.dump();  // a number or a boolean reads the same in both
  }
}

}  // namespace

std::vector<YAML::Node> LoadYamlDocuments(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  Progress progress;
  while (parser.HandleNextDocument(progress)) {
  }
  return YAML::LoadAll(text);
}

template <typename Json>
std::string YamlOf(const Json& json) {
  YAML::Emitter out;
  Emit(json, out);
  return std::string(out.c_str(), out.size()) + "\n";
}

template std::string YamlOf(const nlohmann::json& json);
template std::string YamlOf(const nlohmann::ordered_json& json);

}  // namespace flyball::kube
