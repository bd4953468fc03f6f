// Which replica of the program decides which autoscaler.
//
// Thread-safe. The loop asks Owns before it decides and MayWrite right before each write.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/time/time.h"
#include "base/clock.h"
#include "scaler/math/input.h"
#include "scaler/stores/managed.h"

namespace flyball::scaler {

// What an earlier owner remembered of an autoscaler.
struct RememberedState {
  ScalerState state;
  bool complete = true;  // false: the earlier owner may have decided more after it saved this
  // Whether that owner seems to have put the target to sleep: it recommended zero last, and the
  // target is found at zero. It may not have been able to say so in the status.
  bool put_to_sleep = false;
};

class Ownership {
 public:
  virtual ~Ownership() = default;

  // Whether this replica decides that autoscaler now; the same for all autoscalers of a namespace.
  // Costs a few atomic loads.
  virtual bool Owns(const AutoscalerKey& key) const = 0;

  // The fence: false as soon as another replica might have taken over, because our Lease was not
  // renewed for long enough. Never true on two replicas at once.
  virtual bool MayWrite(const AutoscalerKey& key, MonotonicTime now) const = 0;

  // How often this replica has become the owner of that autoscaler. If the number has risen, others
  // may have decided it in between.
  virtual uint64_t Term(const AutoscalerKey&) const { return 0; }

  // Whether Restore already knows what an earlier owner remembered. When that becomes true, the
  // function given to OnChange is called.
  virtual bool Remembers(const AutoscalerKey&) const { return true; }

  // Whether a target with `current` replicas may be made smaller. Asked right before such a write.
  // True if what an earlier owner remembered is known, and if what is saved now would hold back the
  // next owner should this process end at once: it includes the count, from which the next owner
  // computes the removal. False may become true a second or two later.
  virtual bool MayShrink(const AutoscalerKey&, int32_t /*current*/) { return true; }

  // Whether the next owner would know that we put the target to sleep, should this process end
  // right after that write. False may become true a second or two later, once a decision for zero
  // was reported.
  virtual bool MayPutToSleep(const AutoscalerKey&) { return true; }

  // What an earlier owner remembered; nullopt: nothing is known, the autoscaler starts without it.
  // Called once for each autoscaler after its shard was taken, when its scale was read for the
  // first time. `current` is its spec.replicas, which shows what the earlier owner did after it
  // last saved its state.
  virtual std::optional<RememberedState> Restore(const AutoscalerKey& key, int32_t current,
                                                 absl::Time now) = 0;

  // `on_change` runs whenever shards were won or lost, from the election's thread. At most one.
  virtual void OnChange(std::function<void()> on_change) = 0;
};

// A single replica that owns everything and remembers nothing of earlier ones.
class SoleOwner : public Ownership {
 public:
  bool Owns(const AutoscalerKey&) const override { return true; }
  bool MayWrite(const AutoscalerKey&, MonotonicTime) const override { return true; }
  std::optional<RememberedState> Restore(const AutoscalerKey&, int32_t, absl::Time) override {
    return std::nullopt;
  }
  void OnChange(std::function<void()>) override {}
};

}  // namespace flyball::scaler
