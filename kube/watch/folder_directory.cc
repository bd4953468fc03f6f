#include "kube/watch/folder_directory.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "spdlog/spdlog.h"

namespace flyball::kube {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kInterval = absl::Seconds(1);  // between two looks

}  // namespace

absl::StatusOr<std::unique_ptr<FolderDirectory>> FolderDirectory::Make(std::string folder,
                                                                       Clock& clock) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, ": not a folder"));
  }
  auto directory = std::unique_ptr<FolderDirectory>(new FolderDirectory(folder));
  FolderDirectory* const self = directory.get();
  self->watcher_ = std::make_unique<FileWatcher>(clock, FileStamps({std::move(folder)}), kInterval,
                                                 [self] { return self->Reload(); });
  std::vector<std::string> problems;
  {
    absl::MutexLock lock(&self->mutex_);
    self->ReadFiles(&problems);
    self->objects_.Set(self->Assemble());
  }
  if (problems.empty()) return directory;
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

FolderDirectory::~FolderDirectory() { watcher_.reset(); }

std::shared_ptr<const RestMapper> FolderDirectory::mapper() const {
  return objects_.Get()->mapper();
}

absl::Status FolderDirectory::Reload() {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> problems;
  const bool changed = ReadFiles(&problems);
  for (const std::string& problem : problems) {
    spdlog::error("{} (its last good objects stay)", problem);
  }
  if (changed) {
    objects_.Set(Assemble());
    generation_.fetch_add(1, std::memory_order_acq_rel);
  }
  return manifests_.unread();
}

bool FolderDirectory::ReadFiles(std::vector<std::string>* problems) {
  const std::optional<ManifestFolder> found = manifests_.Find(*problems);
  if (!found.has_value()) return false;
  bool changed =
      std::erase_if(files_, [&](const auto& file) { return !found->MayHave(file.first); }) > 0;
  for (const std::string& path : found->files) {
    const absl::StatusOr<std::string> text = manifests_.Read(path);
    const size_t hash =
        std::hash<std::string>()(text.ok() ? *text : std::string(text.status().message()));
    const auto [entry, is_new] = files_.try_emplace(path);
    File& file = entry->second;
    if (!is_new && file.hash == hash) continue;
    file.hash = hash;
    auto objects = text.ok() ? ReadManifest(*text, path) : text.status();
    if (objects.ok()) {
      file.objects = *std::move(objects);
      changed = true;
    } else {
      problems->push_back(std::string(objects.status().message()));
    }
  }
  return changed;
}

std::shared_ptr<const ManifestObjects> FolderDirectory::Assemble() const {
  std::vector<const ManifestObject*> objects;
  for (const auto& [path, file] : files_) {
    for (const ManifestObject& object : file.objects) objects.push_back(&object);
  }
  return std::make_shared<const ManifestObjects>(objects);
}

absl::StatusOr<std::vector<ObjectPtr>> FolderDirectory::List(const ObjectQuery& query) {
  const std::shared_ptr<const ManifestObjects> objects = objects_.Get();
  ASSIGN_OR_RETURN(const ObjectTable* table, objects->TableFor(query.resource, query.running_only));
  return table->Select(query.ns, query.selector);
}

absl::StatusOr<ObjectPtr> FolderDirectory::Get(const GroupResource& resource, absl::string_view ns,
                                               absl::string_view name, bool running_only) {
  const std::shared_ptr<const ManifestObjects> objects = objects_.Get();
  ASSIGN_OR_RETURN(const ObjectTable* table, objects->TableFor(resource, running_only));
  return table->Find(ns, name);
}

}  // namespace flyball::kube
