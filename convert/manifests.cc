#include "convert/manifests.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
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

// What is wrong with the triggers, by their own checks: `FIELD: why`.
void AddTriggerErrors(const scaler::OwnParseResult& parsed, std::vector<std::string>& errors) {
  for (size_t i = 0; i < parsed.own.triggers.size(); ++i) {
    scaler::TriggerContext context;
    context.ns = parsed.autoscaler->ns;
    context.autoscaler = parsed.autoscaler->name;
    context.index = i;
    context.min_replicas = parsed.autoscaler->min_or_default();
    context.max_replicas = parsed.autoscaler->max_replicas;
    context.count_pods = [](auto&&...) { return absl::UnavailableError("nothing is asked here"); };
    context.read_secret = [](auto&&...) { return absl::UnavailableError("nothing is asked here"); };
    const auto trigger = scaler::MakeTrigger(parsed.own.triggers[i], context);
    if (trigger.ok()) continue;
    const std::string field = absl::StrCat("triggers[", i, "]");
    for (const absl::string_view error : absl::StrSplit(
             absl::StripPrefix(trigger.status().message(), field), absl::StrCat("; ", field))) {
      errors.push_back(absl::StrCat("spec.", field, error));
    }
  }
}

// Everything that is wrong with an Autoscaler (CRD): `FIELD: why`.
std::vector<std::string> ErrorsOf(const Json& own) {
  const scaler::OwnParseResult parsed =
      scaler::ParseOwnAutoscaler(own.dump(), scaler::TriggerTypeNames());
  if (!parsed.decode_error.empty()) {
    // `line 1: FIELD: why`, where the line is that of the text made here.
    const absl::string_view error = parsed.decode_error;
    return {
        std::string(absl::StartsWith(error, "line ") ? error.substr(error.find(": ") + 2) : error)};
  }
  std::vector<std::string> errors;
  for (const scaler::FieldError& error : parsed.errors) errors.push_back(error.ToString());
  AddTriggerErrors(parsed, errors);
  return errors;
}

// The part of an object in which one mistake can be the cause of another: an item of a list, or a
// field with what is in it.
absl::string_view PartOf(absl::string_view field) {
  const size_t end = field.find(']');
  return end == field.npos ? field : field.substr(0, end + 1);
}

// The last name of a path; "" if it ends with an item.
absl::string_view NameOf(absl::string_view field) {
  return absl::EndsWith(field, "]") ? "" : field.substr(field.rfind('.') + 1);
}

}  // namespace

void Manifests::Remark(absl::string_view text) { remarks_.push_back(OneLine(text)); }

void Manifests::NotCarriedOver(absl::string_view field, absl::string_view why) {
  Remark(absl::StrCat("not carried over: ", field, why.empty() ? "" : ": ", why, "."));
}

void Manifests::Refuse(absl::string_view field, absl::string_view why) {
  refused_.emplace_back(field);
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

void Manifests::NameAnnotations(const Json& object, const std::set<std::string>& known) {
  const Json& annotations = MemberOf(MemberOf(object, "metadata"), "annotations");
  if (!annotations.is_object()) return;
  for (const auto& [key, value] : annotations.items()) {
    if (known.contains(key) || key == kLastApplied) continue;
    NotCarriedOver(absl::StrCat("annotation ", key));
  }
}

int64_t Manifests::NumberOr(const Json& object, absl::string_view path, const char* name,
                            int64_t otherwise) {
  const Json& value = MemberOf(object, name);
  if (value.is_null()) return otherwise;
  if (value.is_number_integer()) return value.get<int64_t>();
  Refuse(absl::StrCat(path, ".", name), "expected a whole number");
  return otherwise;
}

void Manifests::Add(const Json& object) { absl::StrAppend(&yaml_, "---\n", kube::YamlOf(object)); }

void Manifests::AddAutoscaler(Json object, const std::string& mode) {
  Json own = {{"apiVersion", std::string(scaler::kOwnApiVersion)},
              {"kind", std::string(scaler::kOwnKind)}};
  own.update(object);
  if (!mode.empty()) own["spec"]["mode"] = mode;
  Add(own);
  if (TextOf(own["metadata"], "name").empty()) Refuse("metadata.name", "must not be empty");
  if (!own["metadata"].contains("namespace")) own["metadata"]["namespace"] = "default";
  const std::vector<std::string> before = refused_;
  for (const std::string& error : ErrorsOf(own)) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(error, absl::MaxSplits(": ", 1));
    const std::optional<std::string> source = SourceOf(parts.first);
    const bool caused = absl::c_any_of(before, [&](const std::string& field) {
      return !source.has_value() || absl::StartsWith(*source, PartOf(field));
    });
    if (!caused) Refuse(source.value_or(parts.first), InWordsOfSource(parts.second));
  }
}

std::optional<std::string> Manifests::SourceOf(absl::string_view field) const {
  for (absl::string_view at = field;;) {
    if (const auto found = sources_.find(std::string(at)); found != sources_.end()) {
      // The items of a list that was made from something else have no places of their own in it.
      const absl::string_view rest = field.substr(at.size());
      return absl::StrCat(found->second, absl::StartsWith(rest, "[") ? "" : rest);
    }
    const size_t end = at.find_last_of(".[");
    if (end == at.npos) return std::nullopt;
    at = at.substr(0, end);
  }
}

std::string Manifests::InWordsOfSource(absl::string_view why) const {
  std::string words(why);
  for (const auto& [made, source] : sources_) {
    if (NameOf(made).empty() || NameOf(source).empty()) continue;
    absl::StrReplaceAll(
        {{absl::StrCat("`", NameOf(made), "`"), absl::StrCat("`", NameOf(source), "`")}}, &words);
  }
  return words;
}

void Manifests::Finish(absl::string_view from) {
  if (!refused_.empty()) return;
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
