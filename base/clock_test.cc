#include "base/clock.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "base/test_thread_limit.h"
#include "gtest/gtest.h"

namespace flyball {
namespace {

TEST(SimulatedClockTest, WallJumpsLeaveMonotonicTimeAlone) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  clock.Advance(absl::Seconds(5));
  clock.JumpWall(absl::FromUnixSeconds(10));
  EXPECT_EQ(clock.WallNow(), absl::FromUnixSeconds(10));
  EXPECT_EQ(clock.MonotonicNow(), absl::Seconds(5));
}

TEST(SystemClockTest, MonotonicTimeDoesNotRunBackwards) {
  const MonotonicTime first = Clock::System().MonotonicNow();
  EXPECT_GE(Clock::System().MonotonicNow(), first);
}

bool WriteTo(const char* path, std::string_view text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  const bool written = file >= 0 && write(file, text.data(), text.size()) > 0;
  if (file >= 0) close(file);
  return written;
}

// A time namespace whose machine has been suspended for a day, as its clocks say.
TEST(SystemClockTest, MonotonicTimeGoesOnWhileTheMachineIsSuspended) {
  enum { kGoesOn, kStandsStill, kNotAllowed };
  const pid_t maker = fork();
  ASSERT_GE(maker, 0);
  if (maker == 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0 ||
        !WriteTo("/proc/self/timens_offsets", "boottime 86400 0")) {
      _exit(kNotAllowed);
    }
    const MonotonicTime before = Clock::System().MonotonicNow();
    const pid_t inside = fork();  // only a child is in the new time namespace
    if (inside < 0) _exit(kNotAllowed);
    if (inside == 0) {
      const absl::Duration passed = Clock::System().MonotonicNow() - before;
      _exit(passed > absl::Hours(23) ? kGoesOn : kStandsStill);
    }
    int status = 0;
    waitpid(inside, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  int status = 0;
  ASSERT_EQ(waitpid(maker, &status, 0), maker);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "no time namespace can be made here";
  EXPECT_EQ(WEXITSTATUS(status), kGoesOn);
}

// How long from now on by that clock.
MonotonicTime In(Clock& clock, absl::Duration time) { return clock.MonotonicNow() + time; }

TEST(SystemClockTest, AWaitIsOverWhenItsTimeHasCome) {
  Clock& clock = Clock::System();
  absl::Mutex mutex;
  bool never = false;
  const MonotonicTime deadline = In(clock, absl::Milliseconds(20));
  absl::MutexLock lock(&mutex);
  EXPECT_FALSE(clock.Await(mutex, absl::Condition(&never), deadline));
  EXPECT_GE(clock.MonotonicNow(), deadline);
}

// Of use where this is the first wait of the process: ctest runs each test in one of its own.
TEST(SystemClockTest, AWaitIsOverAlsoWhereNoThreadCanBeMade) {
  Clock& clock = Clock::System();
  absl::Mutex mutex;
  bool never = false;
  {
    const ThreadLimit none;
    absl::MutexLock lock(&mutex);
    EXPECT_FALSE(clock.Await(mutex, absl::Condition(&never), In(clock, absl::Milliseconds(20))));
  }
  absl::MutexLock lock(&mutex);
  EXPECT_FALSE(clock.Await(mutex, absl::Condition(&never), In(clock, absl::Milliseconds(20))));
}

TEST(SystemClockTest, WhatHoldsAlreadyIsNotWaitedFor) {
  Clock& clock = Clock::System();
  absl::Mutex mutex;
  bool yes = true, no = false;
  absl::MutexLock lock(&mutex);
  for (const MonotonicTime deadline :
       {absl::InfiniteDuration(), -absl::InfiniteDuration(), clock.MonotonicNow()}) {
    EXPECT_TRUE(clock.Await(mutex, absl::Condition(&yes), deadline));
  }
  EXPECT_FALSE(clock.Await(mutex, absl::Condition(&no), clock.MonotonicNow()));
  EXPECT_FALSE(clock.Await(mutex, absl::Condition(&no), -absl::InfiniteDuration()));
}

TEST(SystemClockTest, AChangeWakes) {
  Clock& clock = Clock::System();
  for (const absl::Duration time : {absl::InfiniteDuration(), absl::Hours(1)}) {
    absl::Mutex mutex;
    bool changed = false;
    std::thread other([&] {
      absl::MutexLock lock(&mutex);
      changed = true;
    });
    {
      absl::MutexLock lock(&mutex);
      EXPECT_TRUE(clock.Await(mutex, absl::Condition(&changed), In(clock, time)));
    }
    other.join();
  }
}

// Waits that end in time, too late and at the very moment, on mutexes that do not live longer.
TEST(SystemClockTest, ManyAtOnce) {
  Clock& clock = Clock::System();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i, &clock] {
      for (int round = 0; round < 200; ++round) {
        auto mutex = std::make_unique<absl::Mutex>();
        bool changed = false;
        std::thread other([&] {
          absl::MutexLock lock(mutex.get());
          changed = true;
        });
        {
          absl::MutexLock lock(mutex.get());
          clock.Await(*mutex, absl::Condition(&changed),
                      In(clock, absl::Microseconds(20 * (i + round % 7))));
        }
        other.join();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SimulatedClockTest, ItsTimeAloneEndsAWait) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  absl::Mutex mutex;
  bool never = false, over = false;
  std::thread waiting([&] {
    absl::MutexLock lock(&mutex);
    EXPECT_FALSE(clock.Await(mutex, absl::Condition(&never), absl::Hours(1)));
    EXPECT_EQ(clock.MonotonicNow(), absl::Hours(1));
    over = true;
  });
  clock.AwaitWaits(1);
  clock.Advance(absl::Minutes(59));
  {
    absl::MutexLock lock(&mutex);
    EXPECT_FALSE(over);
  }
  clock.JumpWall(absl::FromUnixSeconds(1'000'000));
  clock.Advance(absl::Minutes(1));
  waiting.join();
}

TEST(SimulatedClockTest, AChangeEndsAWaitAndWhatIsOverIsNotWaitedFor) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  absl::Mutex mutex;
  bool changed = false;
  std::thread waiting([&] {
    absl::MutexLock lock(&mutex);
    EXPECT_TRUE(clock.Await(mutex, absl::Condition(&changed), absl::InfiniteDuration()));
    changed = false;
    EXPECT_FALSE(clock.Await(mutex, absl::Condition(&changed), absl::ZeroDuration()));
  });
  clock.AwaitWaits(1);
  {
    absl::MutexLock lock(&mutex);
    changed = true;
  }
  waiting.join();
}

// Threads that wait for a time each, one after the other, while the time is moved by steps.
TEST(SimulatedClockTest, NobodySleepsPastItsTime) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  constexpr int kThreads = 4, kRounds = 200;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&clock, i] {
      for (int round = 1; round <= kRounds; ++round) {
        auto mutex = std::make_unique<absl::Mutex>();
        bool never = false;
        absl::MutexLock lock(mutex.get());
        clock.Await(*mutex, absl::Condition(&never), absl::Milliseconds(round * (i + 1)));
        EXPECT_GE(clock.MonotonicNow(), absl::Milliseconds(round * (i + 1)));
      }
    });
  }
  for (int step = 0; step < kRounds * kThreads; ++step) clock.Advance(absl::Milliseconds(1));
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace flyball
