#include "scaler/spec/object_meta.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kube/objects/api_version.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMaxAnnotationsBytes = 256 << 10;
constexpr size_t kMaxManagerBytes = 128;
constexpr size_t kMaxSubresourceBytes = 256;

// generateName is validated as the start of a name, whose dash at the end is then not the last
// character of the name.
std::string MaskTrailingDash(absl::string_view name) {
  if (name.size() > 1 && absl::EndsWith(name, "-")) {
    return absl::StrCat(name.substr(0, name.size() - 2), "a");
  }
  return std::string(name);
}

void ValidateNames(const ObjectMeta& metadata, FieldErrors& errors) {
  if (!metadata.generate_name.empty()) {
    errors.Invalid("metadata.generateName",
                   kube::SubdomainProblems(MaskTrailingDash(metadata.generate_name)));
  }
  if (metadata.name.empty()) {
    errors.Required("metadata.name", "name or generateName is required");
  } else {
    errors.Invalid("metadata.name", kube::SubdomainProblems(metadata.name));
  }
  if (metadata.ns.empty()) {
    errors.Required("metadata.namespace", "");
  } else {
    errors.Invalid("metadata.namespace", kube::DnsLabelProblems(metadata.ns));
  }
}

// Checks the fields that an owner must have.
void ValidateOwner(const OwnerReference& owner, const std::string& path, const MetaRules& rules,
                   FieldErrors& errors) {
  // Upstream cannot read a version in "a/b/c" either.
  const auto version = kube::ApiVersion::Parse(owner.api_version);
  const bool no_version = !version.ok() || version->version.empty();
  if (rules.names_entries && owner.api_version.empty()) {
    errors.Required(path + ".apiVersion", "must not be empty");
  } else if (no_version) {
    errors.Invalid(path + ".apiVersion", rules.names_entries
                                             ? "must be <group>/<version> or <version>"
                                             : "version must not be empty");
  }
  const std::pair<const char*, const std::string*> required[] = {
      {".kind", &owner.kind}, {".name", &owner.name}, {".uid", &owner.uid}};
  for (const auto& [name, value] : required) {
    if (!value->empty()) continue;
    if (rules.names_entries) {
      errors.Required(path + name, "must not be empty");
    } else {
      errors.Invalid(path + name, "must not be empty");
    }
  }
  if (owner.api_version == "v1" && owner.kind == "Event") {
    errors.Invalid(path, "/v1, Kind=Event is disallowed from being an owner");
  }
}

void ValidateOwners(const ObjectMeta& metadata, const MetaRules& rules, FieldErrors& errors) {
  constexpr char kPath[] = "metadata.ownerReferences";
  std::string first_controller;
  for (size_t i = 0; i < metadata.owner_references.size(); ++i) {
    const OwnerReference& owner = metadata.owner_references[i];
    ValidateOwner(owner, rules.names_entries ? absl::StrCat(kPath, "[", i, "]") : kPath, rules,
                  errors);
    if (!owner.controller) continue;
    const std::string controller = absl::StrCat(owner.kind, "/", owner.name);
    if (first_controller.empty()) {
      first_controller = controller;
    } else {
      errors.Invalid(kPath,
                     absl::StrCat("Only one reference can have Controller set to true. Found "
                                  "\"true\" in references for ",
                                  first_controller, " and ", controller));
    }
  }
}

void ValidateFinalizers(const ObjectMeta& metadata, kube::LabelRules rules, FieldErrors& errors) {
  constexpr char kPath[] = "metadata.finalizers";
  bool orphan = false;
  bool foreground = false;
  for (size_t i = 0; i < metadata.finalizers.size(); ++i) {
    const std::string& finalizer = metadata.finalizers[i];
    errors.InvalidValue(kPath, finalizer, kube::LabelKeyProblems(finalizer, rules));
    const bool standard =
        finalizer == "kubernetes" || finalizer == "orphan" || finalizer == "foregroundDeletion";
    if (!standard && !absl::StrContains(finalizer, "/")) {
      errors.Invalid(absl::StrCat(kPath, "[", i, "]"),
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
    orphan |= finalizer == "orphan";
    foreground |= finalizer == "foregroundDeletion";
  }
  if (orphan && foreground) {
    errors.Invalid(kPath, "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

void ValidateManagedFields(const ObjectMeta& metadata, const MetaRules& rules,
                           FieldErrors& errors) {
  for (size_t i = 0; i < metadata.managed_fields.size(); ++i) {
    const ManagedFields& entry = metadata.managed_fields[i];
    const std::string path = absl::StrCat("metadata.managedFields[", i, "]");
    const bool known = entry.operation == "Apply" || entry.operation == "Update";
    if (!known && !rules.names_entries) {
      errors.Invalid(path + ".operation", "must be `Apply` or `Update`");
    } else if (!known && entry.operation.empty()) {
      errors.Required(path + ".operation", "must not be empty");
    } else if (!known) {
      errors.NotSupported(path + ".operation", {"Apply", "Update"});
    }
    if (!entry.fields_type.empty() && entry.fields_type != "FieldsV1") {
      errors.Invalid(path + ".fieldsType", "must be `FieldsV1`");
    }
    if (entry.manager.size() > kMaxManagerBytes) {
      errors.TooLong(path + ".manager", kMaxManagerBytes);
    }
    for (size_t at = 0; at < entry.manager.size(); ++at) {
      const auto byte = static_cast<unsigned char>(entry.manager[at]);
      if (byte >= 0x20 && byte != 0x7F) continue;
      errors.Invalid(path + ".manager",
                     absl::StrFormat("invalid character U+%04X (at position %d)", byte, at));
    }
    if (entry.subresource.size() > kMaxSubresourceBytes) {
      errors.TooLong(path + ".subresource", kMaxSubresourceBytes);
    }
  }
}

}  // namespace

void ValidateObjectMeta(const ObjectMeta& metadata, const MetaRules& rules, FieldErrors& errors) {
  ValidateNames(metadata, errors);
  if (metadata.generation < 0) {
    errors.Invalid("metadata.generation", "must be greater than or equal to 0");
  }
  for (const auto& [key, value] : metadata.labels) {
    errors.InvalidValue("metadata.labels", key, kube::LabelKeyProblems(key, rules.labels));
    errors.InvalidValue("metadata.labels", value, kube::LabelValueProblems(value, rules.labels));
  }
  size_t bytes = 0;
  for (const auto& [key, value] : metadata.annotations) {
    bytes += key.size() + value.size();
    errors.InvalidValue("metadata.annotations", key,
                        kube::LabelKeyProblems(absl::AsciiStrToLower(key), rules.labels));
  }
  if (bytes > kMaxAnnotationsBytes) errors.TooLong("metadata.annotations", kMaxAnnotationsBytes);
  ValidateOwners(metadata, rules, errors);
  if (rules.checks_finalizers) ValidateFinalizers(metadata, rules.labels, errors);
  ValidateManagedFields(metadata, rules, errors);
}

}  // namespace flyball::scaler
