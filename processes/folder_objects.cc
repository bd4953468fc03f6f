#include "processes/folder_objects.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/objects/json_members.h"
#include "processes/manifest_kinds.h"
#include "processes/process_set_spec.h"

namespace flyball::processes {
namespace {

using nlohmann::json;

constexpr absl::Duration kInterval = absl::Seconds(1);  // between two looks

// `had_objects`: the last good text of the file had some.
absl::StatusOr<std::vector<ManifestJson>> ReadObjects(const std::string& text, bool had_objects) {
  if (had_objects && absl::StripAsciiWhitespace(text).empty()) {
    return absl::InvalidArgumentError(
        "it has become empty; objects are removed by removing the file");
  }
  return ReadManifestJson(text);
}

}  // namespace

absl::StatusOr<std::unique_ptr<FolderObjects>> FolderObjects::Make(
    std::string folder, kube::LocalApiServer& server, Clock& clock,
    std::function<void()> on_change) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, ": not a folder"));
  }
  auto objects =
      absl::WrapUnique(new FolderObjects(std::move(folder), server, std::move(on_change)));
  FolderObjects* const self = objects.get();
  self->watcher_ = std::make_unique<FileWatcher>(clock, FileStamps({self->folder_}), kInterval,
                                                 [self] { return self->Reload(); });
  std::vector<std::string> problems;
  {
    absl::MutexLock lock(&self->mutex_);
    self->ReadFiles(problems);
  }
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  return objects;
}

absl::Status FolderObjects::Reload() {
  std::vector<std::string> problems;
  bool changed;
  absl::Status unread;
  {
    absl::MutexLock lock(&mutex_);
    changed = ReadFiles(problems);
    unread = manifests_.unread();
  }
  for (const std::string& problem : problems) {
    spdlog::error("{} (its last good objects stay)", problem);
  }
  if (changed) on_change_();
  return unread;
}

bool FolderObjects::ReadFiles(std::vector<std::string>& problems) {
  const std::optional<kube::ManifestFolder> found = manifests_.Find(problems);
  if (!found.has_value()) return false;
  bool changed =
      std::erase_if(files_, [&found](const auto& file) { return !found->MayHave(file.first); }) > 0;
  for (const std::string& path : found->files) {
    File& file = files_[path];
    const absl::StatusOr<std::string> text = manifests_.Read(path);
    const std::string seen = text.ok() ? *text : text.status().ToString();
    if (file.text == seen) continue;
    file.text = seen;
    auto objects = text.ok() ? ReadObjects(*text, !file.objects.empty()) : text.status();
    if (objects.ok()) {
      file.objects = *std::move(objects);
      changed = true;
    } else {
      problems.push_back(absl::StrCat(path, ": ", objects.status().message()));
    }
  }
  if (!changed) return false;
  std::vector<kube::ResourceInfo> defined;
  for (const auto& [path, file] : files_) {
    for (const ManifestJson& one : file.objects) {
      if (one.defines.has_value()) defined.push_back(*one.defines);
    }
  }
  const ManifestKinds known(defined);
  std::vector<kube::ResourceInfo> kinds(known.defined().begin(), known.defined().end());
  Objects all;
  for (const auto& [path, file] : files_) {
    for (const ManifestJson& one : file.objects) {
      kube::ResourceInfo kind = known.Of(one);
      all[PathOf(one, kind)] = one.object;
      kinds.push_back(std::move(kind));
    }
  }
  return Apply(std::move(all), kinds);
}

bool FolderObjects::Apply(Objects objects, absl::Span<const kube::ResourceInfo> kinds) {
  bool changed = false;
  for (const auto& [path, object] : objects_) {
    if (objects.contains(path)) continue;
    spdlog::info("{}: {} is gone", folder_, path);
    server_.Delete(path);
    changed = true;
  }
  // In between, since a definition may move the objects of its kind to another path.
  for (const kube::ResourceInfo& kind : kinds) server_.AddKind(kind, kind.scalable);
  for (const auto& [path, object] : objects) {
    const auto before = objects_.find(path);
    if (before != objects_.end() && before->second == object) continue;
    Put(path, object, before == objects_.end() ? "" : before->second);
    changed = true;
  }
  objects_ = std::move(objects);
  return changed;
}

void FolderObjects::Put(const std::string& path, const std::string& text,
                        const std::string& before) {
  json object = json::parse(text, nullptr, false);
  const json stored = json::parse(server_.Get(path), nullptr, false);
  if (stored.is_object()) {
    if (!object.contains("status") && stored.contains("status"))
      object["status"] = stored["status"];
    const json file_before = json::parse(before, nullptr, false);
    const bool same_count = file_before.is_object() &&
                            kube::MemberOf(kube::MemberOf(file_before, "spec"), "replicas") ==
                                kube::MemberOf(kube::MemberOf(object, "spec"), "replicas");
    if (kube::TextOf(object, "kind") == kProcessSetKind && same_count) {
      object["spec"]["replicas"] = kube::NumberOf(kube::MemberOf(stored, "spec"), "replicas");
    }
  }
  if (kube::TextOf(object, "apiVersion") == "v1" && kube::TextOf(object, "kind") == "Pod" &&
      kube::TextOf(kube::MemberOf(object, "status"), "phase").empty()) {
    object["status"]["phase"] = "Running";
  }
  const absl::Status status = server_.Put(object.dump());
  if (!status.ok()) spdlog::error("{}: {}", path, std::string(status.message()));
}

}  // namespace flyball::processes
