#include "scaler/triggers/external/stream_backoff.h"

#include <gtest/gtest.h>

#include <utility>

namespace flyball::scaler {
namespace {

TEST(StreamBackoffTest, DoublesFromTwoSecondsToAMinute) {
  for (const auto& [nth, seconds] :
       {std::pair{0, 2}, {1, 4}, {2, 8}, {3, 16}, {4, 32}, {5, 60}, {6, 60}, {1000, 60}}) {
    EXPECT_EQ(StreamBackoff(nth, 0.5), absl::Seconds(seconds)) << nth;
    EXPECT_EQ(StreamBackoff(nth, 0), absl::Seconds(seconds) * 0.8) << nth;
    EXPECT_LT(StreamBackoff(nth, 0.999), absl::Seconds(seconds) * 1.2) << nth;
  }
}

}  // namespace
}  // namespace flyball::scaler
