// Writes the decisions that differ from their predecessor as lines of a file: --decision-log.
//
// Thread-safe; Start and Stop are called once each. Lines are made by the thread that decides and
// wait in memory for a thread that writes them each second, or sooner when there are many, so that
// no decision waits for a disk. When they would make the file longer than `max_bytes`, it is
// renamed to FILE.1, which replaces an earlier one, and begun anew: both files together are never
// longer than twice `max_bytes`, if that is at least kMaxWaiting.
//
// Limits: kMaxWaiting bytes of lines that wait; beyond that, and while the file cannot be written,
// lines are dropped. Why it cannot be written is logged once, and how many lines were dropped when
// writing works again. 16 bytes for each autoscaler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/repeating_thread.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

class DecisionFile : public DecisionObserver {
 public:
  static constexpr size_t kMaxWaiting = 1 << 20;
  static constexpr size_t kMany = kMaxWaiting / 8;

  DecisionFile(std::string path, size_t max_bytes, Clock& clock);
  ~DecisionFile() override { Stop(); }

  // kUnavailable: the file can't be opened.
  absl::Status Start();
  // Writes the lines that wait and ends the thread.
  void Stop();

  void OnDecision(const DecisionRecord& record) override;
  void OnForgotten(const AutoscalerKey& key) override;

  // Writes the lines that wait now.
  void Flush();

 private:
  struct CloseFile {
    void operator()(FILE* file) const { std::fclose(file); }
  };

  absl::Status Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(file_mutex_);
  absl::Status Write(const std::string& lines) ABSL_EXCLUSIVE_LOCKS_REQUIRED(file_mutex_);

  const std::string path_;
  const size_t max_bytes_;
  absl::Mutex mutex_;
  // DecisionNews of the last line, by the hash of the autoscaler's key.
  absl::flat_hash_map<uint64_t, uint64_t> last_ ABSL_GUARDED_BY(mutex_);
  std::string waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Mutex file_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  std::unique_ptr<FILE, CloseFile> file_ ABSL_GUARDED_BY(file_mutex_);
  std::string failure_ ABSL_GUARDED_BY(file_mutex_);  // of the last write; "" if it succeeded
  size_t written_ ABSL_GUARDED_BY(file_mutex_) = 0;   // bytes of the file
  RepeatingThread thread_;                            // last, since it uses the members above
};

}  // namespace flyball::scaler
