// The objects in a folder of YAML and JSON files, instead of a cluster.
//
// Thread-safe; answers come from an immutable snapshot. One thread watches the files
// (base/file_watcher.h). Resources are those of every cluster, those that
// CustomResourceDefinitions in the folder define, and for other kinds a guess: plural from the
// kind, namespaced if its first object has a namespace. An object without a namespace of a
// namespaced kind is in "default"; a pod without status.phase is Running. Of two equal names the
// file later in alphabetical order wins.
//
// Limits: kMaxFileBytes for each file, and those of the watcher.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/file_watcher.h"
#include "base/snapshot.h"
#include "kube/objects/manifest.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/object_table.h"

namespace flyball::kube {

class FolderDirectory : public ObjectDirectory {
 public:
  static constexpr size_t kMaxFileBytes = 64u << 20;

  // Reads *.yaml, *.yml and *.json below `folder`; hidden files are left out. kInvalidArgument if
  // it is no folder or a file is bad: all bad files, one `file:line:column: what` in each line.
  static absl::StatusOr<std::unique_ptr<FolderDirectory>> Make(
      std::string folder, absl::Duration interval = absl::Seconds(1));
  ~FolderDirectory() override;

  absl::StatusOr<std::vector<ObjectPtr>> List(const ObjectQuery& query) override;
  absl::StatusOr<ObjectPtr> Get(const GroupResource& resource, absl::string_view ns,
                                absl::string_view name, bool running_only) override;
  std::shared_ptr<const RestMapper> mapper() const override;
  uint64_t Generation() const override { return generation_.load(std::memory_order_acquire); }

  // Reads what has changed, as the watcher does. A bad file is logged, is in problems() until it is
  // good, and leaves its last good objects in place.
  void Reload();
  std::vector<std::string> problems() const;

 private:
  struct File {
    size_t hash = 0;
    std::vector<ManifestObject> objects;
    std::string problem;
  };
  struct World {
    std::shared_ptr<const RestMapper> mapper;
    // All objects, and those that run.
    std::map<GroupResource, std::pair<ObjectTable, ObjectTable>> tables;
  };

  explicit FolderDirectory(std::string folder) : folder_(std::move(folder)) {}
  // True if anything changed. Adds what became bad to `problems`.
  bool ReadFiles(std::vector<std::string>* problems) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<const World> Assemble() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<const ObjectTable*> TableFor(const World& world, const GroupResource& resource,
                                              bool running_only) const;

  const std::string folder_;
  mutable absl::Mutex mutex_;
  std::map<std::string, File> files_ ABSL_GUARDED_BY(mutex_);
  Snapshot<World> world_;
  std::atomic<uint64_t> generation_ = 1;
  std::unique_ptr<FileWatcher> watcher_;  // last: its thread uses the others
};

}  // namespace flyball::kube
