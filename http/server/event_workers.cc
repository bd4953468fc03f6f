#include "http/server/event_workers.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <string>

#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "spdlog/spdlog.h"

namespace flyball::http {
namespace {

constexpr int kIdleMs = 10'000;  // after this time a worker above the minimum ends

// The EventWorkers that this thread belongs to; nullptr: none.
thread_local EventWorkers* workers_of_this_thread = nullptr;

}  // namespace

EventWorkers::~EventWorkers() {
  if (epoll_ >= 0) close(epoll_);
  if (stop_ >= 0) close(stop_);
}

absl::Status EventWorkers::Start() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_ < 0 || stop_ < 0) {
    return absl::UnavailableError("cannot make an event queue: no file descriptors left");
  }
  absl::MutexLock lock(&mutex_);
  for (int i = 0; i < ready_; ++i) RETURN_IF_ERROR(Add());
  return absl::OkStatus();
}

bool EventWorkers::Await(int fd, void* subject, uint32_t events, bool known) {
  epoll_event event = {};
  event.events = events | EPOLLONESHOT;
  // A peer that has ended its side may still take an answer. While the answer waits, the end would
  // be reported again and again.
  if ((events & EPOLLIN) != 0) event.events |= EPOLLRDHUP;
  event.data.ptr = subject;
  return epoll_ctl(epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0;
}

bool EventWorkers::Watch(int fd, void* subject) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLEXCLUSIVE;
  event.data.ptr = subject;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventWorkers::BeginWaiting() {
  if (count_ - ++waiting_ >= ready_) return;
  absl::MutexLock lock(&mutex_);
  if (stopping_ || count_ >= max_ || count_ - waiting_ >= ready_) return;
  const absl::Status added = Add();  // if it fails, the existing workers do the work
  if (!added.ok() && !std::exchange(complained_, true)) {
    spdlog::warn("requests wait for the {} threads that there are: {}", count_.load(),
                 std::string(added.message()));
  }
}

void EventWorkers::JoinFinished() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    for (const uint64_t id : std::exchange(finished_, {})) {
      threads.push_back(std::move(workers_.extract(id).mapped()));
    }
  }
  for (std::thread& thread : threads) thread.join();
}

void EventWorkers::Stop() {
  absl::flat_hash_map<uint64_t, std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    threads = std::exchange(workers_, {});
    finished_.clear();
  }
  if (epoll_ < 0 || stop_ < 0) return;
  // Level-triggered and never read: every worker sees it.
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_, &one, sizeof(one));
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, stop_, &event);
  for (auto& [id, thread] : threads) thread.join();
}

absl::Status EventWorkers::Add() {
  const uint64_t id = next_++;
  ASSIGN_OR_RETURN(std::thread worker, MakeThread([this, id] { Work(id); }));
  workers_[id] = std::move(worker);
  ++count_;
  return absl::OkStatus();
}

void EventWorkers::Work(uint64_t id) {
  workers_of_this_thread = this;
  while (true) {
    epoll_event event = {};
    const int got = epoll_wait(epoll_, &event, 1, kIdleMs);
    if (got > 0 && event.data.ptr == nullptr) break;  // stop
    if (got > 0) serve_(event.data.ptr);
    if (got == 0 && LeaveIfSpare()) break;
  }
  absl::MutexLock lock(&mutex_);
  finished_.push_back(id);
}

bool EventWorkers::LeaveIfSpare() {
  absl::MutexLock lock(&mutex_);
  if (stopping_ || count_ - waiting_ <= ready_) return false;
  --count_;
  return true;
}

EventWorkers::Waiting::Waiting() : workers_(workers_of_this_thread) {
  if (workers_ == nullptr) return;
  workers_->BeginWaiting();
  workers_of_this_thread = nullptr;  // last, since the above may throw for want of memory
}

EventWorkers::Waiting::~Waiting() {
  if (workers_ == nullptr) return;
  --workers_->waiting_;
  workers_of_this_thread = workers_;
}

}  // namespace flyball::http
