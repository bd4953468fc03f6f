// Serving certificates: how long they are valid, and whether the API server would accept one.
//
// Pure, except for ShownCertificates. The rule is that of kube-apiserver's aggregator, which
// verifies against spec.caBundle for the name SERVICE.NAMESPACE.svc and looks only at subject
// alternative names.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::doctor {

struct Validity {
  absl::Time not_before, not_after;
};

// The validity of the first certificate in a PEM text. kInvalidArgument: there is none.
absl::StatusOr<Validity> ReadValidity(absl::string_view pem);

// Why the first certificate of `chain_pem` is not valid for `name` under the authorities of
// `ca_pem`, in OpenSSL's words; "" if it is valid. kInvalidArgument: a text has no certificate.
absl::StatusOr<std::string> WhyNotTrusted(absl::string_view chain_pem, absl::string_view ca_pem,
                                          const std::string& name, absl::Time now);

// Connects to a TLS server, returns the certificates that it presents for `server_name` as PEM, its
// own first, and disconnects (tls_probe.cc). Blocks; sends nothing beyond the handshake, and
// verifies nothing. `host` is a name or an address, IPv6 without brackets.
//   kUnavailable  there was no handshake within `timeout`, with the reason (for the lookup of the
//                 name the resolver's limits apply)
absl::StatusOr<std::string> ShownCertificates(const std::string& host, int port,
                                              const std::string& server_name,
                                              absl::Duration timeout);

}  // namespace flyball::doctor
