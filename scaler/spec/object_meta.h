// What every object of the API begins with: its kind and its metadata, as far as they are kept or
// validated.
//
// Plain values; pure. Source: apimachinery v0.34.4 and v0.37.1 meta/v1 and pkg/api/validation, from
// which the messages and field paths come.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/label_syntax.h"
#include "scaler/spec/decode.h"
#include "scaler/spec/field_error.h"

namespace flyball::scaler {

struct TypeMeta {
  std::string kind;
  std::string api_version;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
};

struct ManagedFields {
  std::string manager;
  std::string operation;
  std::string fields_type;
  std::string subresource;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;
  std::vector<ManagedFields> managed_fields;
};

inline constexpr auto kTypeMetaFields = [](auto& field, TypeMeta& to) {
  field("kind", to.kind);
  field("apiVersion", to.api_version);
};

inline constexpr auto kOwnerReferenceFields = [](auto& field, OwnerReference& to) {
  field("apiVersion", to.api_version);
  field("kind", to.kind);
  field("name", to.name);
  field("uid", to.uid);
  field.OrElse("controller", to.controller, false);
  field.template Check<bool>("blockOwnerDeletion");
};

inline constexpr auto kManagedFieldsFields = [](auto& field, ManagedFields& to) {
  field("manager", to.manager);
  field("operation", to.operation);
  field.template Check<std::string>("apiVersion");
  field.template Check<std::optional<absl::Time>>("time");
  field("fieldsType", to.fields_type);
  field("subresource", to.subresource);
};

inline constexpr auto kObjectMetaFields = [](auto& field, ObjectMeta& to) {
  field("name", to.name);
  field("generateName", to.generate_name);
  field("namespace", to.ns);
  field.template Check<std::string>("selfLink");
  field("uid", to.uid);
  field("resourceVersion", to.resource_version);
  field("generation", to.generation);
  field.template Check<std::optional<absl::Time>>("creationTimestamp");
  field.template Check<std::optional<absl::Time>>("deletionTimestamp");
  field.template Check<int64_t>("deletionGracePeriodSeconds");
  field("labels", to.labels);
  field("annotations", to.annotations);
  field("ownerReferences", to.owner_references, kOwnerReferenceFields);
  field("finalizers", to.finalizers);
  field("managedFields", to.managed_fields, kManagedFieldsFields);
};

// How the API server words what is wrong with metadata.
struct MetaRules {
  kube::LabelRules labels = kube::LabelRules::k1_34;
  // Since 1.37: errors name the owner that is wrong, and tell a missing field from a wrong one.
  bool names_entries = false;
  // Those of a built-in kind have to be standard ones or fully qualified. In a custom resource any
  // may stand, since the API server looks at none of them when an object is changed.
  bool checks_finalizers = true;
};

// Validates the metadata of a namespaced object whose name must be a DNS subdomain.
void ValidateObjectMeta(const ObjectMeta& metadata, const MetaRules& rules, FieldErrors& errors);

}  // namespace flyball::scaler
