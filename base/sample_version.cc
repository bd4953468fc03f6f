#include "base/sample_version.h"

#include <algorithm>
#include <iterator>

namespace flyball {

void FollowedVersion::Call() {
  absl::MutexLock lock(&mutex_);
  if (on_moved_) std::exchange(on_moved_, nullptr)();
}

void FollowedVersion::End() {
  absl::MutexLock lock(&mutex_);
  on_moved_ = nullptr;
}

VersionFollowing SampleVersion::Follow(uint64_t number, std::function<void()> on_moved) const {
  auto followed = std::make_shared<FollowedVersion>(std::move(on_moved));
  {
    absl::MutexLock lock(&mutex_);
    if (followers_.size() >= sweep_at_) {
      std::erase_if(followers_, [](const Follower& one) { return one.followed.expired(); });
      sweep_at_ = 8 + 2 * followers_.size();
    }
    followers_.push_back({number, followed});
  }
  // Checked after it was added: if the number changed earlier, the followers may have been called
  // already.
  if (this->number() != number) on_move_();
  return VersionFollowing(std::move(followed));
}

void SampleVersion::CallFollowers() const {
  std::vector<Follower> moved;
  {
    absl::MutexLock lock(&mutex_);
    const uint64_t now = number();
    const auto is_moved = [now](const Follower& one) { return one.number != now; };
    std::copy_if(followers_.begin(), followers_.end(), std::back_inserter(moved), is_moved);
    std::erase_if(followers_, is_moved);
  }
  for (const Follower& one : moved) {
    if (const std::shared_ptr<FollowedVersion> followed = one.followed.lock()) followed->Call();
  }
}

}  // namespace flyball
