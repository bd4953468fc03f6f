// Converts the flags of `flyball serve` to the options of the libraries below. Pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "apiservice/options.h"
#include "serve/flags.h"

namespace flyball::serve {

// Which of the two reviews of a user a cluster is asked for. With --objects, those whose kubeconfig
// is given; otherwise both, by default by the cluster of this process's pod.
struct Reviewers {
  bool authentication = false;  // TokenReview, and the ConfigMap with its authorities
  bool authorization = false;   // SubjectAccessReview
};
Reviewers ReviewersOf(const ServeFlags& flags);

// If no cluster is asked what users may do, every authenticated user may do everything. If users
// cannot be distinguished either, the server stays on loopback: another --bind-address is
// kInvalidArgument, and the default is 127.0.0.1.
absl::StatusOr<apiservice::ServerOptions> ServerOptionsFrom(const ServeFlags& flags);

// `CERT,KEY[:NAME,…]` of --tls-sni-cert-key.
absl::StatusOr<http::SniCertificate> ParseSniCertificate(const std::string& text);

}  // namespace flyball::serve
