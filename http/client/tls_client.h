// The certificate of a TLS client and the CAs that it trusts, loaded once and shared by its
// connections. Clients that have no certificate and trust the system's roots take next to nothing.
//
// Immutable after loading; thread-safe. The certificate check is OpenSSL's: chain, dates, and the
// server's name or address among the certificate's subject alternative names.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/client/transport.h"

struct ssl_ctx_st;
struct ssl_st;

namespace flyball::http {

class TlsClient {
 public:
  // Reads the files and PEM texts that `options` names. kInvalidArgument says which of them is bad.
  static absl::StatusOr<std::shared_ptr<const TlsClient>> Load(const TransportOptions& options);

  // The same trusted CAs without a client certificate, for another host.
  std::shared_ptr<const TlsClient> WithoutIdentity() const { return without_identity_; }

  // A client's side of a connection, not connected yet, that checks that the peer is `name` (a host
  // name or an address). The caller owns it; nullptr: OpenSSL's error queue says why.
  ssl_st* NewConnection(const std::string& name) const;

 private:
  TlsClient() = default;

  std::shared_ptr<ssl_ctx_st> context_;
  bool insecure_ = false;
  bool system_roots_ = false;  // trusts the system's roots, which the context does not hold
  // The name that the server's certificate must have if it is not the host's. It is for the
  // configured host only, and so absent without the identity.
  std::string server_name_;
  std::shared_ptr<const TlsClient> without_identity_;  // null if this one has no identity
};

}  // namespace flyball::http
