#include "kube/local/local_object_store.h"

#include <initializer_list>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "kube/client/scale.h"
#include "kube/objects/api_version.h"
#include "kube/objects/builtin_resources.h"
#include "kube/objects/json_members.h"
#include "kube/objects/selector.h"

namespace flyball::kube {

using nlohmann::json;

namespace {

std::string Text(const json& object, const std::string& pointer) {
  const json::json_pointer at(pointer);
  return object.contains(at) && object[at].is_string() ? object[at].get<std::string>() : "";
}

LocalAnswer NotFound(const LocalTarget& target) {
  return LocalFailure(
      404, "NotFound",
      absl::StrCat(target.kind->info.name.ToString(), " \"", target.name, "\" not found"));
}

LocalAnswer Conflict(const LocalTarget& target, absl::string_view why) {
  return LocalFailure(
      409, "Conflict",
      absl::StrCat("Operation cannot be fulfilled on ", target.kind->info.name.ToString(), " \"",
                   target.name, "\": ", why));
}

// The error that prevents writing `object` over `stored`; status 200: none.
LocalAnswer CheckConditions(const LocalTarget& target, const json& stored, const json& object,
                            bool must_name_version) {
  const std::string version = Text(object, "/metadata/resourceVersion");
  const std::string uid = Text(object, "/metadata/uid");
  if (version.empty() && must_name_version) {
    return LocalFailure(422, "Invalid",
                        absl::StrCat(target.kind->info.name.ToString(), " \"", target.name,
                                     "\" is invalid: metadata.resourceVersion: Invalid value: 0x0: "
                                     "must be specified for an update"));
  }
  if (!uid.empty() && uid != Text(stored, "/metadata/uid")) {
    return Conflict(target,
                    absl::StrCat("StorageError: invalid object, Code: 4, Key: /registry/",
                                 target.kind->info.name.resource, "/", target.ns, "/", target.name,
                                 ", ResourceVersion: 0, AdditionalErrorMsg: Precondition "
                                 "failed: UID in precondition: ",
                                 uid, ", UID in object meta: ", Text(stored, "/metadata/uid")));
  }
  if (!version.empty() && version != Text(stored, "/metadata/resourceVersion")) {
    return Conflict(target,
                    "the object has been modified; please apply your changes to the latest "
                    "version and try again");
  }
  return {};
}

// `object` with the fields that a write to this (sub)resource does not change.
json Merged(const LocalTarget& target, const json& stored, const json& object) {
  if (target.subresource == "status") {
    json out = stored;
    out.erase("status");
    if (object.contains("status")) out["status"] = object["status"];
    return out;
  }
  json out = object;
  if (target.kind->status) {
    out.erase("status");
    if (stored.contains("status")) out["status"] = stored["status"];
  }
  return out;
}

// The fields of `from` by these names, as far as it has them.
json FieldsOf(const json& from, std::initializer_list<const char*> names) {
  json fields = json::object();
  for (const char* name : names) {
    if (const auto found = from.find(name); found != from.end()) fields[name] = *found;
  }
  return fields;
}

std::string SelectorOfWorkload(const json& object) {
  // Without the pods' template, which is the most of it.
  json workload = FieldsOf(object, {"apiVersion", "kind", "metadata"});
  if (const auto spec = object.find("spec"); spec != object.end()) {
    workload["spec"] = spec->is_object() ? FieldsOf(*spec, {"selector"}) : *spec;
  }
  const auto scale = ScaleOfWorkload(workload.dump());
  return scale.ok() ? scale->selector : scale.status().ToString();
}

json ScaleOf(const LocalKind& kind, const json& object) {
  json scale;
  scale["kind"] = "Scale";
  scale["apiVersion"] = "autoscaling/v1";
  scale["metadata"] = FieldsOf(
      object["metadata"], {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"});
  scale["spec"]["replicas"] = NumberOf(MemberOf(object, "spec"), "replicas");
  scale["status"]["replicas"] = NumberOf(MemberOf(object, "status"), "replicas");
  scale["status"]["selector"] =
      kind.custom ? TextOf(MemberOf(object, "status"), "selector") : SelectorOfWorkload(object);
  return scale;
}

}  // namespace

std::string LocalKind::ApiVersion() const {
  return kube::ApiVersion{info.name.group, info.version}.ToString();
}

LocalAnswer LocalFailure(int status, absl::string_view reason, absl::string_view message) {
  return {status,
          {{"kind", "Status"},
           {"apiVersion", "v1"},
           {"metadata", json::object()},
           {"status", "Failure"},
           {"reason", std::string(reason)},
           {"message", std::string(message)},
           {"code", status}}};
}

LocalObjectStore::LocalObjectStore() {
  for (const ResourceInfo& info : BuiltinResources()) {
    const std::string& group = info.name.group;
    LocalKind kind{.info = info, .custom = false, .scale = false, .status = false};
    kind.scale = info.kind == "Deployment" || info.kind == "ReplicaSet" ||
                 info.kind == "StatefulSet" || info.kind == "ReplicationController";
    kind.status = group == "apps" || group == "autoscaling" || group == "batch" ||
                  (group.empty() && info.kind != "Event" && info.kind != "ConfigMap");
    kinds_.push_back(std::move(kind));
  }
}

void LocalObjectStore::AddKind(const ResourceInfo& info, bool scale) {
  for (LocalKind& one : kinds_) {
    if (one.info.kind != info.kind || one.info.version != info.version ||
        one.info.name.group != info.name.group) {
      continue;
    }
    if (one.custom) one.info = info;
    return;
  }
  kinds_.push_back({.info = info, .custom = true, .scale = scale, .status = true});
}

LocalTarget LocalObjectStore::Find(absl::string_view path) const {
  std::vector<absl::string_view> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  const bool core = !parts.empty() && parts[0] == "api";
  const size_t root = core ? 2 : 3;
  LocalTarget target;
  if (parts.size() <= root || (!core && parts[0] != "apis")) return target;
  const absl::string_view group = core ? "" : parts[1];
  const absl::string_view version = parts[root - 1];
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(root));
  if (parts[0] == "namespaces" && parts.size() > 2) {
    target.ns = std::string(parts[1]);
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  for (const LocalKind& kind : kinds_) {
    const ResourceInfo& info = kind.info;
    if (info.name.group == group && info.name.resource == parts[0] && info.version == version) {
      target.kind = &kind;
    }
  }
  if (parts.size() > 1) target.name = std::string(parts[1]);
  if (parts.size() > 2) target.subresource = std::string(parts[2]);
  const bool known =
      target.subresource.empty() ||
      (target.kind != nullptr && ((target.subresource == "scale" && target.kind->scale) ||
                                  (target.subresource == "status" && target.kind->status)));
  if (parts.size() > 3 || !known) target.kind = nullptr;
  return target;
}

const LocalKind* LocalObjectStore::FindKind(absl::string_view api_version,
                                            absl::string_view kind) const {
  for (const LocalKind& one : kinds_) {
    if (one.info.kind == kind && one.ApiVersion() == api_version) return &one;
  }
  return nullptr;
}

LocalObjectStore::Key LocalObjectStore::KeyOf(const LocalTarget& target) {
  return {target.kind->info.name.ToString(), target.ns, target.name};
}

const json* LocalObjectStore::Stored(const LocalTarget& target) const {
  const auto found = objects_.find(KeyOf(target));
  return found == objects_.end() ? nullptr : found->second.get();
}

LocalAnswer LocalObjectStore::Get(const LocalTarget& target) const {
  const json* stored = Stored(target);
  if (stored == nullptr) return NotFound(target);
  return {200, target.subresource == "scale" ? ScaleOf(*target.kind, *stored) : *stored};
}

LocalAnswer LocalObjectStore::Create(const LocalTarget& target, json object) {
  LocalTarget at = target;
  at.name = Text(object, "/metadata/name");
  if (at.name.empty()) {
    return LocalFailure(422, "Invalid", "metadata.name: Required value: name is required");
  }
  if (!Text(object, "/metadata/resourceVersion").empty()) {
    return LocalFailure(500, "InternalError",
                        "resourceVersion should not be set on objects to be created");
  }
  if (Stored(at) != nullptr) {
    return LocalFailure(
        409, "AlreadyExists",
        absl::StrCat(at.kind->info.name.ToString(), " \"", at.name, "\" already exists"));
  }
  if (at.kind->status) object.erase("status");
  LocalAnswer answer = Store(at, std::move(object));
  answer.status = 201;
  return answer;
}

LocalAnswer LocalObjectStore::Update(const LocalTarget& target, json object) {
  const json* stored = Stored(target);
  if (stored == nullptr) return NotFound(target);
  const bool must = target.kind->custom || target.kind->info.kind == "Lease";
  const LocalAnswer problem = CheckConditions(target, *stored, object, must);
  if (problem.status != 200) return problem;
  if (target.subresource == "scale") return UpdateScale(target, object);
  return Store(target, Merged(target, *stored, object));
}

LocalAnswer LocalObjectStore::UpdateScale(const LocalTarget& target, const json& scale) {
  json object = *Stored(target);
  object["spec"]["replicas"] = NumberOf(MemberOf(scale, "spec"), "replicas");
  const LocalAnswer answer = Store(target, std::move(object));
  return {200, ScaleOf(*target.kind, answer.body)};
}

LocalAnswer LocalObjectStore::MergePatch(const LocalTarget& target, const json& patch) {
  const json* stored = Stored(target);
  if (stored == nullptr) return NotFound(target);
  const LocalAnswer problem = CheckConditions(target, *stored, patch, false);
  if (problem.status != 200) return problem;
  if (target.subresource == "scale") {
    json scale = ScaleOf(*target.kind, *stored);
    scale.merge_patch(patch);
    return UpdateScale(target, scale);
  }
  json object = *stored;
  object.merge_patch(patch);
  return Store(target, Merged(target, *stored, object));
}

LocalAnswer LocalObjectStore::Delete(const LocalTarget& target) {
  const auto found = objects_.find(KeyOf(target));
  if (found == objects_.end()) return NotFound(target);
  json gone = *found->second;
  objects_.erase(found);
  gone["metadata"]["resourceVersion"] = absl::StrCat(++version_);
  Record({version_, KeyOf(target), std::make_shared<const json>(std::move(gone)), nullptr});
  return {200, {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}}};
}

json LocalObjectStore::Force(const LocalTarget& target, json object) {
  return Store(target, std::move(object)).body;
}

LocalAnswer LocalObjectStore::Store(const LocalTarget& target, json object) {
  const json* stored = Stored(target);
  json& metadata = object["metadata"];
  object["apiVersion"] = target.kind->ApiVersion();
  object["kind"] = target.kind->info.kind;
  metadata["name"] = target.name;
  if (!target.ns.empty()) metadata["namespace"] = target.ns;
  if (!target.kind->info.namespaced) metadata.erase("namespace");
  int64_t generation = 1;
  if (stored != nullptr) {
    const json& before = *stored;
    metadata["uid"] = before["metadata"]["uid"];
    metadata["creationTimestamp"] = before["metadata"]["creationTimestamp"];
    metadata["resourceVersion"] = before["metadata"]["resourceVersion"];
    generation = before["metadata"]["generation"].get<int64_t>();
    if (MemberOf(before, "spec") != MemberOf(object, "spec")) ++generation;
  } else {
    if (Text(object, "/metadata/uid").empty()) metadata["uid"] = absl::StrCat("uid-", ++uids_);
    if (!metadata.contains("creationTimestamp")) metadata["creationTimestamp"] = TimeText(now_);
  }
  metadata["generation"] = generation;
  if (stored != nullptr && *stored == object) return {200, object};  // nothing is written
  metadata["resourceVersion"] = absl::StrCat(++version_);
  const Key key = KeyOf(target);
  Object& kept = objects_[key];
  const Object before = std::exchange(kept, std::make_shared<const json>(object));
  Record({version_, key, before, kept});
  return {200, std::move(object)};
}

std::vector<LocalObjectStore::Object> LocalObjectStore::List(const LocalTarget& target) const {
  std::vector<Object> out;
  const std::string resource = target.kind->info.name.ToString();
  for (auto at = objects_.lower_bound({resource, target.ns, ""}); at != objects_.end(); ++at) {
    if (std::get<0>(at->first) != resource) break;
    if (!target.ns.empty() && std::get<1>(at->first) != target.ns) break;
    out.push_back(at->second);
  }
  return out;
}

void LocalObjectStore::Record(Change change) {
  changes_.push_back(std::move(change));
  if (changes_.size() <= most_changes_) return;
  expired_ = changes_.front().version - 1;  // a watch that knows the change itself misses nothing
  changes_.pop_front();
}

void LocalObjectStore::Expire() {
  changes_.clear();
  expired_ = version_++;
}

bool IsSelected(const json& object, const std::string& label_selector,
                const std::string& field_selector) {
  const auto selector = Selector::Parse(label_selector);
  Labels labels;
  for (const auto& [name, value] : MemberOf(MemberOf(object, "metadata"), "labels").items()) {
    if (value.is_string()) labels[name] = value.get<std::string>();
  }
  if (!selector.ok() || !selector->Matches(labels)) return false;
  for (absl::string_view term : absl::StrSplit(field_selector, ',', absl::SkipEmpty())) {
    const bool negative = absl::StrContains(term, "!=");
    const std::pair<std::string, std::string> field =
        absl::StrSplit(term, absl::MaxSplits(negative ? "!=" : "=", 1));
    const std::string path = absl::StrCat("/", absl::StrReplaceAll(field.first, {{".", "/"}}));
    if ((Text(object, path) == field.second) == negative) return false;
  }
  return true;
}

}  // namespace flyball::kube
