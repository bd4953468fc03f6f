// Reads values of Secrets for triggers.
//
// Anybody who may create an autoscaler can have Secrets of its namespace read and sent to a server.
// Two marks on a Secret limit that: the label kTriggerSecretLabel, without which a Secret is not
// used where the operator has chosen kReferenced, and the annotation kAllowedHosts
// (parts/secrets.h).
#pragma once

#include <array>
#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/expiring_cache.h"
#include "base/recently_used.h"
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

// Repeats a value or error that it returned in the last seconds: triggers that are read each second
// would otherwise ask the API server as often for each of their parameters. An error because the
// API server was away is not repeated.
//
// Thread-safe. Limits: 16,384 answers, 8 MiB. A namespace gets an eighth of both, so that one with
// many Secrets takes room from few others. What does not fit has to be read again, so a namespace
// also has a limit for how often the API server is asked.
class SecretReader {
 public:
  // How long a value is kept: a change of a Secret is seen after this time at the latest.
  static constexpr absl::Duration kKept = absl::Seconds(5);
  // How long an error is kept, so that a Secret that is created then is soon used.
  static constexpr absl::Duration kErrorKept = absl::Seconds(1);
  // How often the API server is asked for a namespace, where each kCountedBytes of a Secret count
  // as one more time, and how many of these may come at once.
  static constexpr int kReadsPerSecond = 100;
  static constexpr int kBurst = 1000;
  static constexpr size_t kCountedBytes = 64 << 10;

  // The client and the clock outlive the reader.
  SecretReader(kube::ApiClient& client, Clock& clock, TriggerSecrets which)
      : client_(client), clock_(clock), which_(which) {}

  // Messages name the Secret and the key, never a value.
  //   kNotFound           there is no such Secret, or it has no such key
  //   kPermissionDenied   it has no such label, or the API server refuses
  //   kInvalidArgument    the value is no base64, or has more than kMaxSecretBytes
  //   kResourceExhausted  the API server was asked too often for this namespace
  absl::StatusOr<SecretValue> Read(absl::string_view ns, const TriggerSpec::SecretKey& key);

 private:
  // Until when the reads of a namespace would have taken if they came at the limited rate.
  struct Spent {
    MonotonicTime until = -absl::InfiniteDuration();
  };
  struct Part {
    ExpiringCache<absl::StatusOr<SecretValue>> kept{2048, size_t{1} << 20};
    absl::Mutex mutex;
    RecentlyUsed<Spent> spent ABSL_GUARDED_BY(mutex);  // of at most 512 namespaces

    // Counts a read; false: there were too many, and it is not counted.
    bool Begin(absl::string_view ns, MonotonicTime now);
    // Counts what a read has brought.
    void Count(absl::string_view ns, size_t bytes);
  };

  kube::ApiClient& client_;
  Clock& clock_;
  const TriggerSecrets which_;
  std::array<Part, 8> parts_;  // by a hash of the namespace
};

}  // namespace flyball::scaler
