// One check whether a process on this machine is ready: whether something listens at its port of
// the loopback interface, or answers GET with a status of 2xx or 3xx.
//
// Not thread-safe, and never blocks: the owner polls `fd` and calls Advance.
#pragma once

#include <cstdint>
#include <string>

#include "processes/process_set_spec.h"

namespace flyball::processes {

class Probe {
 public:
  enum class Result { kWait, kReady, kNotReady };

  // The check must not be kNone.
  Probe(const Readiness& readiness, int32_t port);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  int fd() const { return fd_; }
  short events() const;  // what to poll for
  // Continues as far as it can without waiting.
  Result Advance();

 private:
  enum class Step { kConnect, kSend, kReceive };

  const Readiness readiness_;
  int fd_ = -1;
  Step step_ = Step::kConnect;
  std::string unsent_;
  std::string answer_;  // its first bytes
};

}  // namespace flyball::processes
