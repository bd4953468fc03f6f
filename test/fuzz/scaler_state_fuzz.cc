// links: scaler_stores
// Any bytes as a shard's kept state: what reads is written to bytes that read as the same.
#include <cstdint>
#include <cstdlib>

#include "scaler/stores/state_store_codec.h"

using flyball::scaler::DecodeShard;
using flyball::scaler::EncodeShard;
using flyball::scaler::KeptShard;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto shard = DecodeShard({reinterpret_cast<const char*>(data), size});
  if (!shard.ok()) return 0;
  const auto again = DecodeShard(EncodeShard(*shard, size_t{1} << 30).bytes);
  if (!again.ok() || again->autoscalers.size() != shard->autoscalers.size() ||
      again->saved_at != shard->saved_at || again->complete != shard->complete) {
    std::abort();
  }
  for (size_t i = 0; i < shard->autoscalers.size(); ++i) {
    const auto& a = shard->autoscalers[i];
    const auto& b = again->autoscalers[i];
    if (a.key != b.key || a.replicas != b.replicas || !(a.state == b.state)) std::abort();
    flyball::scaler::ScalerState compact;
    flyball::scaler::CompactState(a.state, compact);
    if (compact.recommendations.size() > a.state.recommendations.size()) std::abort();
  }
  return 0;
}
