#include "scaler/shards/remembering_owner.h"

#include <utility>

namespace flyball::scaler {
namespace {

constexpr absl::Duration kRetry = absl::Seconds(2);

}  // namespace

RememberingOwner::RememberingOwner(ShardMemory& memory, Clock& clock)
    : memory_(memory), thread_(clock, [this] { return Load(); }) {}

void RememberingOwner::Start() {
  const absl::Duration wait = Load();
  if (!remembers_) thread_.Start(wait);
}

void RememberingOwner::OnChange(std::function<void()> on_change) {
  absl::MutexLock lock(&mutex_);
  on_change_ = std::move(on_change);
}

absl::Duration RememberingOwner::Load() {
  if (!load_.Try(&memory_, 0, {})) return kRetry;
  remembers_ = true;
  std::function<void()> on_change;
  {
    absl::MutexLock lock(&mutex_);
    on_change = on_change_;
  }
  if (on_change) on_change();
  return absl::InfiniteDuration();
}

}  // namespace flyball::scaler
