#include "base/file_watcher.h"
#include "base/read_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

namespace flyball {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kYoungNs = 2'000'000'000;
constexpr uint64_t kMaxHashedBytes = 4u << 20;
// A writer that rewrites a file in place empties it first; the file must not be read at that
// moment.
constexpr absl::Duration kStandsStill = absl::Milliseconds(50);
constexpr int kMostLooks = 20;  // at files that never stand still

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The file system's clock is the machine's wall clock.
int64_t FileClockNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now);
}

size_t HashFile(const std::string& path) {
  return std::hash<std::string>()(ReadFile(path).value_or(""));
}

}  // namespace

bool FileStamps::Stamp::SameFile(const Stamp& other) const {
  return target == other.target && device == other.device && inode == other.inode &&
         size == other.size && modified_ns == other.modified_ns && changed_ns == other.changed_ns;
}

FileStamps::FileStamps(std::vector<std::string> paths) : paths_(std::move(paths)), last_(Look()) {}

bool FileStamps::Refresh() {
  Stamps now = Look();
  bool changed = now.size() != last_.size();
  for (auto& [path, stamp] : now) {
    const auto before = last_.find(path);
    if (before == last_.end() || !stamp.SameFile(before->second)) {
      changed = true;
    } else if (before->second.young) {
      if (!stamp.young) stamp.content_hash = HashFile(path);
      changed = changed || stamp.content_hash != before->second.content_hash;
    }
  }
  last_ = std::move(now);
  return changed;
}

FileStamps::Stamps FileStamps::Look() const {
  Stamps stamps;
  for (const std::string& path : paths_) {
    Folders seen;
    AddPath(path, &seen, &stamps);
  }
  return stamps;
}

void FileStamps::AddPath(const std::string& path, Folders* seen, Stamps* stamps) const {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    AddFile(path, stamps);
    return;
  }
  if (!seen->insert(fs::canonical(path, error).string()).second) return;
  fs::directory_iterator entries(path, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().filename().string().front() == '.') continue;
    AddPath(entries->path().string(), seen, stamps);
  }
  if (error) AddUnreadable(path, error.value(), stamps);
}

void FileStamps::AddUnreadable(const std::string& path, int error, Stamps* stamps) {
  if (error == ENOENT || stamps->size() >= kMaxFiles) return;
  Stamp stamp;
  stamp.target = std::strerror(error);
  stamps->emplace(path, std::move(stamp));
}

void FileStamps::AddFile(const std::string& path, Stamps* stamps) const {
  struct stat info {};
  if (stamps->size() >= kMaxFiles) return;
  if (stat(path.c_str(), &info) != 0) return AddUnreadable(path, errno, stamps);
  Stamp stamp;
  std::error_code error;
  stamp.target = fs::canonical(path, error).string();
  stamp.device = info.st_dev;
  stamp.inode = info.st_ino;
  stamp.size = static_cast<uint64_t>(info.st_size);
  stamp.modified_ns = Nanoseconds(info.st_mtim);
  stamp.changed_ns = Nanoseconds(info.st_ctim);
  stamp.young = FileClockNow() - stamp.changed_ns < kYoungNs && stamp.size <= kMaxHashedBytes &&
                S_ISREG(info.st_mode);
  if (stamp.young) stamp.content_hash = HashFile(path);
  stamps->emplace(path, std::move(stamp));
}

FileWatcher::FileWatcher(Clock& clock, FileStamps before, absl::Duration interval,
                         std::function<absl::Status()> on_change)
    : stamps_(std::move(before)),
      thread_(clock,
              [this, interval, call = std::move(on_change), looks = 0, failed = false]() mutable {
                const bool changed = stamps_.Refresh();
                if (changed && ++looks < kMostLooks) return std::min(interval, kStandsStill);
                if (std::exchange(looks, 0) > 0 || failed) failed = !call().ok();
                return interval;
              }) {
  thread_.Start(interval);
}

}  // namespace flyball
