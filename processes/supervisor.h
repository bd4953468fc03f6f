// Runs the ProcessSets of a local API server: each has as many processes as its scale says, and a
// pod for each of them, with its readiness and address; its status says how many there are.
//
// Thread-safe. One thread, which also starts the processes and sleeps in poll(2) until a process
// ends, a check goes on, a time has come (by `clock`, whose seconds must be those of poll) or
// somebody wakes it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/local/local_api_server.h"
#include "processes/replicas.h"

namespace flyball::processes {

class Supervisor {
 public:
  // `status_file` is replaced whole at each change; "": none is written. Server and clock outlive
  // it.
  Supervisor(kube::LocalApiServer& server, Clock& clock, std::string status_file);
  ~Supervisor();  // stops

  // kUnavailable: no thread, or no event descriptor.
  absl::Status Start();
  // Ends all processes: they get SIGTERM, after the grace period of each SIGKILL, and Stop comes
  // back when the last is gone.
  void Stop();
  // ProcessSets may have changed.
  void Wake();

 private:
  // A set, what it was when it was shown last, and whether the server still has it.
  struct Shown {
    Replicas replicas;
    std::vector<ReplicaView> last;
    int32_t last_wanted = -1;
    bool wanted = true;
  };

  void Run();
  void ReadSets();
  MonotonicTime StepAll();
  // Whether anything is to be seen that was not there before.
  bool Show(Shown& set);
  void ShowStatus(const Shown& set);
  void WriteStatusFile() const;
  void Sleep(MonotonicTime until);

  kube::LocalApiServer& server_;
  Clock& clock_;
  const std::string status_file_;
  const std::unique_ptr<http::HttpTransport> transport_;
  std::map<std::string, Shown> sets_;  // by path of the API; the thread's alone
  int wake_fd_ = -1;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace flyball::processes
