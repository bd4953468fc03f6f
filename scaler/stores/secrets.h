// Reads values of Secrets for triggers.
//
// Anybody who may create an autoscaler can have Secrets of its namespace read and sent to a server.
// Two marks on a Secret limit that: the label kTriggerSecretLabel, without which a Secret is not
// used where the operator has chosen kReferenced, and the annotation kAllowedHosts
// (parts/secrets.h).
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/expiring_cache.h"
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

// Does what ReadSecret does, but returns a value again that was read in the last seconds: triggers
// that are read each second would otherwise ask the API server as often for each of their
// parameters.
//
// Thread-safe. Errors are not kept. Limits: 4,096 values, 4 MiB.
class SecretReader {
 public:
  // How long a value is kept: a change of a Secret is seen after this time at the latest.
  static constexpr absl::Duration kKept = absl::Seconds(5);

  // The client and the clock outlive the reader.
  SecretReader(kube::ApiClient& client, Clock& clock, TriggerSecrets which)
      : client_(client), clock_(clock), which_(which) {}

  absl::StatusOr<SecretValue> Read(absl::string_view ns, const TriggerSpec::SecretKey& key);

 private:
  kube::ApiClient& client_;
  Clock& clock_;
  const TriggerSecrets which_;
  ExpiringCache<SecretValue> kept_{4096, size_t{4} << 20};
};

}  // namespace flyball::scaler
