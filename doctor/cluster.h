// Checks the way from the API server to the metrics server.
//
// The facts are plain values; the checks are pure. The looks (cluster_look.cc) gather the facts and
// those of rights.h: they block, and each of their calls ends within its timeout. They only read:
// they use GET, and SelfSubjectAccessReviews, which store nothing.
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

// An API group that something needs.
struct Wanted {
  std::string group;
  std::string by;  // "2 external rules", "resourceRules", an autoscaler's title
};

// The Service that APIServices lead to, and its endpoints and pods. If the Service could not be
// read, nothing else was asked for.
struct Backend {
  std::string ns, name;
  int port = 443;
  absl::StatusOr<Service> service;
  absl::StatusOr<Endpoints> endpoints;  // an ExternalName Service needs none
  absl::StatusOr<std::vector<ServerPod>> pods;
  absl::StatusOr<std::string> shown_pem;  // the certificates that it presents, if it is reachable

  std::string full_name() const { return ns + "/" + name; }
  // The name that the API server expects in the certificate.
  std::string tls_name() const { return name + "." + ns + ".svc"; }
  // The pod whose flags count as the server's; nullptr if no pod runs such a server.
  const ServerPod* server() const;
};

// If `version` is an error, nothing else was asked for.
struct ClusterFacts {
  std::string url;
  absl::StatusOr<std::string> version;
  absl::StatusOr<scaler::ServerVersion> server_version;  // the same, as numbers
  absl::StatusOr<std::vector<ApiService>> api_services;  // of the three groups above
  std::vector<Backend> backends;                         // the Services that they lead to
  absl::Status authentication;  // reading the ConfigMap extension-apiserver-authentication

  // The backend of an APIService; nullptr if it has none.
  const Backend* BackendOf(const ApiService& api) const;
  // The backend whose server is started with rules; nullptr if there is none.
  const Backend* RuleServer() const;
};

Finding CheckApiServer(const ClusterFacts& facts);
// Each wanted group has to exist, and each existing one has to be Available.
Findings CheckApiServices(const ClusterFacts& facts, const std::vector<Wanted>& wanted);
Findings CheckBackend(const Backend& backend);
// Checks the certificate of one backend for all APIServices that lead to it.
Findings CheckCertificate(const ClusterFacts& facts, const Backend& backend, absl::Time now);
Finding CheckAuthentication(const ClusterFacts& facts);

// The remedy for a person who lacks the right to read something.
std::string MayLook(absl::string_view verb, absl::string_view what);

struct LookOptions {
  std::string url;          // of the API server, only for texts
  bool in_cluster = false;  // whether addresses of Services can be reached
  absl::Duration timeout = absl::Seconds(10);
};

// If the API server does not answer, only `version` is set.
ClusterFacts LookAtCluster(http::HttpTransport& server, Clock& clock, const LookOptions& options);

// Asks for one right after the other, and stops at the first one that can't be asked for. A right
// to list that is denied for all namespaces is then asked for in each of `namespaces`.
std::vector<RightAnswer> AskRights(kube::ApiClient& api, const std::vector<Right>& rights,
                                   const std::vector<std::string>& namespaces);

}  // namespace flyball::doctor
