// Puts metrics that arrive by OpenTelemetry's protocol into the store.
//
// Thread-safe. The time is an argument. All valid points of a request are taken. Deltas of
// monotonic sums and of histograms become totals (delta_totals.h); those of other sums are refused,
// since their starting value is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/otlp.h"
#include "adapter/live/receive/delta_totals.h"
#include "adapter/live/receive/ingest.h"

namespace flyball::live {

struct OtlpOptions {
  // The keys of resource attributes that each series gets as labels.
  std::vector<std::string> promote_resource_attributes{};
  // The totals of a series without points for this long begin anew.
  int64_t retention_ms = 10 * 60'000;
  // How many samples a request may make, unless one for each 16 of its bytes is more: a bucket of a
  // classic histogram takes as much, but one of an exponential histogram may take a single byte.
  size_t max_samples = 1'000'000;
};

// The outcome for the data points of one request.
struct OtlpReceived {
  size_t taken = 0;
  size_t rejected = 0;  // for good: sending them again is useless
  size_t no_room = 0;   // the store has no room for their series now
  // For the first that was not taken, kMaxErrorBytes of it; or other advice for the sender.
  std::string reason;
};

class OtlpReceiver {
 public:
  // The ingest outlives it.
  explicit OtlpReceiver(Ingest& ingest, OtlpOptions options = {})
      : ingest_(ingest), options_(std::move(options)), totals_(options_.retention_ms) {}

  // kInvalidArgument: the request is malformed; what came before the fault has been taken.
  absl::StatusOr<OtlpReceived> Take(formats::OtlpEncoding encoding, absl::string_view message,
                                    int64_t now_ms);

 private:
  class PointTaker;

  Ingest& ingest_;
  const OtlpOptions options_;
  DeltaTotals totals_;
};

}  // namespace flyball::live
