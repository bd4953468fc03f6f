#include "serve/front/prober.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/thread_limit.h"
#include "http/address.h"
#include "http/client/readiness_answer.h"

namespace flyball::serve {
namespace {

// The socket address of "host:port" with a literal address; its length, 0 for any other text.
socklen_t ParseAddress(absl::string_view text, sockaddr_storage& out) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) ||
      port == 0 || port > 65535) {
    return 0;
  }
  absl::string_view host = text.substr(0, colon);
  const bool brackets = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  const std::optional<http::IpAddress> ip = http::IpAddress::Parse(host);
  if (!ip.has_value() || ip->v4 == brackets) return 0;
  return http::ToSockaddr({*ip, static_cast<uint16_t>(port)}, out);
}

}  // namespace

// One probe, which never blocks: its owner polls `fd` and calls Advance.
class Prober::Probe {
 public:
  Probe(const std::string& address, const ReadinessCheck& check, MonotonicTime deadline,
        std::function<void(bool)> done)
      : deadline_(deadline), done_(std::move(done)) {
    if (check.kind == ReadinessCheck::Kind::kHttpGet) {
      unsent_ = absl::StrCat("GET ", check.path,
                             " HTTP/1.1\r\nHost: ", check.host.empty() ? address : check.host,
                             "\r\nUser-Agent: flyball-probe\r\nConnection: close\r\n\r\n");
    }
    sockaddr_storage to = {};
    const socklen_t size = ParseAddress(address, to);
    if (size == 0) return;
    fd_ = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return;
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&to), size) != 0 && errno != EINPROGRESS) {
      Close();
    }
  }
  ~Probe() { Close(); }

  int fd() const { return fd_; }
  short events() const { return connected_ && unsent_.empty() ? POLLIN : POLLOUT; }
  MonotonicTime deadline() const { return deadline_; }
  void Tell(bool passed) { done_(passed); }

  // The result; nullopt: the probe goes on.
  std::optional<bool> Advance(MonotonicTime now) {
    if (fd_ < 0) return false;
    if (!connected_) {
      pollfd one = {.fd = fd_, .events = POLLOUT, .revents = 0};
      if (poll(&one, 1, 0) == 0) return Unfinished(now);
      int error = 0;
      socklen_t size = sizeof(error);
      if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return false;
      connected_ = true;
      if (unsent_.empty()) return true;
    }
    if (!unsent_.empty()) {
      const ssize_t sent = send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return false;
      if (sent > 0) unsent_.erase(0, static_cast<size_t>(sent));
      if (!unsent_.empty()) return Unfinished(now);
    }
    char buffer[http::kReadinessAnswerSize];
    const ssize_t got = recv(fd_, buffer, http::kReadinessAnswerSize - answer_.size(), 0);
    if (got < 0 && errno == EAGAIN) return Unfinished(now);
    if (got <= 0) return false;
    answer_.append(buffer, static_cast<size_t>(got));
    if (answer_.size() < http::kReadinessAnswerSize) return Unfinished(now);
    return http::SaysReady(answer_);
  }

 private:
  std::optional<bool> Unfinished(MonotonicTime now) const {
    return now >= deadline_ ? std::optional<bool>(false) : std::nullopt;
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  const MonotonicTime deadline_;
  const std::function<void(bool)> done_;
  int fd_ = -1;
  bool connected_ = false;
  std::string unsent_;
  std::string answer_;  // its first bytes
};

Prober::Prober(Clock& clock) : clock_(clock) {}
Prober::~Prober() { Stop(); }

absl::Status Prober::Start() {
  wake_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_fd_ < 0) return absl::UnavailableError(absl::StrCat("eventfd: ", strerror(errno)));
  absl::MutexLock lock(&mutex_);
  absl::StatusOr<std::thread> made = MakeThread([this] { Run(); });
  if (!made.ok()) {
    close(std::exchange(wake_fd_, -1));
    return made.status();
  }
  thread_ = *std::move(made);
  running_ = true;
  return absl::OkStatus();
}

void Prober::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    if (!std::exchange(running_, false)) return;
  }
  eventfd_write(wake_fd_, 1);
  thread_.join();
  close(wake_fd_);
}

void Prober::Ask(const std::string& address, const ReadinessCheck& check,
                 std::function<void(bool)> done) {
  {
    absl::MutexLock lock(&mutex_);
    if (running_) {
      new_.push_back(std::make_unique<Probe>(address, check, clock_.MonotonicNow() + kTimeout,
                                             std::move(done)));
      eventfd_write(wake_fd_, 1);
      return;
    }
  }
  done(false);
}

bool Prober::TakeNew(std::vector<std::unique_ptr<Probe>>& probes) {
  absl::MutexLock lock(&mutex_);
  std::move(new_.begin(), new_.end(), std::back_inserter(probes));
  new_.clear();
  return running_;
}

void Prober::Sleep(const std::vector<std::unique_ptr<Probe>>& probes) {
  std::vector<pollfd> polled = {{.fd = wake_fd_, .events = POLLIN, .revents = 0}};
  MonotonicTime until = absl::InfiniteDuration();
  for (const auto& probe : probes) {
    polled.push_back({.fd = probe->fd(), .events = probe->events(), .revents = 0});
    until = std::min(until, probe->deadline());
  }
  int64_t wait = -1;
  if (!probes.empty()) {
    const absl::Duration left = until - clock_.MonotonicNow();
    wait = std::max<int64_t>(0, absl::ToInt64Milliseconds(left) + 1);
  }
  (void)poll(polled.data(), polled.size(), static_cast<int>(wait));
  eventfd_t value;
  (void)eventfd_read(wake_fd_, &value);
}

void Prober::Run() {
  std::vector<std::unique_ptr<Probe>> probes;
  while (TakeNew(probes)) {
    const MonotonicTime now = clock_.MonotonicNow();
    std::vector<std::pair<std::unique_ptr<Probe>, bool>> over;
    std::erase_if(probes, [&](std::unique_ptr<Probe>& probe) {
      const std::optional<bool> passed = probe->Advance(now);
      if (passed.has_value()) over.emplace_back(std::move(probe), *passed);
      return passed.has_value();
    });
    for (const auto& [probe, passed] : over) probe->Tell(passed);
    if (over.empty()) Sleep(probes);
  }
  for (const auto& probe : probes) probe->Tell(false);
}

}  // namespace flyball::serve
