// Gets pages of a running flyball: directly, or through the API server, which passes a request on
// to a pod.
//
// The API server does not pass on a user's credentials, and should not. So a page is requested as
// the account of the pods, with a token for ten minutes, which the user needs the right to create
// (serviceaccounts/token).
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
    : ClusterFlags {  // `server`: flyball's address; "": it is found through the cluster
  std::string token_file;
  std::string client_certificate, client_key;
  std::string ca_file;
  bool insecure = false;
};
void AddServerFlags(CLI::App& app, ServerFlags& flags);

class ServerAccess {
 public:
  // Without --server: in a pod the server in the same pod ($FLYBALL_SERVER, or the chart's port),
  // else the pods behind the metrics APIs, found with the user's credentials. The clock must
  // outlive it.
  static absl::StatusOr<ServerAccess> Find(const ServerFlags& flags, Clock& clock);

  // The number of replicas that can be asked; 1 if the server is asked directly.
  size_t replicas() const { return prefixes_.size(); }
  // Whether the server is asked directly, in which case it may be one of several replicas.
  bool direct() const { return token_.empty(); }
  // A page of that replica, if it answers with 200. Errors say which server answered what, and what
  // to do:
  //   kNotFound          it has no such page
  //   kPermissionDenied  the account has no right to see it
  absl::StatusOr<std::string> Get(size_t replica, const std::string& page);
  // The page of the first replica that answers with 200, else the last one's error.
  absl::StatusOr<std::string> GetFromAny(const std::string& page);

  const std::string& ns() const { return ns_; }  // --namespace, or that of the context

 private:
  ServerAccess() = default;
  static absl::StatusOr<ServerAccess> Direct(const ServerFlags& flags, Clock& clock);
  absl::Status AddPods(const doctor::ClusterFacts& facts);
  // A token of the account that the pods run as.
  absl::Status TakeToken(const std::string& ns, const std::string& account, Clock& clock);

  std::unique_ptr<http::HttpTransport> transport_;
  std::vector<std::string> prefixes_;  // for each replica: what precedes the page's path
  std::string shown_;                  // the name of the server that is asked, for messages
  std::string account_;                // the account that asks; "": the user
  std::string token_;                  // the account's token
  std::string ns_ = "default";
};

}  // namespace flyball::cmd
