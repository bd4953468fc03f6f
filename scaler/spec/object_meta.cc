#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "kube/objects/label_syntax.h"
#include "scaler/spec/validation.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMaxLabelBytes = 63;
constexpr size_t kMaxSubdomainBytes = 253;
constexpr size_t kMaxAnnotationsBytes = 256 << 10;
constexpr size_t kMaxManagerBytes = 128;
constexpr size_t kMaxSubresourceBytes = 256;

constexpr char kSubdomainRule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr char kLabelRule[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

bool IsLowerAlnum(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) ||
         absl::ascii_isdigit(static_cast<unsigned char>(c));
}

bool IsDnsLabel(absl::string_view text) {
  return !text.empty() && IsLowerAlnum(text.front()) && IsLowerAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return c == '-' || IsLowerAlnum(c); });
}

bool IsSubdomain(absl::string_view text) {
  for (const absl::string_view part : absl::StrSplit(text, '.')) {
    if (!IsDnsLabel(part)) return false;
  }
  return true;
}

std::string LongerThan(size_t limit) {
  return absl::StrCat("must be no more than ", limit, " characters");
}

// generateName is judged as the start of a name: a dash at its end is not the end of the name.
std::string MaskTrailingDash(absl::string_view name) {
  if (name.size() > 1 && absl::EndsWith(name, "-")) {
    return absl::StrCat(name.substr(0, name.size() - 2), "a");
  }
  return std::string(name);
}

void ValidateNames(const ObjectMeta& metadata, FieldErrors& errors) {
  if (!metadata.generate_name.empty()) {
    for (const auto& problem : SubdomainProblems(MaskTrailingDash(metadata.generate_name))) {
      errors.Invalid("metadata.generateName", problem);
    }
  }
  if (metadata.name.empty()) {
    errors.Required("metadata.name", "name or generateName is required");
  } else {
    for (const auto& problem : SubdomainProblems(metadata.name)) {
      errors.Invalid("metadata.name", problem);
    }
  }
  if (metadata.ns.empty()) {
    errors.Required("metadata.namespace", "");
  } else {
    for (const auto& problem : DnsLabelProblems(metadata.ns)) {
      errors.Invalid("metadata.namespace", problem);
    }
  }
}

