#include "serve/scrape_file.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "rules/config.h"
#include "serve/logging.h"

namespace flyball::serve {
namespace {

constexpr char kFlag[] = "--live-scrape-config: ";

}  // namespace

absl::StatusOr<std::unique_ptr<ScrapeFile>> ScrapeFile::Open(std::string path,
                                                             std::vector<scrape::Job> besides) {
  auto file = absl::WrapUnique(new ScrapeFile(std::move(path), std::move(besides)));
  absl::MutexLock lock(&file->reload_mutex_);
  if (!file->path_.empty()) {
    absl::StatusOr<std::string> text = ReadFile(file->path_);
    if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat(kFlag, text.status().message()));
    file->text_ = *std::move(text);
  }
  ASSIGN_OR_RETURN(file->config_, file->Read(*file->text_));
  return file;
}

absl::StatusOr<scrape::Config> ScrapeFile::Read(const std::string& text) const {
  scrape::Config config;
  if (!path_.empty()) {
    rules::Findings findings(path_);
    config = scrape::ReadScrapeConfig(text, findings);
    const bool refused = findings.has_errors();
    std::vector<std::string> lines;
    for (const rules::Finding& finding : std::move(findings).Take()) {
      if (!refused) spdlog::warn("{}", finding.ToString());
      lines.push_back(finding.ToString());
    }
    if (refused) {
      return absl::InvalidArgumentError(absl::StrCat(kFlag, "\n", ProblemLines(std::move(lines))));
    }
  }
  for (const scrape::Job& job : besides_) {
    for (const scrape::Job& of_file : config.jobs) {
      if (of_file.name != job.name) continue;
      return absl::InvalidArgumentError(absl::StrCat(kFlag, "job ", job.name, " of ", path_,
                                                     " has the name of one that a flag asks for"));
    }
    config.jobs.push_back(job);
  }
  return config;
}

absl::Status ScrapeFile::Watch(Clock& clock, absl::Duration interval,
                               std::function<absl::Status(const scrape::Config&)> apply) {
  {
    absl::MutexLock lock(&reload_mutex_);
    RETURN_IF_ERROR(apply(config_));
    config_ = {};
    apply_ = std::move(apply);
  }
  if (path_.empty()) return absl::OkStatus();
  watcher_ = std::make_unique<FileWatcher>(clock, FileStamps({path_}), interval, [this] {
    Reload();
    // A failure because a server is unreachable is tried again with the next change.
    return absl::IsUnavailable(LastReload()) ? absl::OkStatus() : LastReload();
  });
  Reload();  // what changed between Open and the watcher's first look
  return absl::OkStatus();
}

void ScrapeFile::StopWatching() {
  watcher_.reset();
  absl::MutexLock lock(&reload_mutex_);
  apply_ = nullptr;
}

void ScrapeFile::Reload() {
  absl::MutexLock lock(&reload_mutex_);
  if (path_.empty() || apply_ == nullptr) return;
  absl::StatusOr<std::string> text = ReadFile(path_);
  absl::Status status = text.status();
  if (text.ok() && *text != text_) {
    const absl::Status filled = HasNotBecomeEmpty(*text);
    const absl::StatusOr<scrape::Config> config = filled.ok() ? Read(*text) : filled;
    status = config.status();
    if (config.ok()) {
      status = apply_(*config);
      text_.reset();  // after a failure the one before may not be in force either
      if (status.ok()) text_ = *std::move(text);
    }
  } else if (text.ok() && LastReload().ok()) {
    return;
  }
  {
    absl::MutexLock last_lock(&mutex_);
    if (!status.ok() && status == last_) return;
    last_ = status;
  }
  if (status.ok()) {
    spdlog::info("{}: now in force", path_);
  } else {
    LogErrorLines(absl::StrCat(
        path_, ": refused, the last good configuration stays in force: ", status.message()));
  }
}

absl::Status ScrapeFile::LastReload() const {
  absl::MutexLock lock(&mutex_);
  return last_;
}

}  // namespace flyball::serve
