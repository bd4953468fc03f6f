// Runs tasks in a pool, of one server only so many at once, so that a server that hangs holds a few
// threads and not all of them.
//
// Thread-safe. Tasks of one server begin in the order in which they came. A server that nobody has
// a Run of costs nothing. The queue is bounded by its users.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace flyball::scaler {

class Lanes {
 public:
  using Run = std::function<void(std::function<void()>)>;

  // `run` is the pool's; it outlives what is run.
  Lanes(Run run, int at_once) : run_(std::move(run)), at_once_(at_once) {}
  ~Lanes() { Stop(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // How tasks for that server are run; for "" without a limit.
  Run For(absl::string_view server);

  // Drops what waits, and what is still to come.
  void Stop();

  size_t size() const;

 private:
  class Lane;

  const Run run_;
  const int at_once_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::weak_ptr<Lane>> lanes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scaler
