// A cluster made from the objects of a folder: an API server in this process that has them, and
// processes for the ProcessSets among them.
//
// Thread-safe. Ends its processes when it is destroyed or stopped.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/local/local_api_server.h"
#include "processes/folder_objects.h"
#include "processes/supervisor.h"

namespace flyball::processes {

// The file with the status of the processes of `folder`: a hidden file in it, which is not read as
// an object; or processes.json in `state_folder`, if that is not "".
std::string StatusFileOf(const std::string& folder, const std::string& state_folder = "");

class LocalCluster {
 public:
  // Reads the folder, and starts no process yet. The clock must outlive it. kInvalidArgument: the
  // folder or a file is bad.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Make(const std::string& folder, Clock& clock,
                                                            const std::string& state_folder = "");

  // A connection to its API server, which must be destroyed before the cluster.
  std::unique_ptr<http::HttpTransport> Connect() { return server_.Connect(); }

  absl::Status Start() { return supervisor_.Start(); }
  void Stop() { supervisor_.Stop(); }

 private:
  LocalCluster(const std::string& status_file, Clock& clock)
      : server_(clock), supervisor_(server_, clock, status_file) {}

  kube::LocalApiServer server_;
  Supervisor supervisor_;
  std::unique_ptr<FolderObjects> objects_;
};

}  // namespace flyball::processes
