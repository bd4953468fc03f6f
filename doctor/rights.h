// The rights that the server's account needs for what it is asked to do, and which are missing.
//
// Pure. The chart's roles (charts/flyball/templates/rbac.yaml, scaler-rbac.yaml) grant just these;
// test/data/rights.json names them for the tests of both, so that neither changes alone.
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
  std::string ns = {};        // "": in all namespaces, or of the cluster
  std::string name = {};      // "": of any name
  std::string grant = {};     // what gives it: a chart value or a role
  std::string without = {};   // what is lost without it, when the rest works on; "": it is vital

  friend bool operator==(const Right&, const Right&) = default;
};

// What the server does, as its flags and rules say.
struct Duties {
  std::string ns = {};  // its own
  bool custom = false, external = false, resource = false;
  bool asks_for_replicas = false;                 // an external rule's onFailure does
  std::vector<kube::GroupResource> objects = {};  // that rules give metrics of
  bool reads_authentication = true;               // no --authentication-skip-lookup
  bool scaler = false;
  std::string scaler_mode = "shadow";
  bool scaler_hpa = false;
  std::vector<std::string> scaler_namespaces = {};  // empty: all
  bool leader_elect = true;
  bool front = false;  // Services are led to Envoys
};

std::vector<Right> WantedRights(const Duties& duties);

// A SelfSubjectAccessReview about that right, as JSON.
std::string ReviewOf(const Right& right);

struct RightAnswer {
  Right right;
  absl::StatusOr<bool> allowed;
  // Where a right in all namespaces is denied: the namespaces that were asked for it instead, and
  // how many of them grant it.
  std::vector<std::string> asked_in;
  size_t allowed_in = 0;
};

// `account`: "system:serviceaccount:monitoring:flyball", or whoever was asked for.
Findings CheckRights(absl::string_view account, const std::vector<RightAnswer>& answers);

}  // namespace flyball::doctor
