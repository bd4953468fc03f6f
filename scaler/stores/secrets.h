// Reads values of Secrets for triggers.
//
// Anybody who may create an autoscaler can have Secrets of its namespace read and sent to a server.
// Two marks on a Secret limit that: the label kTriggerSecretLabel, without which a Secret is not
// used where the operator has chosen kReferenced, and the annotation kAllowedHosts
// (parts/secrets.h).
#pragma once

#include <array>
#include <cstddef>

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

// Limit for one value. OpenSSL needs up to 41 times as much for a list of certificates, in each
// client that uses it.
inline constexpr size_t kMaxSecretBytes = 16 << 10;

enum class TriggerSecrets {
  kAll,
  kReferenced,  // those with the label
};

// Asks the API server each time. Messages name the Secret and the key, never a value.
//   kNotFound          there is no such Secret, or it has no such key
//   kPermissionDenied  it has no such label, or the API server refuses
//   kInvalidArgument   the value is no base64, or has more than kMaxSecretBytes
absl::StatusOr<SecretValue> ReadSecret(kube::ApiClient& client, absl::string_view ns,
                                       const TriggerSpec::SecretKey& key, TriggerSecrets which);

// Does what ReadSecret does, but repeats a value or error that it returned in the last seconds:
// triggers that are read each second would otherwise ask the API server as often for each of their
// parameters. An error because the API server was away is not repeated.
//
// Thread-safe. Limits: 16,384 answers, 8 MiB. A namespace gets an eighth of both, so that one with
// many Secrets takes room from few others.
class SecretReader {
 public:
  // How long a value is kept: a change of a Secret is seen after this time at the latest.
  static constexpr absl::Duration kKept = absl::Seconds(5);
  // How long an error is kept, so that a Secret that is created then is soon used.
  static constexpr absl::Duration kErrorKept = absl::Seconds(1);

  // The client and the clock outlive the reader.
  SecretReader(kube::ApiClient& client, Clock& clock, TriggerSecrets which)
      : client_(client), clock_(clock), which_(which) {}

  absl::StatusOr<SecretValue> Read(absl::string_view ns, const TriggerSpec::SecretKey& key);

 private:
  struct Part {
    ExpiringCache<absl::StatusOr<SecretValue>> kept{2048, size_t{1} << 20};
  };

  kube::ApiClient& client_;
  Clock& clock_;
  const TriggerSecrets which_;
  std::array<Part, 8> parts_;  // by a hash of the namespace
};

}  // namespace flyball::scaler
