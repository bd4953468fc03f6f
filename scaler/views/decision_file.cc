#include "scaler/views/decision_file.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/views/decision_line.h"

namespace flyball::scaler {
namespace {

constexpr absl::Duration kWriteEvery = absl::Seconds(1);

absl::Status Failure(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(absl::StrCat(what, " ", path, ": ", std::strerror(errno)));
}

}  // namespace

DecisionFile::DecisionFile(std::string path, size_t max_bytes, Clock& clock)
    : path_(std::move(path)), max_bytes_(max_bytes), thread_(clock, [this] {
        Flush();
        return kWriteEvery;
      }) {}

absl::Status DecisionFile::Start() {
  {
    absl::MutexLock lock(&file_mutex_);
    RETURN_IF_ERROR(Open());
  }
  thread_.Start(kWriteEvery);
  return absl::OkStatus();
}

void DecisionFile::Stop() {
  thread_.Stop();
  Flush();
}

absl::Status DecisionFile::Open() {
  file_.reset(std::fopen(path_.c_str(), "ae"));
  if (file_ == nullptr) return Failure("can't open the decision log", path_);
  if (std::fseek(file_.get(), 0, SEEK_END) != 0) return Failure("can't read", path_);
  written_ = static_cast<size_t>(std::max(std::ftell(file_.get()), 0L));
  return absl::OkStatus();
}

void DecisionFile::OnDecision(const DecisionRecord& record) {
  if (record.unchanged) return;
  const uint64_t news = DecisionNews(record);
  bool many = false;
  {
    absl::MutexLock lock(&mutex_);
    const auto [last, first] = last_.try_emplace(absl::HashOf(record.managed->key), news);
    if (!first && std::exchange(last->second, news) == news) return;
    const std::string line = DecisionLine(record);
    if (waiting_.size() + line.size() > kMaxWaiting) {
      ++dropped_;
      return;
    }
    many = waiting_.size() < kMany && waiting_.size() + line.size() >= kMany;
    waiting_ += line;
  }
  if (many) thread_.Wake();
}

void DecisionFile::OnForgotten(const AutoscalerKey& key) {
  absl::MutexLock lock(&mutex_);
  last_.erase(absl::HashOf(key));
}

void DecisionFile::Flush() {
  absl::MutexLock file_lock(&file_mutex_);
  std::string lines;
  uint64_t dropped = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (waiting_.empty()) return;
    lines = std::exchange(waiting_, {});
    dropped = std::exchange(dropped_, 0);
  }
  const absl::Status status = Write(lines);
  const std::string before = std::exchange(failure_, std::string(status.message()));
  if (status.ok() && dropped > 0) {
    spdlog::warn("scaler: {} lines of the decision log were dropped: {}", dropped,
                 before.empty() ? "too many waited" : "it could not be written until now");
  }
  if (status.ok()) return;
  file_.reset();
  if (failure_ != before) spdlog::error("scaler: {}; lines are dropped until that works", failure_);
  absl::MutexLock lock(&mutex_);
  dropped_ += dropped + static_cast<uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
}

absl::Status DecisionFile::Write(const std::string& lines) {
  if (file_ == nullptr) RETURN_IF_ERROR(Open());
  if (written_ > 0 && written_ + lines.size() > max_bytes_) {
    file_.reset();
    if (std::rename(path_.c_str(), absl::StrCat(path_, ".1").c_str()) != 0) {
      return Failure("can't rename", path_);
    }
    RETURN_IF_ERROR(Open());
  }
  if (std::fwrite(lines.data(), 1, lines.size(), file_.get()) != lines.size() ||
      std::fflush(file_.get()) != 0) {
    return Failure("can't write", path_);
  }
  written_ += lines.size();
  return absl::OkStatus();
}

}  // namespace flyball::scaler
