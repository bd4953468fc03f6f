#include "processes/supervisor.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "processes/pod_json.h"
#include "scaler/spec/own_spec.h"

namespace flyball::processes {
namespace {

std::string SetsPath() {
  return absl::StrCat("/apis/", scaler::kOwnApiVersion, "/", kProcessSetPlural);
}

std::string PathOf(absl::string_view ns, absl::string_view name) {
  return absl::StrCat("/apis/", scaler::kOwnApiVersion, "/namespaces/", ns, "/", kProcessSetPlural,
                      "/", name);
}
std::string PathOf(const ProcessSetSpec& spec) { return PathOf(spec.ns, spec.name); }

}  // namespace

Supervisor::Supervisor(kube::LocalApiServer& server, Clock& clock, std::string status_file)
    : server_(server),
      clock_(clock),
      status_file_(std::move(status_file)),
      transport_(server.Connect()) {}

Supervisor::~Supervisor() {
  Stop();
  if (wake_fd_ >= 0) close(wake_fd_);
}

absl::Status Supervisor::Start() {
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) {
    return absl::UnavailableError(absl::StrCat("processes: eventfd: ", std::strerror(errno)));
  }
  Wake();
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("processes: no thread: ", error.what()));
  }
  return absl::OkStatus();
}

void Supervisor::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  Wake();
  thread_.join();
}

void Supervisor::Wake() {
  if (wake_fd_ >= 0) eventfd_write(wake_fd_, 1);
}

void Supervisor::Run() {
  while (true) {
    eventfd_t woken = 0;
    if (eventfd_read(wake_fd_, &woken) == 0) ReadSets();
    const MonotonicTime next = StepAll();
    if (stopping_ && sets_.empty()) return;
    Sleep(next);
  }
}

void Supervisor::ReadSets() {
  for (auto& [path, set] : sets_) set.wanted = false;
  std::vector<std::string> objects;
  if (!stopping_) objects = server_.List(SetsPath());
  for (const std::string& object : objects) {
    const absl::StatusOr<scaler::Node> node = scaler::ParseJson(object);
    absl::StatusOr<ProcessSetSpec> spec = node.ok() ? ReadProcessSet(*node) : node.status();
    if (!spec.ok()) {
      spdlog::error("a ProcessSet cannot be run: {}", std::string(spec.status().message()));
      if (node.ok()) KeepRunning(*node);
      continue;
    }
    const auto [at, is_new] =
        sets_.try_emplace(PathOf(*spec), Shown{.replicas = Replicas(*spec), .last = {}});
    at->second.wanted = true;
    at->second.replicas.Want(*spec);
  }
  for (auto& [path, set] : sets_) {
    if (set.wanted) continue;
    ProcessSetSpec none = set.replicas.spec();
    none.replicas = 0;
    set.replicas.Want(none);
  }
}

void Supervisor::KeepRunning(const scaler::Node& object) {
  const scaler::Node* metadata = object.Find("metadata");
  if (metadata == nullptr) return;
  const auto at = sets_.find(PathOf(metadata->FindText("namespace"), metadata->FindText("name")));
  if (at != sets_.end()) at->second.wanted = true;
}

MonotonicTime Supervisor::StepAll() {
  MonotonicTime next = absl::InfiniteDuration();
  bool changed = false;
  for (auto at = sets_.begin(); at != sets_.end();) {
    Shown& set = at->second;
    next = std::min(next, set.replicas.Step(clock_.MonotonicNow(), clock_.WallNow()));
    changed |= Show(set);
    at = set.wanted || !set.replicas.empty() ? std::next(at) : sets_.erase(at);
  }
  if (changed) WriteStatusFile();
  return next;
}

bool Supervisor::Show(Shown& set) {
  const ProcessSetSpec& spec = set.replicas.spec();
  std::vector<ReplicaView> now = set.replicas.View();
  if (now == set.last && spec.replicas == set.last_wanted) return false;
  for (const ReplicaView& before : set.last) {
    const bool stays = std::any_of(now.begin(), now.end(), [&before](const ReplicaView& one) {
      return one.index == before.index && one.incarnation == before.incarnation;
    });
    if (!stays) server_.Delete(PodPath(spec, before.index));
  }
  for (const ReplicaView& replica : now) {
    if (std::find(set.last.begin(), set.last.end(), replica) != set.last.end()) continue;
    if (const absl::Status put = server_.Put(PodJson(spec, replica)); !put.ok()) {
      spdlog::error("{}: {}", PodPath(spec, replica.index), std::string(put.message()));
    }
  }
  set.last = std::move(now);
  set.last_wanted = spec.replicas;
  if (set.wanted) ShowStatus(set);
  return true;
}

void Supervisor::ShowStatus(const Shown& set) {
  const ProcessSetSpec& spec = set.replicas.spec();
  http::HttpCall call;
  call.method = "PATCH";
  call.target = absl::StrCat(PathOf(spec), "/status");
  call.content_type = "application/merge-patch+json";
  call.body = StatusJson(spec, set.last);
  const absl::StatusOr<http::HttpAnswer> answer = transport_->Do(call);
  if (!answer.ok())
    spdlog::error("{}: status: {}", PathOf(spec), std::string(answer.status().message()));
}

void Supervisor::WriteStatusFile() const {
  if (status_file_.empty()) return;
  std::vector<std::string> sets;
  for (const auto& [path, set] : sets_) {
    sets.push_back(StatusFileText(set.replicas.spec(), set.last));
  }
  const std::string fresh = absl::StrCat(status_file_, ".new");
  {
    std::ofstream out(fresh, std::ios::trunc);
    out << "[" << absl::StrJoin(sets, ",\n") << "]\n";
    if (!out.flush()) return spdlog::warn("{}: cannot be written", fresh);
  }
  if (std::rename(fresh.c_str(), status_file_.c_str()) != 0) {
    spdlog::warn("{}: {}", status_file_, std::strerror(errno));
  }
}

void Supervisor::Sleep(MonotonicTime until) {
  std::vector<pollfd> polled = {{.fd = wake_fd_, .events = POLLIN, .revents = 0}};
  for (const auto& [path, set] : sets_) set.replicas.AddPolled(polled);
  const absl::Duration wait =
      std::clamp(until - clock_.MonotonicNow(), absl::ZeroDuration(), absl::Hours(1));
  const auto whole =
      static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1))));
  poll(polled.data(), polled.size(), whole);
}

}  // namespace flyball::processes
