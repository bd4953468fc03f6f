#include "base/repeating_thread.h"

#include <atomic>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace flyball {
namespace {

class RepeatingThreadTest : public testing::Test {
 protected:
  SimulatedClock clock_{absl::FromUnixSeconds(1000)};
  std::atomic<int> calls_ = 0;
  RepeatingThread thread_{clock_, [this] {
                            ++calls_;
                            return absl::Seconds(10);
                          }};
};

TEST_F(RepeatingThreadTest, CallsWhenTheTimeIsThere) {
  thread_.Start();
  clock_.AwaitWaits(1);
  EXPECT_EQ(calls_, 1);
  clock_.Advance(absl::Seconds(10));
  clock_.AwaitWaits(2);
  EXPECT_EQ(calls_, 2);
}

TEST_F(RepeatingThreadTest, TheFirstCallMayBeLater) {
  thread_.Start(absl::Seconds(5));
  clock_.AwaitWaits(1);
  EXPECT_EQ(calls_, 0);
  clock_.Advance(absl::Seconds(5));
  clock_.AwaitWaits(2);
  EXPECT_EQ(calls_, 1);
}

TEST_F(RepeatingThreadTest, WakingIsNotLost) {
  thread_.Wake();
  thread_.Start(absl::Hours(1));
  clock_.AwaitWaits(1);
  EXPECT_EQ(calls_, 1);
  thread_.Wake();
  clock_.AwaitWaits(2);
  EXPECT_EQ(calls_, 2);
}

TEST_F(RepeatingThreadTest, NoCallBeginsAfterTheStop) {
  thread_.Start(absl::Seconds(5));
  clock_.AwaitWaits(1);
  thread_.BeginStop();
  EXPECT_TRUE(thread_.stopping());
  clock_.Advance(absl::Hours(1));
  thread_.Stop();
  thread_.Stop();
  thread_.Start();
  EXPECT_EQ(calls_, 0);
}

TEST(RepeatingThreadStopTest, WaitsForTheCallUnderWay) {
  absl::Notification begun, release;
  std::atomic<bool> ended = false;
  RepeatingThread thread(Clock::System(), [&] {
    begun.Notify();
    release.WaitForNotification();
    ended = true;
    return absl::InfiniteDuration();
  });
  thread.Start();
  begun.WaitForNotification();
  thread.BeginStop();
  release.Notify();
  thread.Stop();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace flyball
