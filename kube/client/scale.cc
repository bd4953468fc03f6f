#include "kube/client/scale.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/json_fields.h"
#include "kube/objects/label_selector.h"
#include "nlohmann/json.hpp"
#include "simdjson.h"

namespace flyball::kube {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr char kAutoscaling[] = "autoscaling/v1";

// What a Scale and the workloads have in common.
struct ScaleDocument {
  std::string api_version, kind;
  Scale scale;
  std::optional<Labels> labels;  // the selector of a ReplicationController or of an older Scale
  std::optional<LabelSelector> selector;
};

simdjson::error_code ReadMetadata(ondemand::value value, Scale* scale) {
  return ForEachField(value, [scale](std::string_view key, ondemand::value inner) {
    if (key == "name") return ReadText(inner, &scale->name);
    if (key == "namespace") return ReadText(inner, &scale->ns);
    if (key == "uid") return ReadText(inner, &scale->uid);
    if (key == "resourceVersion") return ReadText(inner, &scale->resource_version);
    if (key == "generation") return inner.get_int64().get(scale->generation);
    return simdjson::SUCCESS;
  });
}

simdjson::error_code ReadExpression(ondemand::value value, LabelSelector* selector) {
  LabelSelector::Expression& expression = selector->match_expressions.emplace_back();
  return ForEachField(value, [&expression](std::string_view key, ondemand::value inner) {
    if (key == "key") return ReadText(inner, &expression.key);
    if (key == "operator") return ReadText(inner, &expression.op);
    if (key != "values") return simdjson::SUCCESS;
    return ForEachItem(inner, [&expression](ondemand::value text) {
      return ReadText(text, &expression.values.emplace_back());
    });
  });
}

simdjson::error_code ReadSelector(ondemand::value value, LabelSelector* selector) {
  return ForEachField(value, [selector](std::string_view key, ondemand::value inner) {
    if (key == "matchLabels") return ReadTextMap(inner, &selector->match_labels);
    if (key != "matchExpressions") return simdjson::SUCCESS;
    return ForEachItem(inner,
                       [selector](ondemand::value one) { return ReadExpression(one, selector); });
  });
}

// The fields of the document's kind, which is known before. Of a Scale the selector stands in the
// status, as text; before autoscaling/v1 the text has another name, and stands beside a map.
simdjson::error_code ReadFields(ondemand::value root, ScaleDocument* document) {
  Scale& scale = document->scale;
  const bool is_scale = document->kind == "Scale";
  const char* const text = document->api_version == kAutoscaling ? "selector" : "targetSelector";
  return ForEachRootField(root, [&](std::string_view part, ondemand::value value) {
    if (part == "metadata") return ReadMetadata(value, &scale);
    if (part != "spec" && part != "status") return simdjson::SUCCESS;
    const bool spec = part == "spec";
    return ForEachField(value, [&](std::string_view key, ondemand::value inner) {
      if (key == "replicas") {
        return ReadInt32(inner, spec ? &scale.spec_replicas : &scale.status_replicas);
      }
      if (spec == is_scale) return simdjson::SUCCESS;
      if (is_scale && key == text) return ReadText(inner, &scale.selector);
      if (key != "selector") return simdjson::SUCCESS;
      if (is_scale || document->kind == "ReplicationController") {
        return ReadTextMap(inner, &document->labels.emplace());
      }
      return ReadSelector(inner, &document->selector.emplace());
    });
  });
}

absl::Status Bad(absl::string_view what, simdjson::error_code error) {
  return absl::InvalidArgumentError(
      absl::StrCat("the answer is no ", what, ": ", simdjson::error_message(error)));
}

// Reads a document of one of the kinds that `knows(api_version, kind)`.
template <typename F>
absl::StatusOr<ScaleDocument> Read(absl::string_view json, absl::string_view what, int32_t replicas,
                                   F knows) {
  const simdjson::padded_string text(json.data(), json.size());
  ondemand::parser parser;
  ondemand::document parsed;
  ondemand::value root;
  ScaleDocument document;
  auto error = parser.iterate(text).get(parsed);
  if (!error) error = parsed.get_value().get(root);
  if (!error) {
    error = ForEachRootField(root, [&](std::string_view key, ondemand::value value) {
      if (key == "apiVersion") return ReadText(value, &document.api_version);
      if (key == "kind") return ReadText(value, &document.kind);
      return simdjson::SUCCESS;
    });
  }
  if (error) return Bad(what, error);
  if (!knows(document.api_version, document.kind)) {
    return absl::InvalidArgumentError(absl::StrCat("the answer is no ", what, " but \"",
                                                   document.kind, "\" of \"", document.api_version,
                                                   "\""));
  }
  document.scale.spec_replicas = replicas;
  parsed.rewind();
  error = parsed.get_value().get(root);
  if (!error) error = ReadFields(root, &document);
  if (error) return Bad(what, error);
  if (document.scale.name.empty()) return Bad(what, simdjson::NO_SUCH_FIELD);
  return document;
}

// client-go converts each Scale, of whatever version, by way of a LabelSelector.
absl::StatusOr<std::string> ConvertedSelector(const ScaleDocument& document) {
  const auto refusal = [](absl::string_view what, const absl::Status& why) {
    return absl::InvalidArgumentError(absl::StrCat(
        "received an object from a /scale endpoint which was not convertible to autoscaling ",
        "Scale: ", what, ": ", why.message()));
  };
  // The version of the cluster's controllers is not known here; these take what those of 1.34 take.
  constexpr LabelRules kRules = LabelRules::k1_35;
  LabelSelector selector;
  if (!document.scale.selector.empty()) {
    absl::StatusOr<LabelSelector> parsed = LabelSelector::Parse(document.scale.selector, kRules);
    if (!parsed.ok()) return refusal("failed to parse target selector", parsed.status());
    selector = *std::move(parsed);
  } else if (document.labels.has_value()) {
    selector.match_labels = *document.labels;
  }
  const absl::StatusOr<Selector> converted = selector.ToSelector(kRules);
  if (!converted.ok()) return refusal("invalid label selector", converted.status());
  return converted->ToString();
}

std::string ScalePath(const ResourceInfo& target, absl::string_view ns, absl::string_view name) {
  return ObjectPath(target.name.group, target.version, target.namespaced ? ns : "",
                    target.name.resource, name, "scale");
}

}  // namespace

