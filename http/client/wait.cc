#include "http/client/wait.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::http {
namespace {

constexpr size_t kMostSockets = 16;

int Milliseconds(absl::Duration left) {
  if (left == absl::InfiniteDuration()) return -1;
  // Rounded up: a wait that ends early would be repeated at once.
  const int64_t ms = absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
  return static_cast<int>(std::clamp<int64_t>(ms, 0, INT_MAX));
}

}  // namespace

StopSignal::StopSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StopSignal::~StopSignal() {
  if (fd_ >= 0) close(fd_);
}

void StopSignal::Set() {
  set_.store(true, std::memory_order_release);
  const uint64_t one = 1;
  // Nobody reads it: it stays readable, so that later waits end as well.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
}

absl::Status Until::Check() const {
  if (stop->IsSet()) return absl::CancelledError("told to stop");
  return Over() ? absl::DeadlineExceededError("the time is over") : absl::OkStatus();
}

absl::Status WaitFor(absl::Span<pollfd> fds, const Until& until) {
  pollfd all[kMostSockets + 1];
  const size_t count = std::min(fds.size(), kMostSockets);
  std::copy_n(fds.begin(), count, all);
  all[count] = {.fd = until.stop->fd(), .events = POLLIN, .revents = 0};
  while (true) {
    RETURN_IF_ERROR(until.Check());
    const int ready = poll(all, count + 1, Milliseconds(until.Left()));
    if (ready < 0 && errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("poll: ", std::strerror(errno)));
    }
    if (ready <= 0 || all[count].revents != 0) continue;
    std::copy_n(all, count, fds.begin());
    return absl::OkStatus();
  }
}

absl::Status WaitFor(int fd, short events, const Until& until) {
  pollfd one = {.fd = fd, .events = events, .revents = 0};
  return WaitFor(absl::MakeSpan(&one, 1), until);
}

}  // namespace flyball::http
