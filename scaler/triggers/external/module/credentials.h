// With which credentials gRPC connects to an external scaler.
//
// Thread-safe.
// Limits: a server may show 8 KiB of certificates. A connection keeps them as long as a trigger
// uses it, and with what gRPC's verification decodes of them each byte takes up to 60 in memory.
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
