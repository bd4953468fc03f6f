// A server that speaks KEDA's protocol for external scalers, over gRPC.
//
// Thread-safe. Calls have a deadline. Streams run on gRPC's own threads, and a stream that waits
// holds none of them. No type of gRPC stands here: a module that is loaded when the first scaler is
// made speaks it (module.h).
// Limits: a message of 1 MiB. Proxies are not used.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::scaler {

// Where the server is, by whose CA it is verified, and the certificate that we show it.
struct ExternalAddress {
  std::string address;  // host:port, as it is written; the server's certificate is for its host
  std::string host;
  uint16_t port = 0;
  // The only addresses that are connected to: "10.0.0.1:443", "[fd00::1]:443"; all of one family.
  std::vector<std::string> endpoints;
  bool tls = false;
  bool skip_verify = false;
  std::string ca;    // PEM, as the next two; empty: the roots that the machine trusts
  std::string cert;  // empty: none is shown
  std::string key;

  auto operator<=>(const ExternalAddress&) const = default;
};

// The object that the server is asked about. To KEDA's protocol every autoscaler is a ScaledObject.
struct ScaledObject {
  std::string name;
  std::string ns;
  std::map<std::string, std::string> metadata;
};

struct ExternalMetricTarget {
  std::string name;
  double target = 0;
};

// A stream by which a server tells of activity. When it ends it is opened again after a pause of
// 2 s, which doubles with each failure up to 60 s, each a fifth more or less (stream_backoff.h);
// once something was received it is 2 s again. Its destructor cuts the stream, and waits for a call
// of the callback that is under way.
class ActivityStream {
 public:
  virtual ~ActivityStream() = default;
};

class ExternalScaler {
 public:
  virtual ~ExternalScaler() = default;

  // Errors: the server's own code, kUnavailable and kDeadlineExceeded among them, and never its
  // words: whoever may name a server must not learn what it says to us.
  virtual absl::StatusOr<bool> IsActive(const ScaledObject& object, absl::Duration timeout) = 0;
  virtual absl::StatusOr<std::vector<ExternalMetricTarget>> GetMetricSpec(
      const ScaledObject& object, absl::Duration timeout) = 0;
  virtual absl::StatusOr<std::vector<double>> GetMetrics(const ScaledObject& object,
                                                         const std::string& metric,
                                                         absl::Duration timeout) = 0;

  // Ends the calls under way and refuses new ones (kCancelled); streams go on.
  virtual void Shutdown() = 0;

  // `on_active` is called for each message that says active, five times a second at most, as the
  // stream is read no faster; it must not end the stream.
  virtual std::unique_ptr<ActivityStream> StreamIsActive(const ScaledObject& object,
                                                         std::function<void()> on_active) = 0;
};

// Does not connect yet: the calls fail where the address leads nowhere.
// Errors: those of LoadExternalModule (module.h); a later call tries to load it again.
absl::StatusOr<std::shared_ptr<ExternalScaler>> MakeExternalScaler(const ExternalAddress& address);

}  // namespace flyball::scaler
