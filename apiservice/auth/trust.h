// What authentication trusts at present: CA bundles, the names of front proxies and their headers.
//
// Pure values; the sources are flags (files) and the ConfigMap extension-apiserver-authentication.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "apiservice/auth/ca_bundle.h"
#include "apiservice/auth/options.h"

namespace flyball::apiservice {

struct Trust {
  std::shared_ptr<const CaBundle> front_proxy_ca;  // nullptr: no front proxy
  std::vector<std::string> allowed_names;          // CNs; empty: every one
  RequestHeaderNames headers;
  std::shared_ptr<const CaBundle> client_ca;  // nullptr: no client certificates
};

// The trust that the flags configure, with bundles from the files that they name. kInvalidArgument:
// a file cannot be used; the message names it.
absl::StatusOr<Trust> TrustFromFiles(const AuthenticationOptions& options);

// The files that TrustFromFiles reads.
std::vector<std::string> TrustFiles(const AuthenticationOptions& options);

// `last`, updated with the ConfigMap's data. A key that is missing, empty or invalid leaves the
// earlier value; `problems` (may be nullptr) gets a line for each invalid one. While the list of
// allowed names is invalid, a front proxy that was not trusted before is not trusted now.
Trust TrustFromConfigMap(const std::map<std::string, std::string>& data, const Trust& last,
                         std::vector<std::string>* problems);

// Combines both: a source whose CA file is named by a flag comes entirely from the flags, the rest
// from the ConfigMap, as in k8s.io/apiserver 0.30.
Trust Combine(const AuthenticationOptions& options, const Trust& files, const Trust& config_map);

}  // namespace flyball::apiservice
