// Finds and reads the files of a folder that may hold manifests, repeatedly.
//
// Not thread-safe; reads the file system.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace flyball::kube {

inline constexpr size_t kMaxManifestBytes = 64u << 20;

struct ManifestFolder {
  std::set<std::string> files;
  // Folders below it that cannot be read, and why: it is not known which files they have.
  std::map<std::string, std::error_code> unreadable;

  bool MayHave(const std::string& file) const;
};

class ManifestFiles {
 public:
  explicit ManifestFiles(std::string folder) : folder_(std::move(folder)) {}

  // All *.yaml, *.yml and *.json below the folder, without hidden files and folders, as in
  // base/file_watcher.h. nullopt: the folder itself cannot be read. What cannot be read is reported
  // once: the folder in `problems`, what is below it in the log.
  std::optional<ManifestFolder> Find(std::vector<std::string>& problems);

  // Reads one of them. kInvalidArgument: it is no file, or it has more than kMaxManifestBytes;
  // other errors are those of ReadFile.
  absl::StatusOr<std::string> Read(const std::string& path);

  // Why not everything could be read since the last Find began, so that it is to be read again.
  // What stays as it is until somebody changes it, as a file that is refused or a folder without
  // permission does, is no reason: a FileWatcher sees that change.
  const absl::Status& unread() const { return unread_; }

 private:
  const std::string folder_;
  absl::Status told_;  // of the folders that the last Find could not read
  absl::Status unread_;
};

}  // namespace flyball::kube
