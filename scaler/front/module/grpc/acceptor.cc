#include "scaler/front/module/grpc/acceptor.h"

#include <arpa/inet.h>
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
#include "absl/strings/str_cat.h"
#include "base/thread_limit.h"

namespace flyball::front {
namespace {

// How long it waits where the process has no file descriptor left.
constexpr int kPauseMs = 100;

// -1: it can't be had.
int ListenOn(const addrinfo& address) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1, off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (bind(fd, address.ai_addr, address.ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
  close(fd);
  return -1;
}

int ListenOn(const std::string& host, const std::string& port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found) != 0) {
    return -1;
  }
  const absl::Cleanup freed = [found] { freeaddrinfo(found); };
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int fd = ListenOn(*one);
    if (fd >= 0) return fd;
  }
  return -1;
}

// The address, or the network that one host has of IPv6.
std::string OriginOf(const sockaddr_storage& peer) {
  if (peer.ss_family == AF_INET) {
    const in_addr& address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    return std::string(reinterpret_cast<const char*>(&address), sizeof address);
  }
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  const auto* const bytes = reinterpret_cast<const char*>(&address);
  return IN6_IS_ADDR_V4MAPPED(&address) ? std::string(bytes + 12, 4) : std::string(bytes, 8);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(const std::string& address,
                                                           const AdmissionWindow::Limits& limits) {
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  }
  int listener = -1;
  if (!port.empty()) {
    if (host.empty() || host == "0.0.0.0") listener = ListenOn("::", port);
    if (listener < 0) listener = ListenOn(host, port);
  }
  const int stop = listener < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
  if (stop < 0) {
    if (listener >= 0) close(listener);
    return absl::UnavailableError(
        absl::StrCat("the front's port: can't listen on ", address, ": taken, or no such address"));
  }
  return std::unique_ptr<Acceptor>(new Acceptor(listener, stop, limits));
}

Acceptor::~Acceptor() {
  if (thread_.joinable()) {
    eventfd_write(stop_, 1);
    thread_.join();
  }
  close(listener_);
  close(stop_);
}

absl::Status Acceptor::Start(const Clock& clock, std::function<void(int listener, int fd)> take) {
  return UnlessNoThread([&] {
    thread_ = std::thread([this, &clock, take = std::move(take)] { Run(clock, take); });
    return absl::OkStatus();
  });
}

uint16_t Acceptor::port() const {
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  if (getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  return ntohs(own.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(own).sin_port
                                        : reinterpret_cast<const sockaddr_in6&>(own).sin6_port);
}

void Acceptor::Run(const Clock& clock, const std::function<void(int listener, int fd)>& take) {
  while (true) {
    pollfd both[] = {{.fd = stop_, .events = POLLIN, .revents = 0},
                     {.fd = listener_, .events = POLLIN, .revents = 0}};
    poll(both, 2, -1);
    if (both[0].revents != 0) return;
    sockaddr_storage peer = {};
    socklen_t size = sizeof peer;
    const int fd =
        accept4(listener_, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) poll(both, 1, kPauseMs);
      continue;
    }
    if (!window_.Admit(OriginOf(peer), clock.MonotonicNow())) {
      close(fd);
      continue;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    take(listener_, fd);
  }
}

}  // namespace flyball::front
