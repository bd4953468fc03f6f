#include "base/repeating_thread.h"

#include <utility>

namespace flyball {

RepeatingThread::RepeatingThread(Clock& clock, std::function<Next()> step)
    : clock_(clock), step_(std::move(step)) {}

RepeatingThread::RepeatingThread(Clock& clock, std::function<absl::Duration()> step)
    : RepeatingThread(clock, [&clock, step = std::move(step)] {
        const absl::Duration wait = step();
        return Next{clock.MonotonicNow() + wait};
      }) {}

void RepeatingThread::Start(absl::Duration wait) {
  absl::MutexLock lock(&mutex_);
  if (stopping_ || thread_.joinable()) return;
  thread_ = std::thread([this, next = clock_.MonotonicNow() + wait] { Run(next); });
}

void RepeatingThread::Wake() {
  absl::MutexLock lock(&mutex_);
  woken_ = true;
}

void RepeatingThread::BeginStop() {
  absl::MutexLock lock(&mutex_);
  stopping_ = woken_ = true;
}

void RepeatingThread::Stop() {
  BeginStop();
  std::thread thread;
  {
    absl::MutexLock lock(&mutex_);
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

bool RepeatingThread::stopping() const {
  absl::MutexLock lock(&mutex_);
  return stopping_;
}

void RepeatingThread::Run(MonotonicTime next) {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      clock_.Await(mutex_, absl::Condition(&woken_), next);
      if (stopping_) return;
      woken_ = false;
    }
    next = step_().at;
  }
}

}  // namespace flyball
