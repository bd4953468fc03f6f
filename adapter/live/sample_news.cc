#include "adapter/live/sample_news.h"

#include <utility>

namespace flyball::adapter {

void SampleNews::Add(std::weak_ptr<const SampleVersion> moved) {
  {
    absl::MutexLock lock(&mutex_);
    moved_.push_back(std::move(moved));
    if (moved_.size() > 1) return;
    due_ = clock_.MonotonicNow() + debounce_;
  }
  thread_.Wake();
}

RepeatingThread::Next SampleNews::Step() {
  CallDue();
  absl::MutexLock lock(&mutex_);
  return {due_};
}

void SampleNews::CallDue() {
  std::vector<std::weak_ptr<const SampleVersion>> moved;
  {
    absl::MutexLock lock(&mutex_);
    if (clock_.MonotonicNow() < due_) return;
    moved.swap(moved_);
    due_ = absl::InfiniteDuration();
  }
  for (const std::weak_ptr<const SampleVersion>& one : moved) {
    if (const std::shared_ptr<const SampleVersion> version = one.lock()) version->CallFollowers();
  }
}

}  // namespace flyball::adapter