absl::StatusOr<Scale> ParseScale(absl::string_view json) {
  ASSIGN_OR_RETURN(ScaleDocument document,
                   Read(json, "Scale", 0, [](absl::string_view version, absl::string_view kind) {
                     return kind == "Scale" &&
                            (version == kAutoscaling || version == "extensions/v1beta1" ||
                             version == "apps/v1beta1" || version == "apps/v1beta2");
                   }));
  ASSIGN_OR_RETURN(std::string selector, ConvertedSelector(document));
  Scale scale = std::move(document.scale);
  scale.api_version = std::move(document.api_version);
  scale.selector = std::move(selector);
  return scale;
}

absl::StatusOr<Scale> ScaleOfWorkload(absl::string_view object_json) {
  // Without spec.replicas it is one, as the API server's defaults say.
  ASSIGN_OR_RETURN(
      ScaleDocument document,
      Read(object_json, "workload", 1, [](absl::string_view version, absl::string_view kind) {
        if (version == "v1") return kind == "ReplicationController";
        return version == "apps/v1" &&
               (kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet");
      }));
  Scale scale = std::move(document.scale);
  if (document.labels.has_value()) {
    std::vector<Requirement> requirements;
    for (const auto& [key, value] : *document.labels) {
      requirements.push_back({.key = key, .op = Operator::kEquals, .values = {value}});
    }
    scale.selector = Selector(std::move(requirements)).ToString();
  } else if (document.selector.has_value()) {
    ASSIGN_OR_RETURN(Selector selector, document.selector->ToSelector());
    // A value that is given twice stands twice in the API server's text, where client-go reads it
    // once.
    if (!document.selector->match_expressions.empty()) {
      ASSIGN_OR_RETURN(selector, Selector::Parse(selector.ToString()));
    }
    scale.selector = selector.ToString();
  }
  return scale;
}

absl::StatusOr<Scale> GetScale(ApiClient& client, const ResourceInfo& target, absl::string_view ns,
                               absl::string_view name) {
  const absl::StatusOr<std::string> json = client.Get(ScalePath(target, ns, name));
  // An API server checks the permission before it checks whether the resource exists. This is the
  // answer that a user with the permission gets.
  if (absl::IsPermissionDenied(json.status()) && !target.scalable) {
    return absl::NotFoundError("the server could not find the requested resource");
  }
  RETURN_IF_ERROR(json.status());
  return ParseScale(*json);
}

absl::StatusOr<Scale> UpdateScale(ApiClient& client, const ResourceInfo& target, const Scale& read,
                                  int32_t replicas, ApiClient::MayTryAgain may_try_again) {
  nlohmann::ordered_json metadata = {{"name", read.name}};
  if (!read.ns.empty()) metadata["namespace"] = read.ns;
  if (!read.uid.empty()) metadata["uid"] = read.uid;
  metadata["resourceVersion"] = read.resource_version;
  const nlohmann::ordered_json scale = {{"kind", "Scale"},
                                        {"apiVersion", read.api_version},
                                        {"metadata", metadata},
                                        {"spec", {{"replicas", replicas}}}};
  const std::string text =
      scale.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  ASSIGN_OR_RETURN(const std::string stored,
                   client.Update(ScalePath(target, read.ns, read.name), text, may_try_again));
  absl::StatusOr<Scale> read_back = ParseScale(stored);
  if (!read_back.ok()) return absl::InternalError(read_back.status().message());
  return read_back;
}

}  // namespace flyball::kube
