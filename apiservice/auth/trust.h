// What authentication goes by at the moment: CA bundles, names of front proxies, their headers.
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

// What the flags say: bundles of the files they name. kInvalidArgument: a file that is named cannot
// be used; the message names it.
absl::StatusOr<Trust> TrustFromFiles(const AuthenticationOptions& options);

// The files that TrustFromFiles reads.
std::vector<std::string> TrustFiles(const AuthenticationOptions& options);

// `last` with what the ConfigMap's data says. A key that is missing, empty or broken leaves what
// was known; `problems` (may be nullptr) gets a line for each broken one. While the list of
// allowed names is broken, a front proxy that was not trusted before is not trusted now.
Trust TrustFromConfigMap(const std::map<std::string, std::string>& data, const Trust& last,
                         std::vector<std::string>* problems);

// What counts: a source whose CA file is named by a flag comes from the flags whole, the rest from
// the ConfigMap, as in k8s.io/apiserver 0.30.
Trust Combine(const AuthenticationOptions& options, const Trust& files, const Trust& config_map);

}  // namespace flyball::apiservice
