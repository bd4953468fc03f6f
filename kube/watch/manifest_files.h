// The files of a folder that may hold manifests.
//
// Thread-safe; reads the file system.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "absl/status/statusor.h"

namespace flyball::kube {

inline constexpr size_t kMaxManifestBytes = 64u << 20;

// All *.yaml, *.yml and *.json below `folder`, as base/file_watcher.h goes through it: hidden files
// and folders are left out. An error: the folder, or one below it, cannot be read, so that it is
// not known which files there are.
absl::StatusOr<std::set<std::string>> ManifestFiles(const std::string& folder);

// kInvalidArgument: it is no file, or it has more than kMaxManifestBytes; others as ReadFile.
absl::StatusOr<std::string> ReadManifestFile(const std::string& path);

}  // namespace flyball::kube
