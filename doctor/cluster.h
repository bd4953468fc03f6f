// The way from the API server to the metrics server: what is there, and what is wrong with it.
//
// The facts are plain values; the checks are pure. The looks (cluster_look.cc) gather the facts and
// those of rights.h: they block, and each of their calls ends within its timeout. They only read:
// GET, and SelfSubjectAccessReviews, which store nothing.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "doctor/finding.h"
#include "doctor/objects.h"
#include "doctor/rights.h"
#include "http/client/transport.h"
#include "kube/client/api_client.h"
#include "scaler/spec/dialect.h"

namespace flyball::doctor {

inline constexpr char kCustomGroup[] = "custom.metrics.k8s.io";
inline constexpr char kExternalGroup[] = "external.metrics.k8s.io";
inline constexpr char kResourceGroup[] = "metrics.k8s.io";

// Who wants an API group: "2 external rules", "resourceRules", an autoscaler's title.
struct Wanted {
  std::string group;
  std::string by;
};

// The Service that APIServices lead to, and what stands behind it. Where the Service cannot be read
// the rest was not asked for.
struct Backend {
  std::string ns, name;
  int port = 443;
  absl::StatusOr<Service> service;
  absl::StatusOr<Endpoints> endpoints;  // of an ExternalName Service none are needed
  absl::StatusOr<std::vector<ServerPod>> pods;
  absl::StatusOr<std::string> shown_pem;  // the certificates that it shows, where it can be reached

  std::string full_name() const { return ns + "/" + name; }
  // The name that the API server wants in the certificate.
  std::string tls_name() const { return name + "." + ns + ".svc"; }
  // The pod that the settings of the server are taken from; nullptr: none looks like one.
  const ServerPod* server() const;
};

// When `version` is an error nothing else was asked for.
struct ClusterFacts {
  std::string url;
  absl::StatusOr<std::string> version;
  absl::StatusOr<scaler::ServerVersion> server_version;  // the same, as numbers
  absl::StatusOr<std::vector<ApiService>> api_services;  // of the three groups
  std::vector<Backend> backends;                         // of those that lead to a Service
  absl::Status authentication;  // reading the ConfigMap extension-apiserver-authentication

  // The backend of an APIService; nullptr: it has none.
  const Backend* BackendOf(const ApiService& api) const;
  // The backend that is started with rules; nullptr: none.
  const Backend* RuleServer() const;
};

Finding CheckApiServer(const ClusterFacts& facts);
// Each group that is wanted is there and Available; each that is there is Available.
Findings CheckApiServices(const ClusterFacts& facts, const std::vector<Wanted>& wanted);
Findings CheckBackend(const Backend& backend);
// Of all APIServices of one backend.
Findings CheckCertificate(const ClusterFacts& facts, const Backend& backend, absl::Time now);
Finding CheckAuthentication(const ClusterFacts& facts);

// What a person without the right to look is told.
std::string MayLook(absl::string_view verb, absl::string_view what);

struct LookOptions {
  std::string url;          // of the API server, to show
  bool in_cluster = false;  // addresses of Services can be reached
  absl::Duration timeout = absl::Seconds(10);
};

// With an API server that does not answer nothing but `version` is set.
ClusterFacts LookAtCluster(http::HttpTransport& server, Clock& clock, const LookOptions& options);

// Asked one after the other; not further once one can't be asked. `namespaces`: where to ask for a
// right to list that is denied for all namespaces.
std::vector<RightAnswer> AskRights(kube::ApiClient& api, const std::vector<Right>& rights,
                                   const std::vector<std::string>& namespaces);

}  // namespace flyball::doctor
