// The credentials with which gRPC connects to an external scaler.
//
// Thread-safe.
// Limits: a server may show 8 KiB of certificates and 100 names. A connection keeps them as long as
// a trigger uses it; with what a verification decodes, each byte takes up to 60 in memory, or three
// times as many in a name, since gRPC keeps names too.
#pragma once

#include <memory>

#include "scaler/triggers/external/external_scaler.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace flyball::scaler {

// A CA, certificate or key that can't be used makes the calls fail.
std::shared_ptr<grpc::ChannelCredentials> CredentialsFor(const ExternalAddress& address);

}  // namespace flyball::scaler
