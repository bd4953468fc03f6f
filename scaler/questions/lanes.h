// Runs tasks in a pool so that no namespace and no server holds it: one namespace's servers may all
// hang, and every other namespace's tasks begin as if they did not exist.
//
// Thread-safe. A namespace has no more tasks under way than an eighth of the threads that are free,
// and of those that ask one server no more than half of what that server has left; but always one,
// as long as there is any. So whoever comes first leaves most for others, and thirty namespaces
// that hang still leave some. Namespaces that wait take turns; within one its servers do, and tasks
// of one server begin in the order in which they came. Who has nothing to run costs nothing. The
// queue is bounded by its users.
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
    int of_server = 24;  // at once, for all namespaces together
  };

  // `run` is the pool's; it outlives what is run.
  Lanes(Run run, Limits limits);
  ~Lanes() { Stop(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // How tasks of that namespace for that server are run. For "", nobody outside, without a limit:
  // such tasks don't wait for anybody.
  Run For(absl::string_view ns, absl::string_view server);

  // Drops what waits, and what is still to come.
  void Stop();

  // Of how many namespaces something runs or waits.
  size_t size() const;

 private:
  class Queue;
  const std::shared_ptr<Queue> queue_;
};

}  // namespace flyball::scaler
