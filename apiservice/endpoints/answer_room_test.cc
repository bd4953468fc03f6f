#include "apiservice/endpoints/answer_room.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "base/clock.h"

namespace flyball::apiservice {
namespace {

TEST(AnswerRoomTest, WhatDoesNotFitWaits) {
  Clock& clock = Clock::System();
  AnswerRoom room(1'000'000, clock);
  const auto soon = [&clock] { return clock.MonotonicNow() + absl::Milliseconds(50); };
  auto first = room.Take(600'000, soon());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(room.Take(600'000, soon()), nullptr);
  EXPECT_NE(room.Take(400'000, soon()), nullptr);  // and gives it back
  EXPECT_NE(room.Take(AnswerRoom::kShort, soon()), nullptr);
  std::atomic<bool> got = false;
  std::thread waiting([&] {
    // Longer than there is room at all: it is made when it is the only one.
    got = room.Take(5'000'000, clock.MonotonicNow() + absl::Seconds(60)) != nullptr;
  });
  first.reset();
  waiting.join();
  EXPECT_TRUE(got);
  EXPECT_NE(room.Take(1'000'000, soon()), nullptr);
}

}  // namespace
}  // namespace flyball::apiservice
