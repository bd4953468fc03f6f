#include "http/server/newcomers.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace flyball::http {

Newcomers::~Newcomers() {
  if (said_ >= 0) close(said_);
  if (waiting_ >= 0) close(waiting_);
}

absl::Status Newcomers::Start() {
  said_ = epoll_create1(EPOLL_CLOEXEC);
  waiting_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  if (said_ >= 0 && waiting_ >= 0) return absl::OkStatus();
  return absl::UnavailableError("cannot make an event queue: no file descriptors left");
}

bool Newcomers::Begin(ServerConnection* connection) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
  event.data.ptr = connection;
  return epoll_ctl(said_, EPOLL_CTL_ADD, connection->fd(), &event) == 0;
}

void Newcomers::Gather(const std::function<void(ServerConnection*)>& give_up) {
  std::array<epoll_event, 128> events;
  const int count = epoll_wait(said_, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    auto* connection = static_cast<ServerConnection*>(events[static_cast<size_t>(i)].data.ptr);
    epoll_ctl(said_, EPOLL_CTL_DEL, connection->fd(), nullptr);
    const bool made_room =
        connection->deadline_ns.exchange(ServerConnection::kNever) == ServerConnection::kEnded;
    const bool left =
        (events[static_cast<size_t>(i)].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (made_room || left) {
      give_up(connection);
    } else if (ServerConnection* const oldest = Put(connection); oldest != nullptr) {
      give_up(oldest);
    } else {
      const uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(waiting_, &one, sizeof(one));
    }
  }
}

ServerConnection* Newcomers::Take() {
  uint64_t one = 0;
  if (read(waiting_, &one, sizeof(one)) != sizeof(one)) return nullptr;
  absl::MutexLock lock(&mutex_);
  if (turns_.empty()) return nullptr;
  const uint64_t origin = turns_.front();
  turns_.pop_front();
  const auto found = ready_.find(origin);
  ServerConnection* const newest = found->second.back();
  found->second.pop_back();
  --count_;
  if (found->second.empty()) {
    ready_.erase(found);
  } else {
    turns_.push_back(origin);
  }
  return newest;
}

ServerConnection* Newcomers::Put(ServerConnection* connection) {
  absl::MutexLock lock(&mutex_);
  std::deque<ServerConnection*>& like_it = ready_[connection->origin];
  if (like_it.empty()) turns_.push_back(connection->origin);
  like_it.push_back(connection);
  if (++count_ <= kMostWaiting) return nullptr;
  const auto most = std::max_element(
      ready_.begin(), ready_.end(),
      [](const auto& one, const auto& other) { return one.second.size() < other.second.size(); });
  ServerConnection* const oldest = most->second.front();
  most->second.pop_front();
  --count_;
  if (most->second.empty()) {
    turns_.erase(std::find(turns_.begin(), turns_.end(), most->first));
    ready_.erase(most);
  }
  return oldest;
}

}  // namespace flyball::http
