#include "scaler/shards/remembering_owner.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace flyball::scaler {
namespace {

const AutoscalerKey kKey = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"};

// Answers each Load with the status that is set.
class OneMemory : public ShardMemory {
 public:
  absl::StatusOr<bool> IsAnySaved() override { return true; }
  absl::Status Move(int, int64_t) override { return absl::OkStatus(); }
  absl::Status Load(int, const ShardTerm&) override {
    absl::MutexLock lock(&mutex_);
    ++loads_;
    return status_;
  }
  void Save(int) override {}
  void Drop(int) override {}
  bool IsSafe(const AutoscalerKey&, int32_t) override { return true; }
  bool TellsOfSleep(const AutoscalerKey&) override { return true; }
  std::optional<RememberedState> Take(const AutoscalerKey&, int32_t, absl::Time) override {
    return std::nullopt;
  }

  void Answer(absl::Status status) {
    absl::MutexLock lock(&mutex_);
    status_ = std::move(status);
  }
  int loads() {
    absl::MutexLock lock(&mutex_);
    return loads_;
  }

 private:
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  int loads_ ABSL_GUARDED_BY(mutex_) = 0;
};

class RememberingOwnerTest : public testing::Test {
 protected:
  void SetUp() override {
    owner_.OnChange([this] { told_.Notify(); });
  }
  // Another try, which the thread has ended when it waits again.
  void TryAgain() {
    clock_.Advance(absl::Seconds(2));
    clock_.AwaitWaits(++waits_);
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  uint64_t waits_ = 1;
  absl::Notification told_;
  OneMemory memory_;
  RememberingOwner owner_{memory_, clock_};
};

TEST_F(RememberingOwnerTest, RemembersFromTheStart) {
  owner_.Start();
  EXPECT_TRUE(owner_.Remembers(kKey));
  EXPECT_TRUE(owner_.MayShrink(kKey, 3));
}

TEST_F(RememberingOwnerTest, AnApiServerThatComesLateIsWaitedFor) {
  memory_.Answer(absl::UnavailableError("connection refused"));
  owner_.Start();
  clock_.AwaitWaits(waits_);
  for (int i = 0; i < 2 * kMemoryTries; ++i) TryAgain();
  EXPECT_FALSE(owner_.Remembers(kKey));
  EXPECT_FALSE(owner_.MayShrink(kKey, 3));
  EXPECT_TRUE(owner_.Owns(kKey)) << "it may grow";
  memory_.Answer(absl::OkStatus());
  clock_.Advance(absl::Seconds(2));
  told_.WaitForNotification();
  EXPECT_TRUE(owner_.Remembers(kKey));
  EXPECT_TRUE(owner_.MayShrink(kKey, 3));
}

TEST_F(RememberingOwnerTest, WhoMayNotReadWhatIsKeptBeginsWithoutIt) {
  memory_.Answer(absl::PermissionDeniedError("forbidden"));
  owner_.Start();
  clock_.AwaitWaits(waits_);
  for (int i = 2; i < kMemoryTries; ++i) TryAgain();
  EXPECT_FALSE(owner_.Remembers(kKey));
  clock_.Advance(absl::Seconds(2));
  told_.WaitForNotification();
  EXPECT_TRUE(owner_.MayShrink(kKey, 3));
  EXPECT_EQ(memory_.loads(), kMemoryTries);
}

}  // namespace
}  // namespace flyball::scaler
