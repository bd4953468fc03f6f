#include "scaler/front/module/grpc/acceptor.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/thread_limit.h"

namespace flyball::front {
namespace {

// How long it waits where the process has no file descriptor left.
constexpr int kPauseMs = 100;

// On the first address of the host that can be had; fd -1: on none.
http::Listener ListenOn(const std::string& host, const std::string& port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found) != 0) {
    return {};
  }
  const absl::Cleanup freed = [found] { freeaddrinfo(found); };
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    char address[NI_MAXHOST];
    http::ListenOptions options;
    if (getnameinfo(one->ai_addr, one->ai_addrlen, address, sizeof address, nullptr, 0,
                    NI_NUMERICHOST) != 0 ||
        !absl::SimpleAtoi(port, &options.port)) {
      continue;
    }
    options.bind_address = address;
    if (const auto listener = http::Listen(options); listener.ok()) return *listener;
  }
  return {};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(
    const std::string& address, std::shared_ptr<AdmissionWindow> window) {
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  }
  http::Listener listener;
  if (!port.empty()) listener = ListenOn(host, port);
  const int stop = listener.fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
  if (stop < 0) {
    if (listener.fd >= 0) close(listener.fd);
    return absl::UnavailableError(
        absl::StrCat("the front's port: can't listen on ", address, ": taken, or no such address"));
  }
  return std::unique_ptr<Acceptor>(new Acceptor(listener, stop, std::move(window)));
}

Acceptor::~Acceptor() {
  if (thread_.joinable()) {
    eventfd_write(stop_, 1);
    thread_.join();
  }
  close(listener_.fd);
  close(stop_);
}

absl::Status Acceptor::Start(const Clock& clock, std::function<void(int listener, int fd)> take) {
  return UnlessNoThread([&] {
    thread_ = std::thread([this, &clock, take = std::move(take)] { Run(clock, take); });
    return absl::OkStatus();
  });
}

void Acceptor::Run(const Clock& clock, const std::function<void(int listener, int fd)>& take) {
  while (true) {
    pollfd both[] = {{.fd = stop_, .events = POLLIN, .revents = 0},
                     {.fd = listener_.fd, .events = POLLIN, .revents = 0}};
    poll(both, 2, -1);
    if (both[0].revents != 0) return;
    uint64_t origin = 0;
    const int fd = http::Accept(listener_.fd, &origin);
    if (fd < 0) {
      if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) poll(both, 1, kPauseMs);
      continue;
    }
    if (!window_->Admit(origin, clock.MonotonicNow())) {
      close(fd);
      continue;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    take(listener_.fd, fd);
  }
}

}  // namespace flyball::front
