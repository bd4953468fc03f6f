// Serving certificates: what they say, and whether the API server would take one.
//
// Pure, but for ShownCertificates. The time is passed in. Source of the rule: kube-apiserver's
// aggregator verifies against spec.caBundle for the name SERVICE.NAMESPACE.svc, subject alternative
// names only.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::doctor {

struct Validity {
  absl::Time not_before, not_after;
};

// Of the first certificate of a PEM text. kInvalidArgument: there is none.
absl::StatusOr<Validity> ReadValidity(absl::string_view pem);

// "" when the first certificate of `chain_pem` is good for `name` under the authorities of
// `ca_pem`, else why not, in OpenSSL's words. kInvalidArgument: a text has no certificate.
absl::StatusOr<std::string> WhyNotTrusted(absl::string_view chain_pem, absl::string_view ca_pem,
                                          const std::string& name, absl::Time now);

// Asks a TLS server for the certificates that it shows for `server_name`, its own first, as PEM,
// and hangs up (tls_probe.cc). Blocking; nothing is sent beyond the handshake, nothing is verified.
// `host` is a name or an address, IPv6 without brackets. kUnavailable with the reason when there is
// no handshake within `timeout` (looking up a name is bounded by the resolver's limits).
absl::StatusOr<std::string> ShownCertificates(const std::string& host, int port,
                                              const std::string& server_name,
                                              absl::Duration timeout);

}  // namespace flyball::doctor
