// Reads one value of a Secret for a trigger.
//
// Who may create an autoscaler decides which Secrets of its namespace are read and where they are
// sent. Two marks on a Secret limit that: the label kTriggerSecretLabel, without which it is not
// used at all where the operator says so, and the annotation kAllowedHosts (parts/secrets.h).
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/api_client.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

inline constexpr char kTriggerSecretLabel[] = "flyball.dev/trigger-secret";  // "true"

enum class TriggerSecrets {
  kAll,
  kReferenced,  // those with the label
};

// Asks the API server each time. Messages name the Secret and the key, never a value.
//   kNotFound          there is no such Secret, or it has no such key
//   kPermissionDenied  it has no such label, or the API server refuses
//   kInvalidArgument   the value is no base64
absl::StatusOr<SecretValue> ReadSecret(kube::ApiClient& client, absl::string_view ns,
                                       const TriggerSpec::SecretKey& key, TriggerSecrets which);

}  // namespace flyball::scaler
