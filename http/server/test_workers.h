// For tests of pages that are busy for long.
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "http/server/event_workers.h"

namespace flyball::http {

// How many workers there are after the only one has run this: two if another one could run in its
// place meanwhile.
inline int64_t WorkersAfter(const std::function<void()>& serve) {
  const int ready = eventfd(1, EFD_CLOEXEC);
  std::atomic<int64_t> count = 0;
  absl::Notification served;
  EventWorkers workers(1, 2, &count, [&](void*) {
    serve();
    served.Notify();
  });
  EXPECT_TRUE(workers.Start().ok());
  EXPECT_TRUE(workers.Await(ready, &served, EPOLLIN, false));
  served.WaitForNotification();
  workers.Stop();
  close(ready);
  return count;
}

}  // namespace flyball::http
