#include "base/steady_wait.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/test_thread_limit.h"

namespace flyball {
namespace {

TEST(AwaitFor, IsOverWhenTheTimeIs) {
  absl::Mutex mutex;
  bool never = false;
  const auto begun = std::chrono::steady_clock::now();
  absl::MutexLock lock(&mutex);
  EXPECT_FALSE(AwaitFor(mutex, absl::Condition(&never), absl::Milliseconds(20)));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(20));
}

// Of use where this is the first wait of the process: ctest runs each test in one of its own.
TEST(AwaitFor, IsOverAlsoWhereNoThreadCanBeMade) {
  absl::Mutex mutex;
  bool never = false;
  {
    const ThreadLimit none;
    absl::MutexLock lock(&mutex);
    EXPECT_FALSE(AwaitFor(mutex, absl::Condition(&never), absl::Milliseconds(20)));
  }
  absl::MutexLock lock(&mutex);
  EXPECT_FALSE(AwaitFor(mutex, absl::Condition(&never), absl::Milliseconds(20)));
}

TEST(AwaitFor, WhatHoldsAlreadyIsNotWaitedFor) {
  absl::Mutex mutex;
  bool yes = true, no = false;
  absl::MutexLock lock(&mutex);
  EXPECT_TRUE(AwaitFor(mutex, absl::Condition(&yes), absl::InfiniteDuration()));
  EXPECT_FALSE(AwaitFor(mutex, absl::Condition(&no), absl::ZeroDuration()));
  EXPECT_FALSE(AwaitFor(mutex, absl::Condition(&no), -absl::InfiniteDuration()));
}

TEST(AwaitFor, AChangeWakes) {
  absl::Mutex mutex;
  bool changed = false;
  std::thread other([&] {
    absl::MutexLock lock(&mutex);
    changed = true;
  });
  {
    absl::MutexLock lock(&mutex);
    EXPECT_TRUE(AwaitFor(mutex, absl::Condition(&changed), absl::InfiniteDuration()));
  }
  other.join();
}

// Waits that end in time, too late and at the very moment, on mutexes that do not live longer.
TEST(AwaitFor, ManyAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int round = 0; round < 200; ++round) {
        auto mutex = std::make_unique<absl::Mutex>();
        bool changed = false;
        std::thread other([&] {
          absl::MutexLock lock(mutex.get());
          changed = true;
        });
        {
          absl::MutexLock lock(mutex.get());
          AwaitFor(*mutex, absl::Condition(&changed), absl::Microseconds(20 * (i + round % 7)));
        }
        other.join();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace flyball
