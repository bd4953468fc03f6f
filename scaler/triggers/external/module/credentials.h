// The credentials with which gRPC connects to an external scaler.
//
// Thread-safe.
// Limits: a server may show 8 KiB of certificates, have 100 names, and name authorities in 16 KiB.
// A connection keeps them as long as a trigger uses it. With what a verification decodes each byte
// of certificates takes up to 60 in memory; of names, which gRPC keeps too, three times as many; of
// the names of authorities 50.
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
