#include "processes/manifest_kinds.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/builtin_resources.h"
#include "kube/objects/manifest.h"
#include "processes/process_set_spec.h"
#include "scaler/spec/own_spec.h"

namespace flyball::processes {
namespace {

kube::ResourceInfo OwnResource(absl::string_view plural, absl::string_view kind) {
  return kube::ResourceNamed(scaler::kOwnGroup, scaler::kOwnVersion, plural, kind);
}

kube::ResourceInfo Guessed(const ManifestJson& object) {
  kube::ResourceInfo info =
      kube::ResourceNamed(object.version.group, "", kube::GuessPlural(object.kind), object.kind);
  info.singular = absl::AsciiStrToLower(object.kind);
  return info;
}

}  // namespace

ManifestKinds::ManifestKinds(absl::Span<const kube::ResourceInfo> defined) {
  for (kube::ResourceInfo& info : kube::BuiltinResources()) Add(std::move(info));
  Add(OwnResource(scaler::kOwnPlural, scaler::kOwnKind));
  Add(OwnResource(kProcessSetPlural, kProcessSetKind));
  for (const kube::ResourceInfo& info : defined) {
    if (Add(info)) defined_.push_back(info);
  }
}

bool ManifestKinds::Add(kube::ResourceInfo info) {
  std::pair<std::string, std::string> key(info.name.group, info.kind);
  return known_.emplace(std::move(key), std::move(info)).second;
}

kube::ResourceInfo ManifestKinds::Of(const ManifestJson& object) const {
  const auto found = known_.find({object.version.group, object.kind});
  kube::ResourceInfo info = found == known_.end() ? Guessed(object) : found->second;
  info.version = object.version.version;
  info.scalable = object.kind == kProcessSetKind;
  return info;
}

std::string PathOf(const ManifestJson& object, const kube::ResourceInfo& resource) {
  const kube::ApiVersion& version = object.version;
  std::string place;
  if (resource.namespaced) {
    place = absl::StrCat("namespaces/", object.ns.empty() ? "default" : object.ns, "/");
  }
  return absl::StrCat(version.group.empty() ? "/api/" : absl::StrCat("/apis/", version.group, "/"),
                      version.version, "/", place, resource.name.resource, "/", object.name);
}

}  // namespace flyball::processes
