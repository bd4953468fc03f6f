#include "base/worker_pool.h"

#include <atomic>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "base/test_thread_limit.h"
#include "gtest/gtest.h"

namespace flyball {
namespace {

TEST(ParallelForTest, RunsEachIndexOnce) {
  WorkerPool pool(4);
  std::vector<std::atomic<int>> runs(100);
  pool.ParallelFor(runs.size(), 4, [&](size_t i) { ++runs[i]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  pool.ParallelFor(0, 4, [&](size_t) { FAIL(); });
}

TEST(WorkerPoolTest, WithoutFurtherThreadsTheFirstDoesAll) {
  WorkerPool pool(4);
  const ThreadLimit none;
  std::atomic<int> done{0};
  absl::Notification all;
  for (int i = 0; i < 8; ++i) {
    pool.Submit([&] {
      if (++done == 8) all.Notify();
    });
  }
  all.WaitForNotification();
}

TEST(ParallelForTest, UsesWidthThreadsAtOnceAndNoMore) {
  WorkerPool pool(8);
  std::atomic<int> running{0}, most{0};
  absl::Mutex mutex;
  int arrived = 0;
  pool.ParallelFor(9, 3, [&](size_t) {
    const int now = ++running;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    absl::MutexLock lock(&mutex);
    ++arrived;
    // The first three go on only together, which takes three threads.
    mutex.Await(absl::Condition(
        +[](int* count) { return *count >= 3; }, &arrived));
    --running;
  });
  EXPECT_EQ(most, 3);
}

TEST(ParallelForTest, ABusyPoolDoesNotBlockTheCaller) {
  absl::Notification release;  // outlives the thread that waits
  WorkerPool pool(1);
  pool.Submit([&] { release.WaitForNotification(); });
  std::atomic<int> runs{0};
  pool.ParallelFor(5, 3, [&](size_t) { ++runs; });
  EXPECT_EQ(runs, 5);
  release.Notify();
}

TEST(WorkerPoolTest, SubmittedTasksRunOnAsManyThreadsAsAllowed) {
  WorkerPool pool(2);
  // Passes only when both tasks run at the same time.
  absl::Barrier* both = new absl::Barrier(3);
  for (int i = 0; i < 2; ++i) {
    pool.Submit([both] {
      if (both->Block()) delete both;
    });
  }
  if (both->Block()) delete both;
}

}  // namespace
}  // namespace flyball
