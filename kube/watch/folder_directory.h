// The objects in a folder of YAML and JSON files, instead of a cluster.
//
// Thread-safe; answers come from an immutable snapshot. One thread watches the files
// (base/file_watcher.h). manifest_objects.h determines the resources, and the namespace of an
// object that names none; a pod without status.phase is Running. Of two equal names the one in the
// later file in alphabetical order wins.
//
// Limits: those of manifest_files.h and of the watcher.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/file_watcher.h"
#include "base/snapshot.h"
#include "kube/objects/manifest.h"
#include "kube/objects/manifest_objects.h"
#include "kube/objects/object_directory.h"
#include "kube/watch/manifest_files.h"

namespace flyball::kube {

class FolderDirectory : public ObjectDirectory {
 public:
  // Reads the manifests below `folder`, now and each second by `clock`, which outlives it.
  // kInvalidArgument if it is no folder, cannot be read or a file is bad: all bad files,
  // one `file:line:column: what` in each line.
  static absl::StatusOr<std::unique_ptr<FolderDirectory>> Make(std::string folder, Clock& clock);
  ~FolderDirectory() override;

  absl::StatusOr<std::vector<ObjectPtr>> List(const ObjectQuery& query) override;
  absl::StatusOr<ObjectPtr> Get(const GroupResource& resource, absl::string_view ns,
                                absl::string_view name, bool running_only) override;
  std::shared_ptr<const RestMapper> mapper() const override;
  uint64_t Generation() const override { return generation_.load(std::memory_order_acquire); }

  // Reads what has changed, as the watcher does. A bad file, or a folder that cannot be read, is
  // logged once, and its last good objects stay. An error: not everything could be read, so Reload
  // has to be called again.
  absl::Status Reload();

 private:
  struct File {
    size_t hash = 0;
    std::vector<ManifestObject> objects;
  };

  explicit FolderDirectory(const std::string& folder) : manifests_(folder) {}
  // Returns whether anything changed. Adds the files that have become bad to `problems`, or why the
  // folder could not be read.
  bool ReadFiles(std::vector<std::string>* problems) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<const ManifestObjects> Assemble() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  ManifestFiles manifests_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, File> files_ ABSL_GUARDED_BY(mutex_);
  Snapshot<ManifestObjects> objects_;
  std::atomic<uint64_t> generation_ = 1;
  std::unique_ptr<FileWatcher> watcher_;  // last: its thread uses the others
};

}  // namespace flyball::kube
