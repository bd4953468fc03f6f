#include "convert/manifests.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "convert/documents.h"
#include "kube/objects/json_members.h"
#include "kube/objects/yaml_text.h"
#include "scaler/spec/own/parser.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::MemberOf;
using kube::TextOf;

// The errors of the triggers' own checks; "" if there are none.
std::string TriggerProblems(const scaler::OwnParseResult& parsed) {
  for (size_t i = 0; i < parsed.own.triggers.size(); ++i) {
    scaler::TriggerContext context;
    context.ns = parsed.autoscaler->ns;
    context.autoscaler = parsed.autoscaler->name;
    context.index = i;
    context.min_replicas = parsed.autoscaler->min_or_default();
    context.max_replicas = parsed.autoscaler->max_replicas;
    context.read_secret = [](auto&&...) { return absl::UnavailableError("nothing is asked here"); };
    const auto trigger = scaler::MakeTrigger(parsed.own.triggers[i], context);
    if (!trigger.ok()) return absl::StrCat("spec.", trigger.status().message());
  }
  return "";
}

}  // namespace

void Manifests::Remark(absl::string_view text) { remarks_.push_back(OneLine(text)); }

void Manifests::NotCarriedOver(absl::string_view field, absl::string_view why) {
  Remark(absl::StrCat("not carried over: ", field, why.empty() ? "" : ": ", why, "."));
}

void Manifests::Refuse(absl::string_view field, absl::string_view why) {
  refused_ = true;
  AddError(file_, scaler::LineOf(source_, field), absl::StrCat(field, ": ", why), conversion_);
}

void Manifests::NameUnknown(const Json& object, absl::string_view path,
                            const std::set<std::string>& known) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    if (known.contains(key) || value.is_null()) continue;
    NotCarriedOver(absl::StrCat(path, ".", key), "there is nothing like it here");
  }
}

void Manifests::Add(const Json& object) { absl::StrAppend(&yaml_, "---\n", kube::YamlOf(object)); }

void Manifests::AddAutoscaler(Json object, const std::string& mode) {
  Json own = {{"apiVersion", std::string(scaler::kOwnApiVersion)},
              {"kind", std::string(scaler::kOwnKind)}};
  own.update(object);
  if (!mode.empty()) own["spec"]["mode"] = mode;
  Add(own);
  if (refused_) return;  // the object may be incomplete, and its errors would mislead
  if (!own["metadata"].contains("namespace")) own["metadata"]["namespace"] = "default";
  const scaler::OwnParseResult parsed =
      scaler::ParseOwnAutoscaler(own.dump(), scaler::TriggerTypeNames());
  const std::string problems = parsed.ok() ? TriggerProblems(parsed) : parsed.ErrorText();
  if (problems.empty()) return;
  refused_ = true;
  AddError(file_, source_.line, problems, conversion_);
}

void Manifests::Finish(absl::string_view from) {
  if (refused_) return;
  // The comments come after the first `---`, so that they belong to the first document.
  std::string head =
      absl::StrCat("---\n# from ", OneLine(from), " (", OneLine(file_), ":", source_.line, ")\n");
  for (const std::string& remark : remarks_) absl::StrAppend(&head, "# ", remark, "\n");
  absl::StrAppend(&conversion_.yaml, head, absl::StripPrefix(yaml_, "---\n"));
}

bool IsOfDomain(absl::string_view key, absl::string_view domain) {
  const absl::string_view prefix = key.substr(0, key.find('/'));
  return prefix.size() < key.size() &&
         (prefix == domain || absl::EndsWith(prefix, absl::StrCat(".", domain)));
}

Json MetadataOf(const Json& object, const std::string& name,
                const std::vector<absl::string_view>& domains) {
  const Json& metadata = MemberOf(object, "metadata");
  Json out = {{"name", name}};
  if (const std::string ns = TextOf(metadata, "namespace"); !ns.empty()) out["namespace"] = ns;
  const Json& labels = MemberOf(metadata, "labels");
  if (!labels.is_object()) return out;
  for (const auto& [key, value] : labels.items()) {
    bool others = false;
    for (const absl::string_view domain : domains) others |= IsOfDomain(key, domain);
    if (!others) out["labels"][key] = value;
  }
  return out;
}

Json FrontService(Json metadata, const std::string& name, bool h2c) {
  Json port = {{"name", name}, {"port", 80}};
  if (h2c) port["appProtocol"] = "kubernetes.io/h2c";
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", std::move(metadata)},
          {"spec", {{"type", "ClusterIP"}, {"ports", Json::array({std::move(port)})}}}};
}

}  // namespace flyball::convert
