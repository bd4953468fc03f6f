// The objects of a folder as a cluster: an API server in this process that holds them, and the
// processes of the ProcessSets among them.
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

// Where the status of the processes of `folder` is written down: a hidden file in it, which is not
// read as an object.
std::string StatusFileOf(const std::string& folder);

class LocalCluster {
 public:
  // Reads the folder; no process is started yet. The clock outlives it. kInvalidArgument: the
  // folder or a file is bad.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Make(const std::string& folder,
                                                            Clock& clock);

  // A connection to its API server; it ends before the cluster.
  std::unique_ptr<http::HttpTransport> Connect() { return server_.Connect(); }

  absl::Status Start() { return supervisor_.Start(); }
  void Stop() { supervisor_.Stop(); }

 private:
  LocalCluster(const std::string& folder, Clock& clock)
      : server_(clock), supervisor_(server_, clock, StatusFileOf(folder)) {}

  kube::LocalApiServer server_;
  Supervisor supervisor_;
  std::unique_ptr<FolderObjects> objects_;
};

}  // namespace flyball::processes
