#include "adapter/live/scrape/namespace_lanes.h"

#include <gtest/gtest.h>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace flyball::scrape {
namespace {

TEST(NamespaceLanesTest, ANamespaceThatHangsLeavesThreadsAndAllTasksRunAtLast) {
  WorkerPool pool(4);
  NamespaceLanes lanes(pool, 4);
  absl::Notification go_on;
  absl::BlockingCounter all(10);
  for (int i = 0; i < 10; ++i) {
    lanes.Submit("a", [&] {
      go_on.WaitForNotification();
      all.DecrementCount();
    });
  }
  absl::Notification of_other, of_operator;
  lanes.Submit("b", [&] { of_other.Notify(); });
  lanes.Submit("", [&] { of_operator.Notify(); });
  EXPECT_TRUE(of_other.WaitForNotificationWithTimeout(absl::Seconds(30)));
  EXPECT_TRUE(of_operator.WaitForNotificationWithTimeout(absl::Seconds(30)));
  go_on.Notify();
  all.Wait();
  pool.Stop();
}

}  // namespace
}  // namespace flyball::scrape
