// The files of a folder that may hold manifests.
//
// Thread-safe; reads the file system.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace flyball::kube {

inline constexpr size_t kMaxManifestBytes = 64u << 20;

struct ManifestFolder {
  std::set<std::string> files;
  // Folders below it that cannot be read, and why: it is not known which files they have.
  std::map<std::string, absl::Status> unreadable;

  bool MayHave(const std::string& file) const;
  absl::Status Unread() const;  // why one of them cannot be read; OK if there is none
};

// All *.yaml, *.yml and *.json below `folder`, as base/file_watcher.h goes through it: hidden files
// and folders are left out. An error: the folder itself cannot be read.
absl::StatusOr<ManifestFolder> ManifestFiles(const std::string& folder);

// kInvalidArgument: it is no file, or it has more than kMaxManifestBytes; others as ReadFile.
absl::StatusOr<std::string> ReadManifestFile(const std::string& path);

}  // namespace flyball::kube
