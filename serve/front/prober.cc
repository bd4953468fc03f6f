#include "serve/front/prober.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/thread_limit.h"
#include "http/client/readiness_probe.h"

namespace flyball::serve {

using front::ProbeResult;

namespace {

std::string RequestOf(const std::string& address, const ReadinessCheck& check) {
  if (check.kind != ReadinessCheck::Kind::kHttpGet) return "";
  return absl::StrCat("GET ", check.path,
                      " HTTP/1.1\r\nHost: ", check.host.empty() ? address : check.host,
                      "\r\nUser-Agent: flyball-probe\r\nConnection: close\r\n\r\n");
}

}  // namespace

struct Prober::Probe {
  http::ReadinessProbe steps;
  MonotonicTime deadline;
  Done done;
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

void Prober::Ask(const std::string& address, const ReadinessCheck& check, Done done) {
  {
    absl::MutexLock lock(&mutex_);
    if (running_) {
      new_.emplace_back(new Probe{.steps = {address, RequestOf(address, check)},
                                  .deadline = clock_.MonotonicNow() + kTimeout,
                                  .done = std::move(done)});
      eventfd_write(wake_fd_, 1);
      return;
    }
  }
  done(ProbeResult::kRefused);
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
    polled.push_back({.fd = probe->steps.fd(), .events = probe->steps.events(), .revents = 0});
    until = std::min(until, probe->deadline);
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
    std::vector<std::pair<std::unique_ptr<Probe>, ProbeResult>> over;
    std::erase_if(probes, [&](std::unique_ptr<Probe>& probe) {
      const std::optional<bool> passed = probe->steps.Advance();
      if (!passed.has_value() && now < probe->deadline) return false;
      ProbeResult result = ProbeResult::kSilent;
      if (passed.has_value()) result = *passed ? ProbeResult::kPassed : ProbeResult::kRefused;
      over.emplace_back(std::move(probe), result);
      return true;
    });
    for (const auto& [probe, result] : over) probe->done(result);
    if (over.empty()) Sleep(probes);
  }
  for (const auto& probe : probes) probe->done(ProbeResult::kRefused);
}

}  // namespace flyball::serve
