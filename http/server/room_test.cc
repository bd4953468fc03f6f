#include "http/server/room.h"

#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "base/clock.h"

namespace flyball::http {
namespace {

TEST(RoomTest, WhatDoesNotFitWaits) {
  Clock& clock = Clock::System();
  Room room({.all = 1'000'000, .free = 64'000}, clock);
  const auto soon = [&clock] { return clock.MonotonicNow() + absl::Milliseconds(50); };
  auto first = room.Take(600'000, soon());
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(room.Take(600'000, soon()).status()));
  {
    const auto rest = room.Take(400'000, soon());
    EXPECT_TRUE(rest.ok());
    EXPECT_TRUE(room.Take(64'000, soon()).ok());
  }
  std::atomic<bool> got = false;
  std::thread waiting([&] {
    // More than there is at all: it gets all of it.
    got = room.Take(5'000'000, clock.MonotonicNow() + absl::Seconds(60)).ok();
  });
  *first = nullptr;
  waiting.join();
  EXPECT_TRUE(got);
  EXPECT_TRUE(room.Take(1'000'000, soon()).ok());
}

TEST(RoomTest, WhoeverComesTooManyIsRefused) {
  SimulatedClock clock{absl::UnixEpoch()};
  Room places({.all = 1, .max_waiting = 1}, clock);
  auto place = places.Take(1, clock.MonotonicNow());
  ASSERT_TRUE(place.ok());
  absl::Status waited;
  const auto wait = [&] {
    waited = places.Take(1, clock.MonotonicNow() + absl::Seconds(5)).status();
  };
  std::thread waiting(wait);
  clock.AwaitWaits(1);
  EXPECT_TRUE(
      absl::IsResourceExhausted(places.Take(1, clock.MonotonicNow() + absl::Seconds(5)).status()));
  clock.Advance(absl::Seconds(5));
  waiting.join();
  EXPECT_TRUE(absl::IsDeadlineExceeded(waited));
  std::thread next(wait);
  clock.AwaitWaits(2);
  *place = nullptr;
  next.join();
  EXPECT_TRUE(waited.ok());
}

TEST(RoomTest, ThoseWhoWaitHoldNoMoreThanTheyMay) {
  SimulatedClock clock{absl::UnixEpoch()};
  Room room({.all = 100, .free = 10, .max_waiting = 50}, clock);
  const auto soon = [&clock] { return clock.MonotonicNow() + absl::Seconds(5); };
  const auto first = room.Take(100, soon(), 1000);  // which does not wait
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(room.Take(10, soon(), 1000).ok());
  uint64_t waits = 0;
  for (const size_t held : {40, 1000}) {  // one alone may wait, whatever it holds
    absl::Status waited;
    std::thread waiting([&] { waited = room.Take(100, soon(), held).status(); });
    clock.AwaitWaits(++waits);
    EXPECT_TRUE(absl::IsResourceExhausted(room.Take(100, soon(), 11).status())) << held;
    clock.Advance(absl::Seconds(5));
    waiting.join();
    EXPECT_TRUE(absl::IsDeadlineExceeded(waited)) << held;
  }
}

TEST(RoomTest, WhatIsTakenCountsElsewhereTooUntilItIsGone) {
  size_t elsewhere = 0;
  const auto count = [&elsewhere](size_t amount) {
    elsewhere += amount;
    return std::shared_ptr<const void>(&elsewhere,
                                       [&elsewhere, amount](const void*) { elsewhere -= amount; });
  };
  SimulatedClock clock{absl::UnixEpoch()};
  Room room({.all = 100, .free = 10, .also = count}, clock);
  auto first = room.Take(60, clock.MonotonicNow());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(elsewhere, 60u);
  EXPECT_TRUE(room.Take(10, clock.MonotonicNow()).ok());
  EXPECT_FALSE(room.Take(60, clock.MonotonicNow()).ok());
  EXPECT_EQ(elsewhere, 60u) << "what needs no room, or gets none, counts nowhere";
  *first = nullptr;
  EXPECT_EQ(elsewhere, 0u);
  const auto all = room.Take(5'000, clock.MonotonicNow());
  EXPECT_TRUE(all.ok());
  EXPECT_EQ(elsewhere, 100u);
}

TEST(RoomTest, WhatIsHeldDuringAWaitCountsHereAlone) {
  SimulatedClock clock{absl::UnixEpoch()};
  Room room({.all = 100, .max_waiting = 50}, clock);
  const auto soon = [&clock] { return clock.MonotonicNow() + absl::Seconds(5); };
  std::shared_ptr<const void> counted[3];
  for (auto& one : counted) one = std::make_shared<int>();
  auto first = room.Take(100, soon(), 50, &counted[0]);
  ASSERT_TRUE(first.ok());
  absl::Status waited;
  std::thread waiting([&] { waited = room.Take(100, soon(), 50, &counted[1]).status(); });
  clock.AwaitWaits(1);
  EXPECT_TRUE(absl::IsResourceExhausted(room.Take(100, soon(), 50, &counted[2]).status()));
  *first = nullptr;
  waiting.join();
  EXPECT_TRUE(waited.ok());
  EXPECT_NE(counted[0], nullptr) << "it did not wait";
  EXPECT_EQ(counted[1], nullptr);
  EXPECT_NE(counted[2], nullptr) << "it was refused";
}

}  // namespace
}  // namespace flyball::http
