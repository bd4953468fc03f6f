// The rule file of a running server: read at start, read again when it changes or on SIGHUP.
//
// Thread-safe. If a file is refused, the last good rules stay in force; its findings are logged
// once, and LastReload() and the metrics say so until a good file replaces it.
// Metrics: flyball_rules_reload_success (1: the last reading was good),
// flyball_rules_reloads_total{result}, flyball_rules_last_reload_success_timestamp_seconds.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/file_watcher.h"
#include "rules/compiled_rules.h"

namespace flyball::serve {

using RulesPtr = std::shared_ptr<const rules::CompiledRules>;

// "2 rules, 1 external rule, resource rules".
std::string CountedRules(const rules::CompiledRules& rules);

class RuleFile {
 public:
  // Reads and compiles. kInvalidArgument: all findings, one a line; kNotFound: no such file.
  static absl::StatusOr<std::unique_ptr<RuleFile>> Open(std::string path, Clock& clock,
                                                        prometheus::Registry& metrics);

  // The last good rules.
  RulesPtr Rules() const;

  // Calls `on_rules` with each new good set from now on, from the watcher's thread or Reload's.
  void Watch(absl::Duration interval, std::function<void(RulesPtr)> on_rules);

  // Ends watching: afterwards `on_rules` is called only from Reload.
  void StopWatching();

  // Reads the file now. Nothing happens if the text is unchanged.
  void Reload();

  // OK, or why the present file is not in force.
  absl::Status LastReload() const;

 private:
  RuleFile(std::string path, Clock& clock, prometheus::Registry& metrics);
  // `warnings` gets the warnings about a good file, one a line.
  absl::StatusOr<RulesPtr> Read(std::vector<std::string>& warnings) const;

  const std::string path_;
  Clock& clock_;
  prometheus::Gauge& success_;
  prometheus::Gauge& last_success_;
  prometheus::Family<prometheus::Counter>& reloads_;
  absl::Mutex reload_mutex_;  // one reload at a time; held while `on_rules_` runs
  std::function<void(RulesPtr)> on_rules_ ABSL_GUARDED_BY(reload_mutex_);
  mutable absl::Mutex mutex_;
  RulesPtr rules_ ABSL_GUARDED_BY(mutex_);
  absl::Status last_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<FileWatcher> watcher_;  // last: it calls Reload
};

}  // namespace flyball::serve
