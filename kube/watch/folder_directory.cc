#include "kube/watch/folder_directory.h"

#include <filesystem>
#include <functional>
#include <set>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "kube/objects/builtin_resources.h"
#include "spdlog/spdlog.h"

namespace flyball::kube {
namespace {

namespace fs = std::filesystem;

bool IsManifest(const fs::path& path) {
  const std::string extension = absl::AsciiStrToLower(path.extension().string());
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// The manifests below `folder`, as base/file_watcher.h goes through it.
void FindFiles(const fs::path& folder, std::set<fs::path>* seen, std::set<std::string>* files) {
  std::error_code error;
  if (!seen->insert(fs::canonical(folder, error)).second) return;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    if (path.filename().string().front() == '.') continue;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      FindFiles(path, seen, files);
    } else if (IsManifest(path) && files->size() < FileStamps::kMaxFiles) {
      files->insert(path.string());
    }
  }
}

absl::StatusOr<std::string> ReadManifestFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {  // a FIFO would be waited for
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no file"));
  }
  return ReadFile(path, FolderDirectory::kMaxFileBytes);
}

using KindKey = std::pair<std::string, std::string>;  // group, kind

// Adds to the built-in resources what the objects define or need.
class ResourceTable {
 public:
  ResourceTable() : resources_(BuiltinResources()) {
    for (const ResourceInfo& info : resources_) known_.insert({info.name.group, info.kind});
  }
  void AddDefinition(const ResourceInfo& info) {
    if (known_.insert({info.name.group, info.kind}).second) resources_.push_back(info);
  }
  void AddGuess(const ManifestObject& object) {
    if (!known_.insert({object.group, object.kind}).second) return;
    ResourceInfo info;
    info.name = {object.group, GuessPlural(object.kind)};
    info.version = object.version;
    info.kind = object.kind;
    info.namespaced = !object.meta.ns.empty();
    resources_.push_back(std::move(info));
  }
  std::vector<ResourceInfo> Take() { return std::move(resources_); }

 private:
  std::vector<ResourceInfo> resources_;
  std::set<KindKey> known_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FolderDirectory>> FolderDirectory::Make(std::string folder,
                                                                       absl::Duration interval) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, ": not a folder"));
  }
  auto directory = std::unique_ptr<FolderDirectory>(new FolderDirectory(std::move(folder)));
  FolderDirectory* const self = directory.get();
  self->watcher_ = std::make_unique<FileWatcher>(std::vector<std::string>{self->folder_}, interval,
                                                 [self] { self->Reload(); });
  std::vector<std::string> problems;
  {
    absl::MutexLock lock(&self->mutex_);
    self->ReadFiles(&problems);
    self->world_.Set(self->Assemble());
  }
  if (problems.empty()) return directory;
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

FolderDirectory::~FolderDirectory() { watcher_.reset(); }

std::shared_ptr<const RestMapper> FolderDirectory::mapper() const { return world_.Get()->mapper; }

std::vector<std::string> FolderDirectory::problems() const {
  std::vector<std::string> problems;
  absl::MutexLock lock(&mutex_);
  for (const auto& [path, file] : files_) {
    if (!file.problem.empty()) problems.push_back(file.problem);
  }
  return problems;
}

void FolderDirectory::Reload() {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> problems;
  const bool changed = ReadFiles(&problems);
  for (const std::string& problem : problems) {
    spdlog::error("{} (the last good objects of this file stay)", problem);
  }
  if (!changed) return;
  world_.Set(Assemble());
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

bool FolderDirectory::ReadFiles(std::vector<std::string>* problems) {
  std::set<fs::path> seen;
  std::set<std::string> paths;
  FindFiles(folder_, &seen, &paths);
  bool changed =
      std::erase_if(files_, [&](const auto& file) { return !paths.contains(file.first); }) > 0;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> text = ReadManifestFile(path);
    const size_t hash =
        std::hash<std::string>()(text.ok() ? *text : std::string(text.status().message()));
    const auto [entry, is_new] = files_.try_emplace(path);
    File& file = entry->second;
    if (!is_new && file.hash == hash) continue;
    file.hash = hash;
    auto objects = text.ok() ? ReadManifest(*text, path) : text.status();
    if (objects.ok()) {
      file.objects = *std::move(objects);
      file.problem.clear();
      changed = true;
    } else {
      file.problem = std::string(objects.status().message());
      problems->push_back(file.problem);
    }
  }
  return changed;
}

std::shared_ptr<const FolderDirectory::World> FolderDirectory::Assemble() const {
  ResourceTable resources;
  for (const auto& [path, file] : files_) {
    for (const ManifestObject& object : file.objects) {
      if (object.defines.has_value()) resources.AddDefinition(*object.defines);
    }
  }
  for (const auto& [path, file] : files_) {
    for (const ManifestObject& object : file.objects) resources.AddGuess(object);
  }
  auto world = std::make_shared<World>();
  world->mapper = std::make_shared<const RestMapper>(resources.Take());
  std::map<KindKey, const ResourceInfo*> by_kind;
  for (const ResourceInfo& info : world->mapper->resources()) {
    by_kind.emplace(KindKey(info.name.group, info.kind), &info);
  }
  std::map<GroupResource, std::pair<std::vector<ObjectPtr>, std::vector<ObjectPtr>>> objects;
  for (const auto& [path, file] : files_) {
    for (const ManifestObject& object : file.objects) {
      const ResourceInfo& info = *by_kind.at({object.group, object.kind});
      ObjectMeta meta = object.meta;
      if (!info.namespaced) meta.ns.clear();
      if (info.namespaced && meta.ns.empty()) meta.ns = "default";
      auto& [all, running] = objects[info.name];
      all.push_back(std::make_shared<const ObjectMeta>(std::move(meta)));
      if (object.running) running.push_back(all.back());
    }
  }
  for (auto& [name, lists] : objects) {
    world->tables.emplace(
        name, std::pair(ObjectTable(std::move(lists.first)), ObjectTable(std::move(lists.second))));
  }
  return world;
}

absl::StatusOr<const ObjectTable*> FolderDirectory::TableFor(const World& world,
                                                             const GroupResource& resource,
                                                             bool running_only) const {
  static const ObjectTable empty;
  if (world.mapper->FindExact(resource) == nullptr) {
    return absl::NotFoundError(absl::StrCat("no resource ", resource.ToString()));
  }
  const auto tables = world.tables.find(resource);
  if (tables == world.tables.end()) return &empty;
  const bool running = running_only && resource == GroupResource{"", "pods"};
  return running ? &tables->second.second : &tables->second.first;
}

absl::StatusOr<std::vector<ObjectPtr>> FolderDirectory::List(const ObjectQuery& query) {
  const std::shared_ptr<const World> world = world_.Get();
  ASSIGN_OR_RETURN(const ObjectTable* table, TableFor(*world, query.resource, query.running_only));
  return table->Select(query.ns, query.selector);
}

absl::StatusOr<ObjectPtr> FolderDirectory::Get(const GroupResource& resource, absl::string_view ns,
                                               absl::string_view name, bool running_only) {
  const std::shared_ptr<const World> world = world_.Get();
  ASSIGN_OR_RETURN(const ObjectTable* table, TableFor(*world, resource, running_only));
  return table->Find(ns, name);
}

}  // namespace flyball::kube
