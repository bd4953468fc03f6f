// Reports that files or folders have changed: rewritten, replaced, removed, or swapped behind
// symlinks like a Kubernetes ConfigMap mount (..data).
//
// It polls (stat), so that network and overlay file systems behave alike. Create the watcher, or
// the FileStamps that it continues from, before the first read of the files, so that no later
// change is missed. Not here: reading the files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/repeating_thread.h"

namespace flyball {

// The state of a set of paths, compared with the last look. Not thread-safe.
class FileStamps {
 public:
  // A path may be a file, a folder (all files below it, names that start with a dot left out), or
  // absent. Where something cannot be read, why not is what is compared. At most kMaxFiles files
  // are looked at.
  explicit FileStamps(std::vector<std::string> paths);

  // Looks again: true if anything differs from the last look.
  bool Refresh();

  static constexpr size_t kMaxFiles = 100'000;

 private:
  struct Stamp {
    std::string target;  // where symlinks lead, or why nothing is known
    uint64_t device = 0, inode = 0, size = 0;
    int64_t modified_ns = 0, changed_ns = 0;
    // Two writes within one tick of the file system's clock look alike, so the content of a file
    // that changed just now is compared too.
    bool young = false;
    size_t content_hash = 0;
    bool SameFile(const Stamp& other) const;
  };
  using Stamps = std::map<std::string, Stamp>;
  using Folders = std::set<std::string>;  // resolved, so that symlink loops end

  Stamps Look() const;
  void AddPath(const std::string& path, Folders* seen, Stamps* stamps) const;
  void AddFile(const std::string& path, Stamps* stamps) const;
  static void AddUnreadable(const std::string& path, int error, Stamps* stamps);

  const std::vector<std::string> paths_;
  Stamps last_;
};

// Calls `on_change` from a thread of its own after a change: once the files have not changed for 50
// ms, or at the latest after a second. After an error it is called again after each interval: a
// read may fail for a moment, and no change reports that it would succeed again.
class FileWatcher {
 public:
  // Continues from stamps that were taken before the files were read. The clock outlives the
  // watcher and determines when it checks. The destructor waits for a call of on_change under way;
  // it must not be called from there.
  FileWatcher(Clock& clock, FileStamps before, absl::Duration interval,
              std::function<absl::Status()> on_change);

 private:
  FileStamps stamps_;  // used only by the thread after construction
  RepeatingThread thread_;
};

}  // namespace flyball
