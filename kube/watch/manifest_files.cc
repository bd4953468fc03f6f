#include "kube/watch/manifest_files.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file_watcher.h"
#include "base/read_file.h"

namespace flyball::kube {
namespace {

namespace fs = std::filesystem;

bool IsManifest(const fs::path& path) {
  const std::string extension = absl::AsciiStrToLower(path.extension().string());
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

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

}  // namespace

std::set<std::string> ManifestFiles(const std::string& folder) {
  std::set<fs::path> seen;
  std::set<std::string> files;
  FindFiles(folder, &seen, &files);
  return files;
}

absl::StatusOr<std::string> ReadManifestFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {  // a FIFO would be waited for
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no file"));
  }
  return ReadFile(path, kMaxManifestBytes);
}

}  // namespace flyball::kube
