#include "kube/watch/manifest_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file_watcher.h"
#include "base/read_file.h"
#include "spdlog/spdlog.h"

namespace flyball::kube {
namespace {

namespace fs = std::filesystem;

bool IsManifest(const fs::path& path) {
  const std::string extension = absl::AsciiStrToLower(path.extension().string());
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

absl::Status Failed(const fs::path& path, const std::error_code& error) {
  return absl::ErrnoToStatus(error.value(), path.string());
}

absl::Status FindFiles(const fs::path& folder, std::set<fs::path>* seen, ManifestFolder* found) {
  std::error_code error;
  const fs::path place = fs::canonical(folder, error);
  if (error) return Failed(folder, error);
  if (!seen->insert(place).second) return absl::OkStatus();
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    if (path.filename().string().front() == '.') continue;
    std::error_code unknown;
    const fs::file_status status = fs::status(path, unknown);
    if (fs::is_directory(status)) {
      const absl::Status read = FindFiles(path, seen, found);
      // One that is not found has been removed since.
      if (!read.ok() && !absl::IsNotFound(read)) found->unreadable[path.string()] = read;
    } else if (IsManifest(path)) {
      if (found->files.size() < FileStamps::kMaxFiles) found->files.insert(path.string());
    } else if (status.type() == fs::file_type::none) {  // it may be a folder
      found->unreadable[path.string()] = Failed(path, unknown);
    }
  }
  return error ? Failed(folder, error) : absl::OkStatus();
}

}  // namespace

bool ManifestFolder::MayHave(const std::string& file) const {
  return files.contains(file) ||
         std::any_of(unreadable.begin(), unreadable.end(), [&](const auto& folder) {
           return absl::StartsWith(file, absl::StrCat(folder.first, "/"));
         });
}

std::optional<ManifestFolder> ManifestFiles::Find(std::vector<std::string>& problems) {
  std::set<fs::path> seen;
  ManifestFolder found;
  absl::Status unread = FindFiles(folder_, &seen, &found);
  const bool has_files = unread.ok();
  if (!found.unreadable.empty()) unread.Update(found.unreadable.begin()->second);
  const bool is_news = !unread.ok() && unread != unread_;
  unread_ = std::move(unread);
  if (is_news && has_files) {
    spdlog::warn("{} (the last good objects below it stay)", std::string(unread_.message()));
  } else if (is_news) {
    problems.emplace_back(unread_.message());
  }
  return has_files ? std::optional(std::move(found)) : std::nullopt;
}

absl::StatusOr<std::string> ManifestFiles::Read(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {  // a FIFO would be waited for
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no file"));
  }
  absl::StatusOr<std::string> text = ReadFile(path, kMaxManifestBytes);
  if (!absl::IsInvalidArgument(text.status())) unread_.Update(text.status());
  return text;
}

}  // namespace flyball::kube
