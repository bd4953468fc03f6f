#include "apiservice/auth/review_flights.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace flyball::apiservice {
namespace {

using Flights = ReviewFlights<int>;

TEST(ReviewFlightsTest, EqualQuestionsUnderWayAreAskedOnce) {
  Flights flights(10);
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
    threads.emplace_back([&] { EXPECT_EQ(flights.Ask("q", ask).value(), 7); });
  }
  begun.WaitForNotification();
  while (flights.waiting() < 4) std::this_thread::yield();
  release.Notify();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(flights.waiting(), 0);
  EXPECT_EQ(flights.Ask("q", [] { return Flights::Answer(8); }).value(), 8) << "asked anew";
}

TEST(ReviewFlightsTest, AboveTheLimitNobodyWaits) {
  Flights flights(1);
  absl::Notification begun, release;
  std::thread first([&] {
    EXPECT_TRUE(flights
                    .Ask("q",
                         [&]() -> Flights::Answer {
                           begun.Notify();
                           release.WaitForNotification();
                           return 1;
                         })
                    .ok());
  });
  begun.WaitForNotification();
  for (const char* question : {"q", "other"}) {
    const auto refused = flights.Ask(question, [] { return Flights::Answer(2); });
    EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << question;
  }
  release.Notify();
  first.join();
  EXPECT_TRUE(flights.Ask("other", [] { return Flights::Answer(2); }).ok());
}

TEST(ReviewFlightsTest, WhatALibraryThrowsEndsTheFlight) {
  Flights flights(2);
  EXPECT_THROW(
      (void)flights.Ask("q", []() -> Flights::Answer { throw std::runtime_error("no memory"); }),
      std::runtime_error);
  EXPECT_EQ(flights.waiting(), 0);
  EXPECT_TRUE(flights.Ask("q", [] { return Flights::Answer(1); }).ok());
}

}  // namespace
}  // namespace flyball::apiservice
