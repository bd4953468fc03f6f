// One process that this one has started, in a process group of its own.
//
// Not thread-safe. The kernel ends it when the thread that started it ends, so that it never
// outlives flyball, however that ends; what it has started itself is ended with it otherwise.
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
  std::vector<std::string> command;                // the program, looked for in PATH, and its words
  std::map<std::string, std::string> environment;  // beside that of this process
  std::string working_directory;                   // "": that of this process
};

class Process {
 public:
  // Without a shell; standard input is empty, what it prints goes to this process's standard error.
  // kNotFound, kPermissionDenied, kInvalidArgument: the program cannot be run; kUnavailable: no
  // process can be made now.
  static absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessPlan& plan);
  // Ends its whole group at once and waits until it is gone.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Readable for poll(2) from the moment it has ended.
  int exit_fd() const { return exit_fd_; }
  // To its whole group.
  void Signal(int signal);
  // How it ended ("exit status 3", "signal 9"), once it has; what is left of its group is ended.
  std::optional<std::string> Ended();

 private:
  Process(pid_t pid, int exit_fd) : pid_(pid), exit_fd_(exit_fd) {}

  const pid_t pid_;
  const int exit_fd_;
  std::optional<std::string> ended_;
};

}  // namespace flyball::processes
