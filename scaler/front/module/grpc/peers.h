// Whom we speak with: the credentials of our port, and whether a peer is one of the Envoys.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "scaler/front/module/data_path_server.h"

namespace grpc {
class ServerContextBase;
class ServerCredentials;
class Status;
}  // namespace grpc

namespace flyball::front {

// Of TLS both ways where the options name files. kInvalidArgument: one is missing or unreadable.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsFor(
    const DataPathServerOptions& options);

// OK where the certificate of the connection has the name, or no name is asked for. What a peer
// says in headers is believed only then.
grpc::Status CheckPeer(const grpc::ServerContextBase& call, const std::string& peer_name);

}  // namespace flyball::front
