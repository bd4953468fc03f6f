// Connections that triggers share: triggers of one namespace that ask the same server with the same
// credentials use one client, so that a thousand triggers that ask one Prometheus share one pool of
// connections. It also decides which addresses triggers may connect to.
//
// Thread-safe. HTTP clients are kept from one reading to the next. A client that has not been used
// for kUnusedFor is removed with its credentials at the next reading of any trigger. For each
// namespace only the kMostOfOneNamespace clients used last are kept, and of these only as many as
// its part of kMostBytes has room for, but always one: the triggers of a namespace that asks more
// servers than that connect anew each time, at no cost to other namespaces. Clients of external
// scalers live as long as a trigger that uses them; a namespace has kMostOfOneNamespace connections
// to them at most, and its part of another kMostBytes. Of a name's addresses kMostEndpoints are
// connected to.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "http/client/address_rules.h"
#include "http/client/dns_settings.h"
#include "http/client/transport.h"
#include "http/client/wait.h"
#include "scaler/triggers/external/external_scaler.h"

namespace flyball::scaler {

struct TriggerClientOptions {
  http::AddressRules addresses;  // what triggers may connect to
  http::DnsSettings dns;
  // What the idle connections of all HTTP clients may take, as it is counted: an honest server's
  // takes 76 KiB. A namespace may have four times what is left.
  size_t idle_bytes = 32 << 20;
};

class TriggerClients {
 public:
  static constexpr absl::Duration kUnusedFor = absl::Minutes(2);
  static constexpr size_t kMostOfOneNamespace = 64;
  // Of the certificates and keys of all HTTP clients, as PEM, and again of all external scalers. In
  // memory it is up to 41 times as much. A namespace gets an eighth of what the others leave.
  static constexpr size_t kMostBytes = 4 << 20;
  static constexpr size_t kPartOfOneNamespace = 8;
  static constexpr size_t kMostEndpoints = 4;  // of one external scaler, since all are connected to

  // The clock outlives the clients.
  explicit TriggerClients(Clock& clock, TriggerClientOptions options = {});

  // The client for triggers of that namespace. It follows no redirect to another origin, and
  // answers kPermissionDenied for an address that is not allowed. Errors as
  // http::MakeHttpTransport.
  absl::StatusOr<std::shared_ptr<http::HttpTransport>> Http(absl::string_view ns,
                                                            const http::TransportOptions& options);

  // The scaler for triggers of that namespace. Looks the name up now. The scaler connects to the
  // addresses that this finds and checks, and to no others.
  //   kPermissionDenied   none of its addresses is allowed
  //   kResourceExhausted  the namespace has kMostOfOneNamespace connections without it, or its part
  //                       of kMostBytes
  // All other errors are those of http::Resolve and MakeExternalScaler.
  absl::StatusOr<std::shared_ptr<ExternalScaler>> External(absl::string_view ns,
                                                           ExternalAddress address,
                                                           absl::Duration timeout);

  // The client's error; if the address was refused, it also names the flag that allows it.
  static absl::Status Hinted(const absl::Status& status);

  // Ends the calls under way and refuses new ones.
  void Shutdown();

  // The clock by which callers compute how much of their timeout is left.
  Clock& clock() const { return clock_; }

 private:
  struct Kept {
    std::shared_ptr<http::HttpTransport> client;
    std::string ns;  // of the triggers that use it
    MonotonicTime used;
    size_t bytes = 0;  // as kMostBytes counts them
  };
  struct Scaler {
    std::weak_ptr<ExternalScaler> client;  // triggers own it
    std::string ns;
    size_t connections = 0;
    size_t bytes = 0;  // as kMostBytes counts them
  };

  void ForgetUnused(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(absl::string_view ns, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckRoom(absl::string_view ns, const Scaler& another) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FindEndpoints(ExternalAddress& address, absl::Duration timeout) const;

  Clock& clock_;
  const std::shared_ptr<const http::AddressRules> addresses_;
  const http::DnsSettings dns_;
  NamespaceBudgets idle_memory_;
  http::StopSignal stop_;
  absl::Mutex mutex_;
  // Both by a digest of namespace, server and credentials.
  std::map<std::string, Kept> http_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime next_look_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
  std::map<std::string, Scaler> external_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scaler
