// Targets out of files: file_sd_configs of one job.
//
// One thread looks at the files every half a second, and reads those anew that have changed; a file
// that can't be read keeps its last targets, one that is gone has none. (Prometheus is told by the
// kernel, and reads again each refresh_interval: that often the files are read here too.)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "adapter/live/scrape/config.h"
#include "adapter/live/scrape/target_board.h"
#include "base/clock.h"
#include "base/file_watcher.h"
#include "base/repeating_thread.h"

namespace flyball::discovery {

class FileDiscovery {
 public:
  // `job` is an index of the board's jobs, `index` one of the job's file_discoveries. Clock and
  // board outlive it. The files have been read once when it is made.
  FileDiscovery(Clock& clock, scrape::TargetBoard& board, size_t job, size_t index);

 private:
  absl::Duration Look();
  void Read(const std::string& file);

  Clock& clock_;
  scrape::TargetBoard& board_;
  const size_t job_;
  const scrape::FileDiscovery config_;
  const std::string name_;
  // The thread's own after construction: the files that there are with what is known of them, and
  // how many groups each has told.
  std::map<std::string, FileStamps> stamps_;
  std::map<std::string, size_t> groups_;
  MonotonicTime last_read_;
  RepeatingThread thread_;  // last: it uses the others
};

}  // namespace flyball::discovery
