// Discovers targets from files: file_sd_configs of one job.
//
// One thread checks the files every half second and reads those that have changed. A file that
// cannot be read keeps its last targets, also those of an earlier board, which stay until every
// file has been read once. A deleted file has none. (Prometheus is notified by the kernel, and also
// reads all files at each refresh_interval, as this does.)
#pragma once

#include <map>
#include <string>

#include "adapter/live/scrape/config.h"
#include "adapter/live/scrape/target_board.h"
#include "base/clock.h"
#include "base/file_watcher.h"
#include "base/repeating_thread.h"

namespace flyball::discovery {

class FileDiscovery {
 public:
  // `job` is an index of the board's jobs, `index` one of the job's file_discoveries. Clock and
  // board outlive it. The constructor reads the files once.
  FileDiscovery(Clock& clock, scrape::TargetBoard& board, size_t job, size_t index);

 private:
  absl::Duration Look();
  void Read(const std::string& file);

  Clock& clock_;
  scrape::TargetBoard& board_;
  const size_t job_;
  const scrape::FileDiscovery config_;
  const std::string name_;
  // Used only by the thread after construction: the stamps of each file, and the number of its
  // groups if it has been read.
  std::map<std::string, FileStamps> stamps_;
  std::map<std::string, size_t> groups_;
  bool complete_ = false;  // each file has been read
  MonotonicTime last_read_;
  RepeatingThread thread_;  // last: it uses the others
};

}  // namespace flyball::discovery
