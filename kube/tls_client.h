// What a TLS client shows and trusts, loaded once and shared by its connections.
//
// Immutable after loading; thread-safe. The certificate check is OpenSSL's: chain, dates, and the
// server's name or address among the certificate's subject alternative names.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kube/transport.h"

struct ssl_ctx_st;

namespace flyball::kube {

class TlsClient {
 public:
  // Reads the files and PEM texts that `options` names. kInvalidArgument says which of them is bad.
  static absl::StatusOr<std::shared_ptr<const TlsClient>> Load(const TransportOptions& options);

  // The same trust without a client certificate, for another host.
  std::shared_ptr<const TlsClient> WithoutIdentity() const;

  // Makes connections from `context` check that the peer is `name` (a host name or an address).
  // `why` gets the reason of a failed check; it must live as long as the context.
  void Apply(ssl_ctx_st* context, const std::string& name, std::string* why) const;

 private:
  struct Material;
  explicit TlsClient(std::shared_ptr<const Material> material, bool with_identity)
      : material_(std::move(material)), with_identity_(with_identity) {}

  std::shared_ptr<const Material> material_;
  bool with_identity_;
};

}  // namespace flyball::kube
