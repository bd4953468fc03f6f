#include "base/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "absl/synchronization/blocking_counter.h"
#include "base/thread_limit.h"

namespace flyball {
namespace {

// One ParallelFor. Helpers that begin after the loop has ended find no index left.
struct Loop {
  explicit Loop(size_t n) : count(n), left(static_cast<int>(n)) {}

  const size_t count;
  std::atomic<size_t> next = 0;
  absl::BlockingCounter left;
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
  auto loop = std::make_shared<Loop>(count);
  const auto work = [](Loop& own, const std::function<void(size_t)>& run) {
    for (size_t index; (index = own.next++) < own.count; own.left.DecrementCount()) run(index);
  };
  const size_t helpers = std::min(count, std::max<size_t>(width, 1)) - (count > 0 ? 1 : 0);
  // `body` outlives every claimed index: the caller waits for all of them below.
  for (size_t i = 0; i < helpers; ++i) Submit([loop, work, &body] { work(*loop, body); });
  work(*loop, body);
  loop->left.Wait();
}

}  // namespace flyball
