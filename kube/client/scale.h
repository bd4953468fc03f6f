// The scale subresource of any kind that has one.
//
// Thread-safe when the client is. Source: k8s.io/client-go v0.34.4 scale.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::kube {

struct Scale {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  int32_t spec_replicas = 0;
  int32_t status_replicas = 0;
  std::string selector;  // a label selector as text; none: ""
  // Rises with each change of the object's spec. 0: unknown, since a Scale does not contain it.
  int64_t generation = 0;
  // What the server sent, and wants to be sent.
  std::string api_version = "autoscaling/v1";

  // Whether both are equal, however they were read: neither the generation nor the version of the
  // API is compared.
  friend bool operator==(const Scale& a, const Scale& b) {
    const auto told = [](const Scale& one) {
      return std::tie(one.ns, one.name, one.uid, one.resource_version, one.spec_replicas,
                      one.status_replicas, one.selector);
    };
    return told(a) == told(b);
  }
};

// A Scale as JSON, in a version that client-go reads: autoscaling/v1, extensions/v1beta1 (that of
// OpenShift's DeploymentConfigs), apps/v1beta1 or apps/v1beta2. kInvalidArgument: it is none.
// The selector is as client-go converts it: sorted by key, each value once, of blanks alone empty.
// kInvalidArgument, with client-go's text: it does not parse, or has one of `!=`, `>` and `<`.
absl::StatusOr<Scale> ParseScale(absl::string_view json);

// Makes it from the object itself, as the API server does, and client-go of that: Deployment,
// ReplicaSet, StatefulSet (apps/v1) and ReplicationController (v1). kInvalidArgument: another kind.
absl::StatusOr<Scale> ScaleOfWorkload(absl::string_view object_json);

// Errors are those of ApiClient; for a kind without a scale kNotFound, not kPermissionDenied.
absl::StatusOr<Scale> GetScale(ApiClient& client, const ResourceInfo& target, absl::string_view ns,
                               absl::string_view name);

// Sets spec.replicas in the API version of `read`, on condition of its resourceVersion and uid;
// kAborted if the target has changed since. The result is the scale as stored; kInternal: it was
// stored, but the answer is not a scale. `may_try_again` as in ApiClient::Update.
absl::StatusOr<Scale> UpdateScale(ApiClient& client, const ResourceInfo& target, const Scale& read,
                                  int32_t replicas,
                                  ApiClient::MayTryAgain may_try_again = ApiClient::Always);

}  // namespace flyball::kube
