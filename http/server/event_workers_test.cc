#include "http/server/event_workers.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace flyball::http {
namespace {

// Ready at once; served once.
struct Subject {
  Subject() : fd(eventfd(1, EFD_CLOEXEC)) {}
  ~Subject() { close(fd); }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const int fd;
  bool waits = false, waits_twice = false;
  absl::Notification begun, release;
};

class EventWorkersTest : public testing::Test {
 protected:
  void Start(int ready, int max) {
    workers_.emplace(ready, max, &count_, [](void* subject) {
      auto& one = *static_cast<Subject*>(subject);
      std::optional<EventWorkers::Waiting> waiting, within;
      if (one.waits) waiting.emplace();
      if (one.waits_twice) within.emplace();
      one.begun.Notify();
      one.release.WaitForNotification();
    });
    ASSERT_TRUE(workers_->Start().ok());
  }
  void Serve(Subject& subject) {
    ASSERT_TRUE(workers_->Await(subject.fd, &subject, EPOLLIN, false));
  }

  std::atomic<int64_t> count_{0};
  std::optional<EventWorkers> workers_;
};

TEST_F(EventWorkersTest, ForEachThatWaitsThereIsAnother) {
  std::vector<Subject> waiting(3);
  Subject quick;
  Start(1, 4);
  EXPECT_EQ(count_, 1);
  for (Subject& one : waiting) {
    one.waits = true;
    Serve(one);
    one.begun.WaitForNotification();
  }
  Serve(quick);
  quick.begun.WaitForNotification();
  EXPECT_EQ(count_, 4);
  for (Subject& one : waiting) one.release.Notify();
  quick.release.Notify();
  workers_->Stop();  // while what they serve is still there
}

TEST_F(EventWorkersTest, AWaitWithinAWaitIsMadeUpForOnce) {
  Subject one;
  one.waits = one.waits_twice = true;
  Start(1, 4);
  Serve(one);
  one.begun.WaitForNotification();
  EXPECT_EQ(count_, 2);
  one.release.Notify();
  workers_->Stop();
}

TEST_F(EventWorkersTest, WhoWorksIsNotMadeUpFor) {
  std::vector<Subject> working(3);
  Start(2, 10);
  for (Subject& one : working) Serve(one);
  while (working[0].begun.HasBeenNotified() + working[1].begun.HasBeenNotified() +
             working[2].begun.HasBeenNotified() <
         2) {
  }
  EXPECT_EQ(count_, 2);
  for (Subject& one : working) one.release.Notify();
  for (Subject& one : working) one.begun.WaitForNotification();
  workers_->Stop();
}

TEST_F(EventWorkersTest, NeverMoreThanTheLimit) {
  std::vector<Subject> waiting(3);
  Start(1, 2);
  for (Subject& one : waiting) {
    one.waits = true;
    Serve(one);
  }
  waiting[0].begun.WaitForNotification();
  waiting[1].begun.WaitForNotification();
  EXPECT_EQ(count_, 2);
  EXPECT_FALSE(waiting[2].begun.HasBeenNotified());
  for (Subject& one : waiting) one.release.Notify();
  waiting[2].begun.WaitForNotification();
  workers_->Stop();
}

// Its end comes once; served for it again and again, it would take the time of all workers.
TEST(EventWorkersOutputTest, APeerThatEndedIsAwaitedUntilItTakesMore) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const std::vector<char> piece(4096);
  while (write(ends[0], piece.data(), piece.size()) > 0) {
  }
  ASSERT_EQ(shutdown(ends[1], SHUT_WR), 0);
  std::atomic<int64_t> count{0};
  std::atomic<int> served{0};
  absl::Notification taken;
  EventWorkers workers(1, 1, &count, [&](void*) {
    ++served;
    taken.Notify();
  });
  ASSERT_TRUE(workers.Start().ok());
  ASSERT_TRUE(workers.Await(ends[0], &ends, EPOLLOUT, false));
  EXPECT_FALSE(taken.WaitForNotificationWithTimeout(absl::Milliseconds(200)));
  std::vector<char> all(1 << 20);
  while (read(ends[1], all.data(), all.size()) > 0) {
  }
  taken.WaitForNotification();
  workers.Stop();
  EXPECT_EQ(served, 1);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace flyball::http
