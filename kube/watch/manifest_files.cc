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

bool StaysUntilChanged(const std::error_code& error) {
  return error == std::errc::permission_denied || error == std::errc::too_many_symbolic_link_levels;
}

std::error_code FindFiles(const fs::path& folder, std::set<fs::path>* seen, ManifestFolder* found) {
  std::error_code error;
  const fs::path place = fs::canonical(folder, error);
  if (error || !seen->insert(place).second) return error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    if (path.filename().string().front() == '.') continue;
    std::error_code unknown;
    const fs::file_status status = fs::status(path, unknown);
    if (fs::is_directory(status)) {
      const std::error_code failure = FindFiles(path, seen, found);
      // One that is not found has been removed since.
      if (failure && failure != std::errc::no_such_file_or_directory) {
        found->unreadable[path.string()] = failure;
      }
    } else if (IsManifest(path)) {
      if (found->files.size() < FileStamps::kMaxFiles) found->files.insert(path.string());
    } else if (status.type() == fs::file_type::none) {  // it may be a folder
      found->unreadable[path.string()] = unknown;
    }
  }
  return error;
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
  const std::error_code error = FindFiles(folder_, &seen, &found);
  if (error) found.unreadable = {{folder_, error}};
  unread_ = absl::OkStatus();
  absl::Status first;
  for (const auto& [path, why] : found.unreadable) {
    const absl::Status failure = absl::ErrnoToStatus(why.value(), path);
    first.Update(failure);
    if (!StaysUntilChanged(why)) unread_.Update(failure);
  }
  const bool is_news = !first.ok() && first != told_;
  told_ = std::move(first);
  if (is_news && !error) {
    spdlog::warn("{} (the last good objects below it stay)", std::string(told_.message()));
  } else if (is_news) {
    problems.emplace_back(told_.message());
  }
  return error ? std::nullopt : std::optional(std::move(found));
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
