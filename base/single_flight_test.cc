#include "base/single_flight.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace flyball {
namespace {

using Flights = SingleFlight<int>;

constexpr MonotonicTime kNever = absl::InfiniteDuration();

TEST(SingleFlightTest, EqualQuestionsUnderWayAreAskedOnce) {
  Flights flights(Clock::System(), "answer", 10);
  std::atomic<int> asked{0};
  absl::Notification begun, release;
  const auto ask = [&]() -> Flights::Answer {
    ++asked;
    begun.Notify();
    release.WaitForNotification();
    return 7;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(flights.Ask("q", kNever, ask).value(), 7); });
  }
  begun.WaitForNotification();
  while (flights.askers() < 4) std::this_thread::yield();
  release.Notify();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(flights.askers(), 0);
  EXPECT_EQ(flights.Ask("q", kNever, [] { return Flights::Answer(8); }).value(), 8) << "asked anew";
}

TEST(SingleFlightTest, AboveTheLimitNobodyWaits) {
  Flights flights(Clock::System(), "answer", 1);
  absl::Notification begun, release;
  std::thread first([&] {
    EXPECT_TRUE(flights
                    .Ask("q", kNever,
                         [&]() -> Flights::Answer {
                           begun.Notify();
                           release.WaitForNotification();
                           return 1;
                         })
                    .ok());
  });
  begun.WaitForNotification();
  for (const char* question : {"q", "other"}) {
    const auto refused = flights.Ask(question, kNever, [] { return Flights::Answer(2); });
    EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << question;
  }
  release.Notify();
  first.join();
  EXPECT_TRUE(flights.Ask("other", kNever, [] { return Flights::Answer(2); }).ok());
}

TEST(SingleFlightTest, NobodyGetsMorePlacesThanAreLeft) {
  Flights flights(Clock::System(), "answer", 2);
  const auto at_once = [] { return Flights::Answer(2); };
  const auto while_one_is_taken = [&]() -> Flights::Answer {
    for (const char* question : {"q", "other"}) {
      const auto refused = flights.Ask(question, kNever, at_once, "ann");
      EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << question;
    }
    EXPECT_TRUE(flights.Ask("other", kNever, at_once).ok());
    return flights.Ask("other", kNever, at_once, "bob");
  };
  EXPECT_EQ(flights.Ask("q", kNever, while_one_is_taken, "ann").value(), 2);
  EXPECT_EQ(flights.Ask("q", kNever, at_once, "ann").value(), 2) << "places are given back";
}

TEST(SingleFlightTest, WhatALibraryThrowsEndsTheFlight) {
  Flights flights(Clock::System(), "answer", 2);
  EXPECT_THROW((void)flights.Ask(
                   "q", kNever, []() -> Flights::Answer { throw std::runtime_error("no memory"); }),
               std::runtime_error);
  EXPECT_EQ(flights.askers(), 0);
  EXPECT_TRUE(flights.Ask("q", kNever, [] { return Flights::Answer(1); }).ok());
}

// The asker that calls takes longer than the other one may wait.
TEST(SingleFlightTest, EachWaitsUntilItsOwnDeadline) {
  Flights flights(Clock::System(), "answer");
  absl::Notification begun, release;
  std::thread first([&] {
    const auto answer = flights.Ask("q", kNever, [&]() -> Flights::Answer {
      begun.Notify();
      release.WaitForNotification();
      return 1;
    });
    EXPECT_EQ(answer.value(), 1);
  });
  begun.WaitForNotification();
  const MonotonicTime deadline = Clock::System().MonotonicNow() + absl::Milliseconds(5);
  const auto late = flights.Ask("q", deadline, [] { return Flights::Answer(2); });
  EXPECT_EQ(late.status(),
            absl::DeadlineExceededError("another request's answer has not been answered yet"));
  EXPECT_GE(Clock::System().MonotonicNow(), deadline);
  release.Notify();
  first.join();
}

TEST(SingleFlightTest, FailuresAreSharedToo) {
  Flights flights(Clock::System(), "answer");
  const auto failed =
      flights.Ask("q", kNever, [] { return Flights::Answer(absl::UnavailableError("gone")); });
  EXPECT_EQ(failed.status(), absl::UnavailableError("gone"));
}

}  // namespace
}  // namespace flyball
