#include "convert/convert.h"

#include <re2/re2.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "convert/documents.h"
#include "kube/objects/yaml_text.h"
#include "scaler/spec/document.h"
#include "scaler/spec/document_json.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using scaler::Member;
using scaler::Node;

// The node of the schema that the node's `$ref` names; the node itself if there is no such one.
const Json& Resolved(const Json& schema, const Json& node) {
  const auto reference = node.find("$ref");
  if (reference == node.end() || !reference->is_string()) return node;
  const std::string text = *reference;
  if (!absl::StartsWith(text, "#/")) return node;
  const Json::json_pointer pointer(text.substr(1));
  return schema.contains(pointer) ? schema[pointer] : node;
}

// The member `key` of a node of the schema, or else of the node that it refers to; nullptr if
// neither has it.
const Json* PartOf(const Json& node, const Json& referred, const char* key) {
  if (const auto own = node.find(key); own != node.end()) return &*own;
  const auto part = referred.find(key);
  return part == referred.end() ? nullptr : &*part;
}

class ValuesConverter {
 public:
  ValuesConverter(absl::string_view file, const Json& schema) : file_(file), schema_(schema) {}

  Conversion Convert(Node values) {
    LeaveOutOld(values);
    LeaveOutUnknown(values, schema_, "");
    Conversion out;
    for (const std::string& remark : remarks_) absl::StrAppend(&out.yaml, "# ", remark, "\n");
    if (remarks_.empty()) {
      out.yaml =
          "# All values are taken as they are: both charts know them, with the same meaning.\n";
    }
    out.yaml += kube::YamlOf(scaler::JsonOf<Json>(values));
    return out;
  }

 private:
  void Remark(const std::string& field, const Node& value, absl::string_view what) {
    const std::string line = value.line > 0 ? absl::StrCat(":", value.line) : "";
    remarks_.push_back(OneLine(absl::StrCat(file_, line, ": ", field, what)));
  }

  // Removes a value; false if it is not set.
  bool LeaveOut(Node& map, const std::string& field, absl::string_view key, absl::string_view why) {
    const Node* const found = map.Find(key);
    if (found == nullptr) return false;
    Remark(field, *found, absl::StrCat(" is left out: ", why));
    std::erase_if(map.members, [&](const Member& member) { return member.key == key; });
    return true;
  }

  // Removes the values that the chart itself ignores (templates/_helpers.tpl, flyball.oldImage).
  void LeaveOutOld(Node& values) {
    static const re2::LazyRE2 kImage = {
        "(?:.*/)?(?:k8s-)?prometheus-adapter(?:-(?:amd64|arm|arm64|ppc64le|s390x))?"};
    static const re2::LazyRE2 kTag = {R"(v0\.\d+\.\d+(?:@.*)?)"};
    for (Member& member : values.members) {
      if (member.key != "image" || !member.value.is_map()) continue;
      Node& image = member.value;
      const std::string repository(image.FindText("repository"));
      const std::string tag(image.FindText("tag"));
      const bool old = re2::RE2::FullMatch(repository, *kImage);
      if (!old && !(repository.empty() && re2::RE2::FullMatch(tag, *kTag))) continue;
      if (old) LeaveOut(image, "image.repository", "repository", "it holds prometheus-adapter");
      LeaveOut(image, "image.tag", "tag", "it is a tag of prometheus-adapter");
      LeaveOut(image, "image.digest", "digest", "it is an image of prometheus-adapter");
    }
    LeaveOut(values, "psp", "psp", "Kubernetes has no PodSecurityPolicies any more");
    MoveUser(values);
  }

  // Moves runAsUser, which older charts have, to its place in this one.
  void MoveUser(Node& values) {
    const Node* const user = values.Find("runAsUser");
    if (user == nullptr) return;
    Node value = *user;
    Remark("runAsUser", value, " is securityContext.runAsUser here");
    Node context;
    context.kind = Node::Kind::kMap;
    if (const Node* const written = values.Find("securityContext"); written != nullptr) {
      for (const Member& inner : written->members) {
        if (inner.key != "runAsUser") context.members.push_back(inner);
      }
    }
    context.members.push_back({"runAsUser", std::move(value)});
    std::erase_if(values.members, [](const Member& member) {
      return member.key == "runAsUser" || member.key == "securityContext";
    });
    values.members.push_back({"securityContext", std::move(context)});
  }

  // Removes the values that the schema does not know, where it allows only known ones.
  void LeaveOutUnknown(Node& map, const Json& node, const std::string& path) {
    const Json& referred = Resolved(schema_, node);
    const Json* const properties = PartOf(node, referred, "properties");
    const Json* const others = PartOf(node, referred, "additionalProperties");
    if (!map.is_map() || properties == nullptr) return;
    const bool refuses = others != nullptr && *others == false;
    std::vector<std::string> unknown;
    for (Member& member : map.members) {
      const auto known = properties->find(member.key);
      if (known != properties->end()) {
        LeaveOutUnknown(member.value, *known, absl::StrCat(path, member.key, "."));
      } else if (refuses) {
        unknown.push_back(member.key);
      }
    }
    for (const std::string& key : unknown) {
      LeaveOut(map, absl::StrCat(path, key), key, "the chart has no such value");
    }
  }

  const absl::string_view file_;
  const Json& schema_;
  std::vector<std::string> remarks_;
};

}  // namespace

Conversion ConvertValues(absl::string_view file, absl::string_view text,
                         const std::vector<std::string>& path, absl::string_view schema_text) {
  Conversion failed;
  absl::StatusOr<std::vector<Node>> documents = ReadObjects(file, text, failed);
  if (!documents.ok()) return failed;
  if (documents->size() != 1 || !(*documents)[0].is_map()) {
    AddError(file, 0, "expected one mapping of values", failed);
    return failed;
  }
  const Node* values = &(*documents)[0];
  for (const std::string& key : path) {
    values = values->Find(key);
    if (values == nullptr || !values->is_map()) {
      AddError(file, 0,
               absl::StrCat("--path ", absl::StrJoin(path, "."),
                            ": the values have no such key with a mapping"),
               failed);
      return failed;
    }
  }
  const Json schema = Json::parse(schema_text.begin(), schema_text.end(), nullptr, false);
  return ValuesConverter(file, schema).Convert(*values);
}

}  // namespace flyball::convert
