// The objects of a folder of YAML and JSON files, kept in a local API server.
//
// Thread-safe. One thread checks the files each second. If a file becomes bad, that is logged and
// its last good objects stay; so they do if it becomes empty, as a file is while a shell writes it.
// While the folder, or one below it, cannot be read, the objects of its files stay. An object is
// identified without its file, so that files may be renamed and copied; if several files have it,
// the last by name counts. If an object changes, two things that were written through the API stay:
// its status if the file has none, and the replicas of a ProcessSet unless the count in the file
// has changed too. The CustomResourceDefinitions of all files count for the objects of all files. A
// pod without a phase is Running, since nobody would ever start it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/file_watcher.h"
#include "kube/local/local_api_server.h"
#include "kube/objects/rest_mapping.h"
#include "kube/watch/manifest_files.h"
#include "processes/manifest_json.h"

namespace flyball::processes {

class FolderObjects {
 public:
  // Calls `on_change` after each change, on the thread of the watcher. Server and clock must
  // outlive it. kInvalidArgument: it is no folder, it cannot be read, or files are bad; the
  // message has `file: what` on a line for each.
  static absl::StatusOr<std::unique_ptr<FolderObjects>> Make(std::string folder,
                                                             kube::LocalApiServer& server,
                                                             Clock& clock,
                                                             std::function<void()> on_change);

  // Reads what has changed, as the watcher does. An error: not everything could be read, so Reload
  // has to be called again.
  absl::Status Reload();

 private:
  using Objects = std::map<std::string, std::string>;  // path of the API -> JSON of the file

  struct File {
    std::string text;                   // the content, or why it could not be read
    std::vector<ManifestJson> objects;  // the last good ones
  };

  FolderObjects(std::string folder, kube::LocalApiServer& server, std::function<void()> on_change)
      : folder_(std::move(folder)),
        server_(server),
        on_change_(std::move(on_change)),
        manifests_(folder_) {}
  // Returns whether any object has changed; adds files that have become bad to `problems`, or
  // why the folder could not be read.
  bool ReadFiles(std::vector<std::string>& problems) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Apply(Objects objects, absl::Span<const kube::ResourceInfo> kinds)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Put(const std::string& path, const std::string& object, const std::string& before);

  const std::string folder_;
  kube::LocalApiServer& server_;
  const std::function<void()> on_change_;
  absl::Mutex mutex_;
  kube::ManifestFiles manifests_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, File> files_ ABSL_GUARDED_BY(mutex_);
  Objects objects_ ABSL_GUARDED_BY(mutex_);  // of all files, as they were stored last
  std::unique_ptr<FileWatcher> watcher_;     // last: its thread uses the others
};

}  // namespace flyball::processes
