// Connections that triggers share: equal servers and credentials are one client, so that ten
// thousand triggers of one Prometheus have one pool of connections between them. Where triggers may
// connect to is decided here.
//
// Thread-safe. HTTP clients are kept from one reading to the next; one that nobody used for
// kUnusedFor is forgotten, its credentials too, at the next reading of any trigger. Of one
// namespace kMostOfOneNamespace are kept at most, the last used ones: whoever asks more servers
// than that connects anew each time, which costs nobody else anything. Clients of external scalers
// live as long as a trigger that uses them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/client/address_rules.h"
#include "http/client/dns_settings.h"
#include "http/client/transport.h"
#include "http/client/wait.h"
#include "scaler/triggers/external/external_scaler.h"

namespace flyball::scaler {

struct TriggerClientOptions {
  http::AddressRules addresses;  // what triggers may connect to
  Clock* clock = nullptr;        // outlives the clients; null: the machine's
  http::DnsSettings dns;
};

class TriggerClients {
 public:
  static constexpr absl::Duration kUnusedFor = absl::Minutes(2);
  static constexpr size_t kMostOfOneNamespace = 64;

  explicit TriggerClients(TriggerClientOptions options = {});

  // For triggers of that namespace. The client follows no redirect to another origin, and answers
  // kPermissionDenied for an address that is not allowed. Errors as http::MakeHttpTransport.
  absl::StatusOr<std::shared_ptr<http::HttpTransport>> Http(absl::string_view ns,
                                                            const http::TransportOptions& options);

  // Looks the name up now: what is checked is what is connected to.
  //   kPermissionDenied  none of its addresses is allowed
  // All other errors are those of http::Resolve and MakeExternalScaler.
  absl::StatusOr<std::shared_ptr<ExternalScaler>> External(ExternalAddress address,
                                                           absl::Duration timeout);

  // An error of a client, with what helps where the address was refused.
  static absl::Status Hinted(const absl::Status& status);

  // Ends the calls under way and refuses new ones.
  void Shutdown();

  size_t kept() const;  // HTTP clients

 private:
  struct Kept {
    std::shared_ptr<http::HttpTransport> client;
    std::string ns;  // of who made it
    MonotonicTime used;
  };

  void ForgetUnused(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(absl::string_view ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FindEndpoints(ExternalAddress& address, absl::Duration timeout) const;

  const std::shared_ptr<const http::AddressRules> addresses_;
  const http::DnsSettings dns_;
  Clock& clock_;
  http::StopSignal stop_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Kept> http_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime next_look_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
  std::map<ExternalAddress, std::weak_ptr<ExternalScaler>> external_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scaler
