#include "promql/engine/series.h"

#include "absl/base/casts.h"

namespace flyball::promql {
namespace {

constexpr uint64_t kStaleBits = 0x7ff0000000000002;

}  // namespace

double StaleMarker() { return absl::bit_cast<double>(kStaleBits); }

bool IsStale(double value) { return absl::bit_cast<uint64_t>(value) == kStaleBits; }

}  // namespace flyball::promql
