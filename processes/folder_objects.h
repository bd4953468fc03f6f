// The objects of a folder of YAML and JSON files, kept in a local API server.
//
// Thread-safe. One thread looks at the files each second. A file that becomes bad is logged and
// leaves its last good objects in place. What was written to an object through the API stays until
// its file says something else: its status where the file has none, and the replicas of a
// ProcessSet until the file has another count.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/file_watcher.h"
#include "kube/local/local_api_server.h"

namespace flyball::processes {

class FolderObjects {
 public:
  // `on_change` is called after each change, from the thread of the watcher. Server and clock
  // outlive it. kInvalidArgument if it is no folder or files are bad: a `file: what` in each line.
  static absl::StatusOr<std::unique_ptr<FolderObjects>> Make(std::string folder,
                                                             kube::LocalApiServer& server,
                                                             Clock& clock,
                                                             std::function<void()> on_change);

  // Reads what has changed, as the watcher does.
  void Reload();

 private:
  struct File {
    std::string text;                            // as it was read, or why it could not be
    std::map<std::string, std::string> objects;  // by path of the API: the JSON of the file
  };

  FolderObjects(std::string folder, kube::LocalApiServer& server, std::function<void()> on_change)
      : folder_(std::move(folder)), server_(server), on_change_(std::move(on_change)) {}
  // Whether anything changed; adds what became bad to `problems`.
  bool ReadFiles(std::vector<std::string>& problems) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Apply(const std::string& file, std::map<std::string, std::string> objects, File& last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Put(const std::string& path, const std::string& object, const std::string& before);

  const std::string folder_;
  kube::LocalApiServer& server_;
  const std::function<void()> on_change_;
  absl::Mutex mutex_;
  std::map<std::string, File> files_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<FileWatcher> watcher_;  // last: its thread uses the others
};

}  // namespace flyball::processes
