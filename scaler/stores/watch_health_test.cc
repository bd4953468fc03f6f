#include "scaler/stores/watch_health.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace flyball::scaler {
namespace {

class WatchHealthTest : public testing::Test {
 protected:
  WatchHealthTest() {
    health_.Opening();
    health_.Listed();
    health_.Opened();
  }

  void Pass(absl::Duration time) { clock_.Advance(time); }

  SimulatedClock clock_{absl::UnixEpoch()};
  WatchHealth health_{"pods", "", clock_};
};

TEST_F(WatchHealthTest, IsFineOnceItIsListedAndOpen) {
  EXPECT_TRUE(health_.fine());
  EXPECT_EQ(health_.Failure(), "");
}

TEST_F(WatchHealthTest, AfterAFailureItMustBeSilentForASecond) {
  health_.Opening();
  health_.StatusChanged(absl::UnavailableError("cut"));
  EXPECT_EQ(health_.Failure(), "the watch of pods fails: cut");
  Pass(absl::Seconds(20));
  health_.Opened();
  health_.StatusChanged(absl::OkStatus());
  const std::string behind = "the watch of pods may not have told yet what it has missed";
  EXPECT_EQ(health_.Failure(), behind);
  EXPECT_EQ(health_.Unusable(), "");
  for (int i = 0; i < 5; ++i) {
    Pass(absl::Milliseconds(900));
    EXPECT_EQ(health_.Failure(), behind);
    health_.Flushed();
  }
  Pass(absl::Milliseconds(999));
  EXPECT_EQ(health_.Failure(), behind);
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(health_.Failure(), "");
  EXPECT_TRUE(health_.fine());
}

TEST_F(WatchHealthTest, AWatchThatIsNeverSilentIsFineAfterTenSeconds) {
  health_.StatusChanged(absl::UnavailableError("cut"));
  health_.Opened();
  health_.StatusChanged(absl::OkStatus());
  for (int i = 0; i < 99; ++i) {
    Pass(absl::Milliseconds(100));
    health_.Flushed();
    EXPECT_NE(health_.Failure(), "");
  }
  Pass(absl::Milliseconds(100));
  health_.Flushed();
  EXPECT_EQ(health_.Failure(), "");
}

TEST_F(WatchHealthTest, AStreamThatEndsWellMayTakeASecondToBeOpenAgain) {
  health_.Opening();
  Pass(absl::Milliseconds(500));
  health_.Opening();
  Pass(absl::Milliseconds(500));
  EXPECT_EQ(health_.Failure(), "");
  health_.Opened();
  EXPECT_EQ(health_.Failure(), "");
  EXPECT_TRUE(health_.fine());
}

TEST_F(WatchHealthTest, AfterMoreThanASecondNothingIsSureUntilItHasCaughtUp) {
  health_.Opening();
  Pass(absl::Milliseconds(1001));
  EXPECT_EQ(health_.Failure(), "the watch of pods is not open yet");
  Pass(absl::Seconds(14));
  health_.Opened();
  EXPECT_NE(health_.Failure(), "");
  Pass(absl::Seconds(1));
  EXPECT_EQ(health_.Failure(), "");
}

TEST_F(WatchHealthTest, SilenceWhileItIsOpenedAgainTellsNothing) {
  health_.StatusChanged(absl::UnavailableError("cut"));
  health_.Opened();
  health_.StatusChanged(absl::OkStatus());
  Pass(absl::Milliseconds(900));
  health_.Opening();
  Pass(absl::Milliseconds(900));
  EXPECT_NE(health_.Failure(), "");
  health_.Opened();
  Pass(absl::Milliseconds(900));
  EXPECT_NE(health_.Failure(), "");
  Pass(absl::Milliseconds(100));
  EXPECT_EQ(health_.Failure(), "");
}

}  // namespace
}  // namespace flyball::scaler
