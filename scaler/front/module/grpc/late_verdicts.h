// Passes on what an Envoy has said of endpoints a moment later: its main thread acknowledges them
// before each of its workers has them, and a request that is released at once may meet a worker
// that knows of no pod, and be refused by it.
//
// Thread-safe. Threads of gRPC tell, one at a time, under a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "scaler/front/envoy/delta_stream.h"

namespace flyball::front {

class LateVerdicts {
 public:
  // Longer than a worker on a busy machine usually waits for a processor.
  static constexpr int64_t kWaitMs = 25;

  explicit LateVerdicts(std::function<void(const DeltaStream::Verdict&)> tell);
  ~LateVerdicts();  // nothing is told any more once this has returned

  // It is told after kWaitMs. The order stays.
  void Add(DeltaStream::Verdict verdict);

 private:
  class Queue;  // which a timer may outlive
  const std::shared_ptr<Queue> queue_;
};

}  // namespace flyball::front
