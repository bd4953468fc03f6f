// Where the pages of a running flyball are asked for: directly, or through the API server, which
// takes a request on to a pod.
//
// The API server does not hand a user's credentials on, and it should not: a page is asked for as
// the account that the pods run as, with a token of ten minutes that the user may have made for it
// (create of serviceaccounts/token).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cmd/flags/cluster_flags.h"
#include "doctor/cluster.h"
#include "http/client/transport.h"

namespace flyball::cmd {

struct ServerFlags
    : ClusterFlags {  // `server`: where flyball serves; "": found through the cluster
  std::string token_file;
  std::string client_certificate, client_key;
  std::string ca_file;
  bool insecure = false;
};
void AddServerFlags(CLI::App& app, ServerFlags& flags);

class ServerAccess {
 public:
  // Without --server: in a pod the server beside it ($FLYBALL_SERVER, or the chart's port), else
  // the pods behind the metrics APIs, found with the user's credentials. The clock outlives it.
  static absl::StatusOr<ServerAccess> Find(const ServerFlags& flags, Clock& clock);

  // How many replicas there are to ask; one where the server is asked directly.
  size_t replicas() const { return prefixes_.size(); }
  // It is asked directly: it may be one of several.
  bool direct() const { return token_.empty(); }
  // A page of the `replica`-th as it answers with 200. Errors say who answered what, and what to
  // do:
  //   kNotFound          it has no such page
  //   kPermissionDenied  the account may not see it
  absl::StatusOr<std::string> Get(size_t replica, const std::string& page);
  // That of the first replica that answers with 200, else the last one's error.
  absl::StatusOr<std::string> GetFromAny(const std::string& page);

  const std::string& ns() const { return ns_; }  // --namespace, or that of the context

 private:
  ServerAccess() = default;
  static absl::StatusOr<ServerAccess> Direct(const ServerFlags& flags, Clock& clock);
  absl::Status AddPods(const doctor::ClusterFacts& facts);
  // A token of the account that the pods run as.
  absl::Status TakeToken(const std::string& ns, const std::string& account, Clock& clock);

  std::unique_ptr<http::HttpTransport> transport_;
  std::vector<std::string> prefixes_;  // of the page's path, for each replica
  std::string shown_;                  // who is asked, for messages
  std::string account_;                // as whom; "": as the user
  std::string token_;                  // of the account
  std::string ns_ = "default";
};

}  // namespace flyball::cmd
