#include "adapter/live/discovery/file_discovery.h"

#include <glob.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "rules/config.h"
#include "spdlog/spdlog.h"

namespace flyball::discovery {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(500);

std::set<std::string> FilesOf(const std::vector<std::string>& patterns) {
  std::set<std::string> files;
  for (const std::string& pattern : patterns) {
    glob_t found = {};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      files.insert(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    globfree(&found);
  }
  return files;
}

}  // namespace

FileDiscovery::FileDiscovery(Clock& clock, scrape::TargetBoard& board, size_t job, size_t index)
    : clock_(clock),
      board_(board),
      job_(job),
      config_(board.jobs()[job]->file_discoveries[index]),
      name_(absl::StrCat("file/", index)),
      last_read_(clock.MonotonicNow()),
      thread_(clock, [this] { return Look(); }) {
  Look();
  thread_.Start(kLook);
}

absl::Duration FileDiscovery::Look() {
  const std::set<std::string> files = FilesOf(config_.files);
  std::erase_if(stamps_, [&files](const auto& known) { return !files.contains(known.first); });
  std::vector<scrape::TargetGroup> gone;
  for (auto& [file, groups] : groups_) {
    if (files.contains(file)) continue;
    for (; groups > 0; --groups) gone.push_back({absl::StrCat(file, "/", groups - 1), {}, {}});
  }
  board_.Change(job_, name_, gone);
  const MonotonicTime now = clock_.MonotonicNow();
  const bool all = now - last_read_ >= config_.refresh_interval;
  if (all) last_read_ = now;
  for (const std::string& file : files) {
    const auto known = stamps_.find(file);
    if (known == stamps_.end()) {
      // The stamps are taken before the file is read, so that a later change is noticed.
      stamps_.emplace(file, FileStamps({file}));
    } else if (!known->second.Refresh() && !all) {
      continue;
    }
    Read(file);
  }
  const auto was_read = [this](const std::string& file) { return groups_.contains(file); };
  if (!complete_ && std::all_of(files.begin(), files.end(), was_read)) {
    complete_ = true;
    board_.Complete(job_);
  }
  return kLook;
}

void FileDiscovery::Read(const std::string& file) {
  const auto text = ReadFile(file);
  absl::Status good = text.status();
  const auto before = groups_.find(file);
  const bool had_targets = before != groups_.end() && before->second > 0;
  if (good.ok() && had_targets) good = HasNotBecomeEmpty(*text);
  if (!good.ok()) {
    return spdlog::warn("{}: its last targets stay: {}", file, std::string(good.message()));
  }
  rules::Findings findings(file);
  std::vector<scrape::TargetGroup> groups = scrape::ReadTargetFile(*text, file, findings);
  if (findings.has_errors()) {
    for (const auto& finding : std::move(findings).Take()) {
      spdlog::warn("{}: its last targets stay", finding.ToString());
    }
    return;
  }
  const size_t count = groups.size();
  for (size_t i = count; i < groups_[file]; ++i) {
    groups.push_back({absl::StrCat(file, "/", i), {}, {}});
  }
  groups_[file] = count;
  board_.Change(job_, name_, groups);
}

}  // namespace flyball::discovery
