#include "base/worker_pool.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/thread_limit.h"

namespace flyball {
namespace {

// One ParallelFor. Helpers that begin after the loop has ended find no index left.
struct Loop {
  size_t count = 0;
  absl::Mutex mutex;
  size_t next ABSL_GUARDED_BY(mutex) = 0;
  size_t done ABSL_GUARDED_BY(mutex) = 0;

  bool Claim(size_t& index) {
    absl::MutexLock lock(&mutex);
    if (next == count) return false;
    index = next++;
    return true;
  }
  void Finish() {
    absl::MutexLock lock(&mutex);
    ++done;
  }
  void WaitForAll() {
    absl::MutexLock lock(&mutex);
    const auto all_done = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex) { return done == count; };
    mutex.Await(absl::Condition(&all_done));
  }
};

}  // namespace

WorkerPool::WorkerPool(int max_threads) : max_threads_(max_threads) {
  absl::MutexLock lock(&mutex_);
  threads_.emplace_back([this] { Work(); });
}

void WorkerPool::Stop() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    queue_.clear();
    threads.swap(threads_);
    for (Idle* idle : idle_) idle->woken.Signal();
    idle_.clear();
  }
  for (std::thread& thread : threads) thread.join();
}

void WorkerPool::Submit(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  if (stopping_) return;
  if (!idle_.empty()) {
    idle_.back()->task = std::move(task);
    idle_.back()->woken.Signal();
    idle_.pop_back();
    return;
  }
  queue_.push_back(std::move(task));
  if (static_cast<int>(threads_.size()) >= max_threads_) return;
  absl::StatusOr<std::thread> another = MakeThread([this] { Work(); });
  // If none can be made, the task waits for the existing threads.
  if (another.ok()) threads_.push_back(*std::move(another));
}

void WorkerPool::Work() {
  Idle self;
  while (const std::function<void()> task = NextTask(self)) task();
}

std::function<void()> WorkerPool::NextTask(Idle& self) {
  absl::MutexLock lock(&mutex_);
  if (!queue_.empty()) {
    std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    return task;
  }
  if (!stopping_) idle_.push_back(&self);
  while (!stopping_ && self.task == nullptr) self.woken.Wait(&mutex_);
  return stopping_ ? nullptr : std::exchange(self.task, nullptr);
}

void WorkerPool::ParallelFor(size_t count, size_t width, const std::function<void(size_t)>& body) {
  auto loop = std::make_shared<Loop>();
  loop->count = count;
  const auto work = [](Loop& own, const std::function<void(size_t)>& run) {
    for (size_t index; own.Claim(index); own.Finish()) run(index);
  };
  const size_t helpers = std::min(count, std::max<size_t>(width, 1)) - (count > 0 ? 1 : 0);
  // `body` outlives every claimed index: the caller waits for all of them below.
  for (size_t i = 0; i < helpers; ++i) Submit([loop, work, &body] { work(*loop, body); });
  work(*loop, body);
  loop->WaitForAll();
}

}  // namespace flyball
