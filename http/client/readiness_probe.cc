#include "http/client/readiness_probe.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "http/address.h"

namespace flyball::http {
namespace {

// "HTTP/1.1 2": so many bytes of an answer tell whether its status is 2xx or 3xx.
constexpr size_t kAnswerSize = 10;

}  // namespace

ReadinessProbe::ReadinessProbe(const std::string& address, std::string request)
    : unsent_(std::move(request)) {
  const std::optional<Endpoint> to = Endpoint::Parse(address);
  if (!to.has_value()) return;
  sockaddr_storage target;
  const socklen_t size = ToSockaddr(*to, target);
  fd_ = socket(target.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return;
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&target), size) != 0 && errno != EINPROGRESS) {
    Fail(errno);
  }
}

ReadinessProbe::~ReadinessProbe() {
  if (fd_ >= 0) close(fd_);
}

// No server answers in this way, but a router, or a NetworkPolicy that tells whom it rejects.
void ReadinessProbe::Fail(int error) {
  rejected_ = error == EHOSTUNREACH || error == ENETUNREACH;
  close(std::exchange(fd_, -1));
}

short ReadinessProbe::events() const { return connected_ && unsent_.empty() ? POLLIN : POLLOUT; }

std::optional<bool> ReadinessProbe::Advance() {
  if (rejected_) return std::nullopt;
  if (fd_ < 0) return false;
  if (!connected_) {
    pollfd one = {.fd = fd_, .events = POLLOUT, .revents = 0};
    if (poll(&one, 1, 0) == 0) return std::nullopt;
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return false;
    if (error != 0) {
      Fail(error);
      return Advance();
    }
    connected_ = true;
    if (unsent_.empty()) return true;
  }
  if (!unsent_.empty()) {
    const ssize_t sent = send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) unsent_.erase(0, static_cast<size_t>(sent));
    if (!unsent_.empty()) return std::nullopt;
  }
  while (answer_.size() < kAnswerSize) {
    char buffer[kAnswerSize];
    const ssize_t got = recv(fd_, buffer, kAnswerSize - answer_.size(), 0);
    if (got < 0 && errno == EAGAIN) return std::nullopt;
    if (got <= 0) return false;
    answer_.append(buffer, static_cast<size_t>(got));
  }
  return absl::StartsWith(answer_, "HTTP/1.") && (answer_.back() == '2' || answer_.back() == '3');
}

}  // namespace flyball::http
