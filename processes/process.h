// One process that this one has started, in a process group of its own.
//
// Not thread-safe. The kernel ends the process when the thread that started it ends, so that it
// never outlives flyball, however that ends. Its own children are normally ended with it, but not
// in that case.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace flyball::processes {

struct ProcessPlan {
  std::vector<std::string> command;                // the program, found in PATH; its arguments
  std::map<std::string, std::string> environment;  // in addition to that of this process
  std::string working_directory;                   // "": that of this process
};

class Process {
 public:
  // Starts it without a shell. Its standard input is empty; its output goes to the standard error
  // of this process.
  //   kNotFound, kPermissionDenied, kInvalidArgument  the program cannot be run
  //   kUnavailable                                    no process can be made now
  static absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessPlan& plan);
  // Kills its whole group and waits until it has ended.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Readable for poll(2) as soon as the process has ended.
  int exit_fd() const { return exit_fd_; }
  // Sends the signal to its whole group.
  void Signal(int signal);
  // How it ended ("exit status 3", "signal 9"), once it has; kills what is left of its group.
  std::optional<std::string> Ended();

 private:
  Process(pid_t pid, int exit_fd) : pid_(pid), exit_fd_(exit_fd) {}

  const pid_t pid_;
  const int exit_fd_;
  std::optional<std::string> ended_;
};

}  // namespace flyball::processes
