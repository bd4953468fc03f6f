// Runs tasks in a pool of threads so that no namespace and no server can hold all of them: even if
// all servers of one namespace hang, the tasks of other namespaces begin at once.
//
// Thread-safe. A namespace gets at most an eighth of the free threads, and for one server at most
// half of what is left of that server's limit; but at least one thread, as long as one is free. So
// the first namespace leaves most threads for others, and thirty namespaces that hang still leave
// some. Waiting namespaces take turns, and so do the servers of one namespace; tasks for one server
// begin in the order in which they came. A namespace without tasks costs nothing. The queue has no
// limit of its own: its users have at most one task in it for each thing that they ask for or
// write.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball {

class Lanes {
 public:
  using Run = std::function<void(std::function<void()>)>;

  struct Limits {
    int threads = 128;   // of the pool
    int of_server = 24;  // tasks that ask one server at once, over all namespaces
    // The part of the free threads, and of a server's free tasks, that a namespace may have, as a
    // divisor. 0: all of them, so that others wait until a task ends.
    int part_of_threads = 8;
    int part_of_server = 2;
    int in_a_row = 1;  // how many tasks a namespace begins in its turn
  };

  // `run` passes a task to the pool; the pool outlives all tasks.
  Lanes(Run run, Limits limits);
  ~Lanes() { Stop(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // The function that runs tasks of that namespace for that server. With server "" there is no
  // limit, since such tasks ask no server and are short.
  Run For(absl::string_view ns, absl::string_view server);

  // Drops the tasks that wait, and all later ones.
  void Stop();

  // How many namespaces have tasks that are running or waiting.
  size_t size() const;

 private:
  class Queue;
  const std::shared_ptr<Queue> queue_;
};

}  // namespace flyball
