#include "http/server/event_workers.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
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
  bool waits = false;
  absl::Notification begun, release;
};

class EventWorkersTest : public testing::Test {
 protected:
  void Start(int ready, int max) {
    workers_.emplace(ready, max, &count_, [](void* subject) {
      auto& one = *static_cast<Subject*>(subject);
      std::optional<EventWorkers::Waiting> waiting;
      if (one.waits) waiting.emplace();
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

}  // namespace
}  // namespace flyball::http
