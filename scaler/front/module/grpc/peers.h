// The credentials of our port, and the check that a peer is one of the Envoys.
//
// Thread-safe.
#pragma once

#include <functional>
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

// Credentials for mutual TLS if the options name files. `on_named` is called, on any thread, for
// each connection whose certificate has the name, if one is required. kInvalidArgument: a file is
// missing or unreadable.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsFor(
    const DataPathServerOptions& options, std::function<void()> on_named);

// OK if the certificate of the connection has the name, or no name is required. Only then may what
// the peer sends in headers be trusted.
grpc::Status CheckPeer(const grpc::ServerContextBase& call, const std::string& peer_name);

// Whether the peer connected over IPv6, so that its machine certainly has it.
bool CameByIpv6(const grpc::ServerContextBase& call);

}  // namespace flyball::front
