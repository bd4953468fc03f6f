// Reads values of Secrets for triggers.
//
// Anybody who may create an autoscaler can have Secrets of its namespace read and sent to a server.
// Two marks on a Secret limit that: the label kTriggerSecretLabel, without which a Secret is not
// used where the operator has chosen kReferenced, and the annotation kAllowedHosts
// (parts/secrets.h).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

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
// Thread-safe. Limits: of each namespace 2048 answers and 1 MiB, of all 8 MiB and 4096 namespaces.
// If all have more, the namespace that has most loses its answers, so that those with many Secrets
// take no room from the others. What does not fit has to be read again, so a namespace also has a
// limit for how often the API server is asked.
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
  using Answer = absl::StatusOr<SecretValue>;
  using Answers = ExpiringCache<Answer>;
  static std::unique_ptr<Answers> NoAnswers() {
    return std::make_unique<Answers>(2048, size_t{1} << 20);
  }
  struct Namespace {
    std::unique_ptr<Answers> kept = NoAnswers();
    size_t bytes = 0;  // of them, as counted in bytes_
    MonotonicTime used;
    // Until when its reads would have taken if they came at the limited rate.
    MonotonicTime until = -absl::InfiniteDuration();
  };

  Namespace& Of(absl::string_view ns, MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // An answer that is kept, or kResourceExhausted; nullopt: the API server may be asked.
  std::optional<Answer> Begin(absl::string_view ns, absl::string_view name, MonotonicTime now);
  // `bytes`: what the API server has sent for it.
  void Keep(absl::string_view ns, absl::string_view name, const Answer& answer, size_t bytes,
            MonotonicTime now);

  kube::ApiClient& client_;
  Clock& clock_;
  const TriggerSecrets which_;
  absl::Mutex mutex_;
  RecentlyUsed<Namespace> namespaces_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::scaler
