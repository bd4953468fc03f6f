// A DNS server on a port of its own, for tests: answers with the addresses that it was given, or
// not at all.
//
// Thread-safe. One thread.
#pragma once

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "http/client/dns_settings.h"

namespace flyball::http {

class FakeDnsServer {
 public:
  FakeDnsServer();
  ~FakeDnsServer();
  FakeDnsServer(const FakeDnsServer&) = delete;
  FakeDnsServer& operator=(const FakeDnsServer&) = delete;

  // IPv4 addresses of a name; other names do not exist.
  void Set(const std::string& name, std::vector<std::string> addresses);
  // From now on questions are recorded and not answered.
  void Hang();

  // The names that were asked for, in order, each once.
  std::vector<std::string> asked() const;

  // Settings that lead to this server, with a resolv.conf of that text.
  DnsSettings Settings(const std::string& resolv_conf = "") const;

 private:
  void Run();
  std::string AnswerTo(const std::string& question);

  int socket_ = -1;
  int port_ = 0;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::vector<std::string>> names_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> asked_ ABSL_GUARDED_BY(mutex_);
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace flyball::http
