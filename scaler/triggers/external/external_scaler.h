// A server that speaks KEDA's protocol for external scalers, over gRPC.
//
// Thread-safe. Calls have a deadline. Streams run on gRPC's own threads, and a stream that waits
// holds none of them. This header uses no type of gRPC, because only a module that is loaded when
// the first scaler is made is linked with it (module.h). Limits: a message of 64 KiB, or 4 KiB if
// it reports activity; the numbers of metrics and values below. Messages that the server compresses
// are refused. Proxies are not used.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace flyball::scaler {

// Limits for an answer. One with more items, of no more bytes, would need many times the memory.
inline constexpr int kMaxExternalMetrics = 32;
inline constexpr int kMaxExternalValues = 1000;  // of one metric

// The address of the server, the CA that verifies it, and the certificate that the client presents.
struct ExternalAddress {
  std::string address;  // host:port, as it is written; the server's certificate is for its host
  std::string host;
  uint16_t port = 0;
  // Connections are made only to these: "10.0.0.1:443", "[fd00::1]:443"; all of one family.
  std::vector<std::string> endpoints;
  bool tls = false;
  bool skip_verify = false;
  std::string ca;    // PEM, as the next two; empty: the roots that the machine trusts
  std::string cert;  // empty: no client certificate
  std::string key;

  auto operator<=>(const ExternalAddress&) const = default;
};

// The object that the server is asked about; KEDA's protocol calls every autoscaler a ScaledObject.
struct ScaledObject {
  std::string name;
  std::string ns;
  std::map<std::string, std::string> metadata;
};

struct ExternalMetricTarget {
  std::string name;
  double target = 0;
};

// A stream on which a server reports activity. When it ends it is opened again after a pause of 2
// s, which doubles with each failure up to 60 s, each a fifth more or less (stream_backoff.h);
// after a message has been received it is 2 s again. The destructor ends the stream, and waits for
// a callback that is under way.
class ActivityStream {
 public:
  virtual ~ActivityStream() = default;
};

class ExternalScaler {
 public:
  virtual ~ExternalScaler() = default;

  // Errors: the code of the call (the server's, or gRPC's own, such as kUnavailable and
  // kDeadlineExceeded) with our own message. The server's message is left out: otherwise whoever
  // may write a trigger could read what servers inside the cluster say. kFailedPrecondition: the
  // answer can't be read, or exceeds the limits above.
  virtual absl::StatusOr<bool> IsActive(const ScaledObject& object, absl::Duration timeout) = 0;
  virtual absl::StatusOr<std::vector<ExternalMetricTarget>> GetMetricSpec(
      const ScaledObject& object, absl::Duration timeout) = 0;
  virtual absl::StatusOr<std::vector<double>> GetMetrics(const ScaledObject& object,
                                                         const std::string& metric,
                                                         absl::Duration timeout) = 0;

  // Ends the calls under way and refuses new ones (kCancelled); streams are not ended.
  virtual void Shutdown() = 0;

  // Calls `on_active` for each message that says active, at most five times a second: the stream is
  // read no faster, or at twenty messages a second if they say inactive, and a server may send 1
  // KiB ahead. `on_active` must not destroy the stream.
  virtual std::unique_ptr<ActivityStream> StreamIsActive(const ScaledObject& object,
                                                         std::function<void()> on_active) = 0;
};

// Does not connect yet: if nothing answers at the address, the calls fail. Errors: those of
// LoadExternalModule (module.h); a later call tries to load it again.
absl::StatusOr<std::shared_ptr<ExternalScaler>> MakeExternalScaler(const ExternalAddress& address);

}  // namespace flyball::scaler
