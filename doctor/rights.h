// The rights that the server's account needs for its duties, and the check for missing ones.
//
// Pure. The chart's roles (charts/flyball/templates/rbac.yaml, scaler-rbac.yaml) grant exactly
// these rights. The tests of both compare with test/data/rights.json, so that neither can change
// alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "doctor/finding.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::doctor {

struct Right {
  std::string verb = {};
  std::string group = {};
  std::string resource = {};  // "pods", "deployments/scale"
  std::string ns = {};        // "": all namespaces, or a cluster-scoped resource
  std::string name = {};      // "": any name
  std::string grant = {};     // what grants it: a chart value or a role
  std::string without = {};   // what does not work without it; "": nothing works
  bool everywhere = false;    // a grant in single namespaces does not help

  friend bool operator==(const Right&, const Right&) = default;
};

// What the server has to do, according to its flags and rules.
struct Duties {
  std::string ns = {};  // of the Leases: the server's own, or that of its flag
  bool custom = false, external = false, resource = false;
  bool asks_for_replicas = false;                 // in an external rule's onFailure
  std::vector<kube::GroupResource> objects = {};  // resources that have metrics by rules
  bool reads_authentication = true;               // no --authentication-skip-lookup
  bool annotated_pods = false;                    // pods are scraped that ask for it by annotations
  bool kubelets = false;                          // these are scraped, for metrics.k8s.io
  bool scaler = false;
  std::string scaler_mode = "shadow";
  bool scaler_hpa = false;
  std::vector<std::string> scaler_namespaces = {};  // empty: all
  bool leader_elect = true;
  bool front = false;                        // requests of Services are led to Envoys
  std::vector<std::string> secrets_in = {};  // namespaces whose triggers name Secrets
};

std::vector<Right> WantedRights(const Duties& duties);

// A SelfSubjectAccessReview about that right, as JSON.
std::string ReviewOf(const Right& right);

struct RightAnswer {
  Right right;
  absl::StatusOr<bool> allowed;
  // If a right in all namespaces is denied: the namespaces in which it was asked for instead, and
  // how many of them grant it.
  std::vector<std::string> asked_in;
  size_t allowed_in = 0;
};

// `account`: "system:serviceaccount:monitoring:flyball", or another user with these rights.
Findings CheckRights(absl::string_view account, const std::vector<RightAnswer>& answers);

}  // namespace flyball::doctor
