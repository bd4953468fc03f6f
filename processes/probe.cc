#include "processes/probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "http/client/readiness_answer.h"

namespace flyball::processes {
Probe::Probe(const Readiness& readiness, int32_t port) : readiness_(readiness) {
  unsent_ = absl::StrCat("GET ", readiness.path, " HTTP/1.1\r\nHost: 127.0.0.1:", port,
                         "\r\nConnection: close\r\n\r\n");
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (fd_ < 0 || (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
                  errno != EINPROGRESS)) {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
}

Probe::~Probe() {
  if (fd_ >= 0) close(fd_);
}

short Probe::events() const { return step_ == Step::kReceive ? POLLIN : POLLOUT; }

Probe::Result Probe::Advance() {
  if (fd_ < 0) return Result::kNotReady;
  if (step_ == Step::kConnect) {
    pollfd connected = {.fd = fd_, .events = POLLOUT, .revents = 0};
    if (poll(&connected, 1, 0) == 0) return Result::kWait;
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
      return Result::kNotReady;
    }
    if (readiness_.check == Readiness::Check::kTcp) return Result::kReady;
    step_ = Step::kSend;
  }
  if (step_ == Step::kSend) {
    const ssize_t sent = send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? Result::kWait : Result::kNotReady;
    unsent_.erase(0, static_cast<size_t>(sent));
    if (!unsent_.empty()) return Result::kWait;
    step_ = Step::kReceive;
  }
  while (answer_.size() < http::kReadinessAnswerSize) {
    char byte;
    const ssize_t got = recv(fd_, &byte, 1, 0);
    if (got < 0 && errno == EAGAIN) return Result::kWait;
    if (got <= 0) return Result::kNotReady;
    answer_ += byte;
  }
  return http::SaysReady(answer_) ? Result::kReady : Result::kNotReady;
}

}  // namespace flyball::processes
