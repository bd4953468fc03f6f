// One check whether a server is ready: whether it takes a connection, or answers a GET with a
// status of 2xx or 3xx.
//
// Not thread-safe, and never blocks: the owner polls `fd` and calls Advance, for as long as it is
// willing to wait.
#pragma once

#include <optional>
#include <string>

namespace flyball::http {

class ReadinessProbe {
 public:
  // `address` is "10.0.0.7:8080" or "[fd00::7]:8080"; a probe of any other text fails. `request` is
  // all of the GET; "": a connection is enough.
  ReadinessProbe(const std::string& address, std::string request);
  ~ReadinessProbe();
  ReadinessProbe(const ReadinessProbe&) = delete;
  ReadinessProbe& operator=(const ReadinessProbe&) = delete;

  int fd() const { return fd_; }  // -1: there is nothing more to wait for
  short events() const;           // what to poll for
  // Continues as far as it can without waiting. The result; nullopt: the probe goes on. So it does
  // for ever if something on the way rejects it, since that says nothing of the server.
  std::optional<bool> Advance();

 private:
  void Fail(int error);

  int fd_ = -1;
  bool rejected_ = false;  // on the way
  bool connected_ = false;
  std::string unsent_;
  std::string answer_;  // its first bytes
};

}  // namespace flyball::http