void ValidateOwners(const ObjectMeta& metadata, FieldErrors& errors) {
  constexpr char kPath[] = "metadata.ownerReferences";
  std::string first_controller;
  for (const OwnerReference& owner : metadata.owner_references) {
    // Of "a/b/c" upstream can read no version at all.
    const absl::string_view version = owner.api_version;
    const auto slashes = std::count(version.begin(), version.end(), '/');
    if (version.empty() || slashes > 1 || absl::EndsWith(version, "/")) {
      errors.Invalid(absl::StrCat(kPath, ".apiVersion"), "version must not be empty");
    }
    const std::pair<const char*, const std::string*> required[] = {
        {".kind", &owner.kind}, {".name", &owner.name}, {".uid", &owner.uid}};
    for (const auto& [name, value] : required) {
      if (value->empty()) errors.Invalid(absl::StrCat(kPath, name), "must not be empty");
    }
    if (owner.api_version == "v1" && owner.kind == "Event") {
      errors.Invalid(kPath, "/v1, Kind=Event is disallowed from being an owner");
    }
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

void ValidateFinalizers(const ObjectMeta& metadata, FieldErrors& errors) {
  constexpr char kPath[] = "metadata.finalizers";
  bool orphan = false;
  bool foreground = false;
  for (size_t i = 0; i < metadata.finalizers.size(); ++i) {
    const std::string& finalizer = metadata.finalizers[i];
    for (const auto& problem : kube::LabelKeyProblems(finalizer)) errors.Invalid(kPath, problem);
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

void ValidateManagedFields(const ObjectMeta& metadata, FieldErrors& errors) {
  for (size_t i = 0; i < metadata.managed_fields.size(); ++i) {
    const ManagedFields& entry = metadata.managed_fields[i];
    const std::string path = absl::StrCat("metadata.managedFields[", i, "]");
    if (entry.operation != "Apply" && entry.operation != "Update") {
      errors.Invalid(path + ".operation", "must be `Apply` or `Update`");
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

void ValidateObjectMeta(const ObjectMeta& metadata, FieldErrors& errors) {
  ValidateNames(metadata, errors);
  if (metadata.generation < 0) {
    errors.Invalid("metadata.generation", "must be greater than or equal to 0");
  }
  for (const auto& [key, value] : metadata.labels) {
    for (const auto& problem : kube::LabelKeyProblems(key)) {
      errors.Invalid("metadata.labels", problem);
    }
    for (const auto& problem : kube::LabelValueProblems(value)) {
      errors.Invalid("metadata.labels", problem);
    }
  }
  size_t bytes = 0;
  for (const auto& [key, value] : metadata.annotations) {
    bytes += key.size() + value.size();
    for (const auto& problem : kube::LabelKeyProblems(absl::AsciiStrToLower(key))) {
      errors.Invalid("metadata.annotations", problem);
    }
  }
  if (bytes > kMaxAnnotationsBytes) errors.TooLong("metadata.annotations", kMaxAnnotationsBytes);
  ValidateOwners(metadata, errors);
  ValidateFinalizers(metadata, errors);
  ValidateManagedFields(metadata, errors);
}

std::vector<std::string> SubdomainProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > kMaxSubdomainBytes) problems.push_back(LongerThan(kMaxSubdomainBytes));
  if (!IsSubdomain(text)) problems.emplace_back(kSubdomainRule);
  return problems;
}

std::vector<std::string> DnsLabelProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > kMaxLabelBytes) problems.push_back(LongerThan(kMaxLabelBytes));
  if (!IsDnsLabel(text)) {
    problems.emplace_back(IsSubdomain(text) ? "must not contain dots" : kLabelRule);
  }
  return problems;
}

std::vector<std::string> PathSegmentProblems(absl::string_view text) {
  if (text == "." || text == "..") return {absl::StrCat("may not be '", text, "'")};
  std::vector<std::string> problems;
  for (const absl::string_view part : {"/", "%"}) {
    if (absl::StrContains(text, part)) {
      problems.push_back(absl::StrCat("may not contain '", part, "'"));
    }
  }
  return problems;
}

std::vector<std::string> ContainerResourceProblems(absl::string_view text) {
  static constexpr absl::string_view kStandard[] = {"cpu",
                                                    "memory",
                                                    "ephemeral-storage",
                                                    "requests.cpu",
                                                    "requests.memory",
                                                    "requests.ephemeral-storage",
                                                    "limits.cpu",
                                                    "limits.memory",
                                                    "limits.ephemeral-storage",
                                                    "pods",
                                                    "resourcequotas",
                                                    "services",
                                                    "replicationcontrollers",
                                                    "secrets",
                                                    "configmaps",
                                                    "persistentvolumeclaims",
                                                    "storage",
                                                    "requests.storage",
                                                    "services.nodeports",
                                                    "services.loadbalancers"};
  std::vector<std::string> problems = kube::LabelKeyProblems(text);
  if (!absl::StrContains(text, '/')) {
    const bool standard =
        std::find(std::begin(kStandard), std::end(kStandard), text) != std::end(kStandard) ||
        absl::StartsWith(text, "hugepages-") || absl::StartsWith(text, "requests.hugepages-");
    if (problems.empty() && !standard) {
      problems.emplace_back("must be a standard resource type or fully qualified");
    }
    if (text != "cpu" && text != "memory" && text != "ephemeral-storage" &&
        !absl::StartsWith(text, "hugepages-")) {
      problems.emplace_back("must be a standard resource for containers");
    }
    return problems;
  }
  const bool native = absl::StrContains(text, "kubernetes.io/");
  const bool extended = !absl::StartsWith(text, "requests.") &&
                        kube::LabelKeyProblems(absl::StrCat("requests.", text)).empty();
  if (!native && !extended) {
    problems.emplace_back("doesn't follow extended resource name standard");
  }
  return problems;
}

}  // namespace flyball::scaler
