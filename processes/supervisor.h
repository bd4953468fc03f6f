// Runs the ProcessSets of a local API server: each has as many processes as its scale says, and for
// each process a pod with its readiness and address; its status says how many there are.
//
// Thread-safe. It has one thread, which also starts the processes. The thread sleeps in poll(2)
// until a process ends, a check can continue, something is due (by `clock`, which must advance as
// poll's timeouts do), or Wake is called.
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
  // `status_file` is replaced as a whole at each change; "": none is written. Server and clock must
  // outlive it.
  Supervisor(kube::LocalApiServer& server, Clock& clock, std::string status_file);
  ~Supervisor();  // stops

  // kUnavailable: no thread or no event descriptor can be made.
  absl::Status Start();
  // Ends all processes with SIGTERM, and with SIGKILL after their grace periods. Returns when the
  // last one has ended.
  void Stop();
  // Tells it that ProcessSets may have changed.
  void Wake();

 private:
  // A set, its state as last published, and whether the server still has it.
  struct Shown {
    Replicas replicas;
    std::vector<ReplicaView> last;
    int32_t last_wanted = -1;
    bool wanted = true;
  };

  void Run();
  void ReadSets();
  // The object exists but cannot be read, for example after its scale became more than
  // kMaxReplicas: its running processes stay as they are.
  void KeepRunning(const scaler::Node& object);
  MonotonicTime StepAll();
  // Writes the pods and the status that have changed. Returns whether any has.
  bool Show(Shown& set);
  void ShowStatus(const Shown& set);
  void WriteStatusFile() const;
  void Sleep(MonotonicTime until);

  kube::LocalApiServer& server_;
  Clock& clock_;
  const std::string status_file_;
  const std::unique_ptr<http::HttpTransport> transport_;
  std::map<std::string, Shown> sets_;  // by path of the API; used by the thread alone
  int wake_fd_ = -1;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace flyball::processes
