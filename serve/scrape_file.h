// The scrape configuration of a running server: read at start, read again when its file changes or
// on SIGHUP.
//
// Thread-safe. If a file is refused, the last good configuration stays in force; the reason is
// logged once, and LastReload() returns it until a good file replaces it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/live/scrape/config.h"
#include "base/clock.h"
#include "base/file_watcher.h"

namespace flyball::serve {

class ScrapeFile {
 public:
  // `path` "": there is no file. `besides`: jobs that exist whatever the file contains.
  //   kInvalidArgument  --live-scrape-config, with all findings, one a line; also a job of the
  //                     file that has the name of one of those
  static absl::StatusOr<std::unique_ptr<ScrapeFile>> Open(std::string path,
                                                          std::vector<scrape::Job> besides);

  // Calls `apply` with the configuration and returns its error. From then on calls it with each new
  // valid configuration, from the watcher's thread or Reload's; an error then counts like that of a
  // refused file, and the next call may be with a configuration that was in force before.
  absl::Status Watch(Clock& clock, absl::Duration interval,
                     std::function<absl::Status(const scrape::Config&)> apply);
  // No call of `apply` begins afterwards.
  void StopWatching();

  // Reads the file now. Nothing happens if its text is in force.
  void Reload();

  // OK, or why the present file is not in force.
  absl::Status LastReload() const;

 private:
  ScrapeFile(std::string path, std::vector<scrape::Job> besides)
      : path_(std::move(path)), besides_(std::move(besides)) {}
  absl::StatusOr<scrape::Config> Read(const std::string& text) const;

  const std::string path_;
  const std::vector<scrape::Job> besides_;
  absl::Mutex reload_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);  // held while `apply_` runs
  std::function<absl::Status(const scrape::Config&)> apply_ ABSL_GUARDED_BY(reload_mutex_);
  scrape::Config config_ ABSL_GUARDED_BY(reload_mutex_);  // as it was opened
  // The text that is in force; nullopt: perhaps none.
  std::optional<std::string> text_ ABSL_GUARDED_BY(reload_mutex_) = "";
  mutable absl::Mutex mutex_;
  absl::Status last_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<FileWatcher> watcher_;  // last: it calls Reload
};

}  // namespace flyball::serve
