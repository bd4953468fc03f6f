#include "processes/replicas.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::processes {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(250);
constexpr absl::Duration kLongestPause = absl::Minutes(1);
constexpr absl::Duration kQuiet = absl::Minutes(10);
constexpr absl::Duration kProbeInterval = absl::Milliseconds(100);  // while it is not ready
constexpr absl::Duration kReadyInterval = absl::Seconds(5);         // while it is ready
constexpr absl::Duration kProbeTimeout = absl::Seconds(1);

ProcessPlan PlanOf(const ProcessSetSpec& spec, int32_t index) {
  ProcessPlan plan;
  plan.environment = EnvironmentOf(spec, index);
  for (const std::string& word : spec.command) {
    plan.command.push_back(Expand(word, plan.environment));
  }
  plan.working_directory = spec.working_directory;
  return plan;
}

// Whether processes of `one` may stay if the spec becomes `other`: only the counts may differ.
bool SameTemplate(ProcessSetSpec one, const ProcessSetSpec& other) {
  one.replicas = other.replicas;
  return one == other;
}

std::unique_ptr<http::ReadinessProbe> MakeProbe(const ProcessSetSpec& spec, int32_t index) {
  const std::string address = absl::StrCat("127.0.0.1:", PortOfReplica(spec, index));
  std::string request;
  if (spec.readiness.check != Readiness::Check::kTcp) {
    request = absl::StrCat("GET ", spec.readiness.path, " HTTP/1.1\r\nHost: ", address,
                           "\r\nConnection: close\r\n\r\n");
  }
  return std::make_unique<http::ReadinessProbe>(address, std::move(request));
}

void SetReady(bool ready, absl::Time wall, ReplicaView& view) {
  if (view.ready == ready) return;
  view.ready = ready;
  view.ready_changed = wall;
}

}  // namespace

Replicas::Replicas(ProcessSetSpec spec) : spec_(std::move(spec)) {}
Replicas::~Replicas() = default;

void Replicas::Want(const ProcessSetSpec& spec) { spec_ = spec; }

void Replicas::EndUnwanted(MonotonicTime now) {
  for (auto& [index, replica] : replicas_) {
    const bool wanted = index < spec_.replicas && SameTemplate(replica.spec, spec_);
    if (wanted || replica.view.ending) continue;
    replica.view.ending = true;
    replica.kill_at = now + replica.spec.grace_period;
    replica.probe.reset();
    if (replica.process != nullptr) replica.process->Signal(SIGTERM);
  }
}

void Replicas::Begin(Replica& replica, MonotonicTime now) {
  auto process = Process::Start(PlanOf(replica.spec, replica.view.index));
  replica.begun = replica.probe_at = now;
  if (process.ok()) {
    replica.process = *std::move(process);
    replica.view.pid = replica.process->pid();
    replica.view.problem.clear();
    return;
  }
  replica.view.problem = std::string(process.status().message());
  replica.pause = std::clamp(replica.pause * 2, kFirstPause, kLongestPause);
  replica.begin_at = now + replica.pause;
}

void Replicas::BeginMissing(MonotonicTime now, absl::Time wall) {
  // Fills free indices below the count, unless processes that are being ended still need the
  // places.
  for (int32_t index = 0; index < spec_.replicas; ++index) {
    if (replicas_.size() >= static_cast<size_t>(spec_.replicas)) return;
    const auto [at, is_new] = replicas_.try_emplace(index);
    if (!is_new) continue;
    Replica& replica = at->second;
    replica.spec = spec_;
    replica.view.index = index;
    replica.view.incarnation = ++incarnations_;
    replica.view.started = replica.view.ready_changed = wall;
    replica.begin_at = now;
  }
}

void Replicas::Check(Replica& replica, MonotonicTime now, absl::Time wall) {
  if (replica.spec.readiness.check == Readiness::Check::kNone) {
    return SetReady(true, wall, replica.view);
  }
  if (replica.probe == nullptr) {
    if (now < replica.probe_at) return;
    replica.probe = MakeProbe(replica.spec, replica.view.index);
    replica.probe_at = now + kProbeTimeout;
  }
  std::optional<bool> ready = replica.probe->Advance();
  if (!ready.has_value() && now >= replica.probe_at) ready = false;
  if (!ready.has_value()) return;
  replica.probe.reset();
  SetReady(*ready, wall, replica.view);
  replica.probe_at = now + (replica.view.ready ? kReadyInterval : kProbeInterval);
}

bool Replicas::Follow(Replica& replica, MonotonicTime now, absl::Time wall) {
  ReplicaView& view = replica.view;
  if (replica.process != nullptr) {
    const std::optional<std::string> ended = replica.process->Ended();
    if (!ended.has_value()) {
      if (now >= replica.kill_at) replica.process->Signal(SIGKILL);
      if (!view.ending) Check(replica, now, wall);
      return false;
    }
    replica.process.reset();
    replica.probe.reset();
    view.pid = 0;
    SetReady(false, wall, view);
    if (!view.ending) {
      view.problem = *ended;
      ++view.restarts;
      if (now - replica.begun >= kQuiet) replica.pause = absl::ZeroDuration();
      replica.pause = std::clamp(replica.pause * 2, kFirstPause, kLongestPause);
      replica.begin_at = now + replica.pause;
      spdlog::warn("{}/{}: ended by itself ({}); starts again in {}", spec_.ns,
                   NameOfReplica(spec_, view.index), *ended, absl::FormatDuration(replica.pause));
    }
  }
  if (view.ending) return true;
  if (now >= replica.begin_at) {
    Begin(replica, now);
    if (replica.process != nullptr) Check(replica, now, wall);
  }
  return false;
}

MonotonicTime Replicas::NextTime(const Replica& replica) {
  if (replica.process == nullptr) return replica.begin_at;
  if (replica.view.ending) return replica.kill_at;
  return replica.spec.readiness.check == Readiness::Check::kNone ? absl::InfiniteDuration()
                                                                 : replica.probe_at;
}

MonotonicTime Replicas::Step(MonotonicTime now, absl::Time wall) {
  EndUnwanted(now);
  // Each one that has ended makes room for another.
  for (bool freed = true; freed;) {
    BeginMissing(now, wall);
    freed = false;
    for (auto at = replicas_.begin(); at != replicas_.end();) {
      const bool gone = Follow(at->second, now, wall);
      at = gone ? replicas_.erase(at) : std::next(at);
      freed |= gone;
    }
  }
  MonotonicTime next = absl::InfiniteDuration();
  for (auto& [index, replica] : replicas_) {
    // After SIGKILL there is nothing to do but to wait for its end.
    if (replica.view.ending && now >= replica.kill_at) continue;
    next = std::min(next, NextTime(replica));
  }
  return next;
}

void Replicas::AddPolled(std::vector<pollfd>& polled) const {
  for (const auto& [index, replica] : replicas_) {
    if (replica.process != nullptr) {
      polled.push_back({.fd = replica.process->exit_fd(), .events = POLLIN, .revents = 0});
    }
    if (replica.probe != nullptr && replica.probe->fd() >= 0) {
      polled.push_back(
          {.fd = replica.probe->fd(), .events = replica.probe->events(), .revents = 0});
    }
  }
}

std::vector<ReplicaView> Replicas::View() const {
  std::vector<ReplicaView> out;
  for (const auto& [index, replica] : replicas_) out.push_back(replica.view);
  return out;
}

}  // namespace flyball::processes
