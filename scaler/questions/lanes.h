// Runs tasks in a pool of threads so that neither a namespace nor a server can hold all of them:
// the servers of one namespace may all hang, and the tasks of other namespaces still begin at once.
//
// Thread-safe. A namespace gets at most an eighth of the threads that are free, and for one server
// at most half of what is left of that server's limit; but at least one thread, as long as there is
// one. So the first namespace leaves most threads for others, and thirty namespaces that hang still
// leave some. Namespaces that wait take turns, the servers of one namespace do too, and tasks for
// one server begin in the order in which they came. A namespace without tasks costs nothing. The
// queue has no limit of its own: each trigger has one task in it at most.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball::scaler {

class Lanes {
 public:
  using Run = std::function<void(std::function<void()>)>;

  struct Limits {
    int threads = 128;   // of the pool
    int of_server = 24;  // tasks that ask one server at once, of all namespaces together
  };

  // `run` hands a task to the pool. It outlives what is run.
  Lanes(Run run, Limits limits);
  ~Lanes() { Stop(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // The function that runs tasks of that namespace for that server. With server "" there is no
  // limit: such tasks ask nobody outside the process.
  Run For(absl::string_view ns, absl::string_view server);

  // Drops the tasks that wait, and all that come later.
  void Stop();

  // How many namespaces have tasks that run or wait.
  size_t size() const;

 private:
  class Queue;
  const std::shared_ptr<Queue> queue_;
};

}  // namespace flyball::scaler
