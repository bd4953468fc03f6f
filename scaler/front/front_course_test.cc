// Random courses: whatever happens, and in whatever order, what the judge looks for never happens.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/front/testing/simulated_front.h"

namespace flyball::front {
namespace {

constexpr absl::Duration kReportPeriod = absl::Milliseconds(250);
constexpr int64_t kHeldLimit = 12;
constexpr absl::Duration kStartTimeout = absl::Seconds(8);

bool Contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

SimulatedFront::SimulatedFront(uint32_t seed) : random_(seed) {
  const int services = 1 + static_cast<int>(Die(3));
  for (int i = 0; i < services; ++i) {
    Target target;
    HttpService& spec = target.spec;
    spec.name = absl::StrCat("shop/web-", i);
    spec.port = static_cast<uint16_t>(20000 + i);
    spec.container_concurrency = Chance(50) ? 0 : static_cast<int32_t>(1 + Die(3));
    // Longer than the slowest pod takes to be ready, and one request at it.
    spec.activation_timeout = absl::Seconds(14 + Die(10));
    spec.queue = 4 + Die(6);
    if (Chance(50)) spec.hosts.places = {{absl::StrCat("web-", i, ".example.com"), "/"}};
    spec.settings.target = spec.settings.total = 1 + Die(3);
    spec.settings.stable_window = absl::Seconds(6);
    spec.settings.panic_window = absl::Seconds(1);
    spec.settings.max_scale = 5;
    spec.settings.progress_deadline = absl::Seconds(Chance(50) ? 1 : 600);
    target.target.Write(static_cast<int32_t>(Die(3)), now_, random_);
    targets_.emplace(spec.name, std::move(target));
  }
  const int envoys = 1 + static_cast<int>(Die(3));
  for (int i = 0; i < envoys; ++i) {
    const NodeId node = absl::StrCat("envoy-", i);
    envoys_[node].node = node;
  }
  StartProcess();
}

SimulatedFront::~SimulatedFront() = default;

void SimulatedFront::Fault(const std::string& text) {
  faults_.push_back(
      absl::StrCat(absl::FormatDuration(now_ - absl::FromUnixSeconds(1000)), ": ", text));
}

// ---- Processes and streams

void SimulatedFront::StartProcess() {
  ++process_;
  first_version_ += 1'000'000;
  due_ = now_;
  synced_ = false;
  transport_ = std::make_unique<SimulatedTransport>(envoys_);
  front_ = std::make_unique<Front>(FrontOptions{.first_version = first_version_,
                                                .held_limit = kHeldLimit,
                                                .probe_limit = 2,
                                                .start_timeout = kStartTimeout},
                                   *transport_, *this);
  for (const auto& [name, target] : targets_) {
    front_->AddService(target.spec, target.target.replicas, target.target.Views(), now_);
  }
  later_.emplace(now_ + absl::Milliseconds(Die(3000)), [this, process = process_] {
    if (process != process_) return;
    synced_ = true;
    // Their pods are ready all the time, whether or not they are connected.
    std::set<NodeId> nodes;
    for (const auto& [node, envoy] : envoys_) nodes.insert(node);
    front_->SetEnvoys(nodes, now_);
    front_->BeginServing(now_);
  });
}

void SimulatedFront::EndProcess() {
  if (front_ == nullptr) return;
  ++process_;
  front_.reset();
  for (auto& [node, envoy] : envoys_) Disconnect(envoy);
  for (auto& [number, client] : clients_) client.id.reset();
  asked_.clear();
  transport_.reset();
  due_ = absl::InfiniteFuture();
}

void SimulatedFront::Connect(SimulatedEnvoy& envoy) {
  if (front_ == nullptr || envoy.connected) return;
  envoy.connected = true;
  ++envoy.stream;
  front_->OnEnvoy(envoy.node, !envoy.applied.empty(), now_);
  transport_->SendAll(envoy);
  ReportLoad(envoy);
}

void SimulatedFront::Disconnect(SimulatedEnvoy& envoy) {
  if (!std::exchange(envoy.connected, false)) return;
  envoy.stale = true;
  envoy.inbox.clear();
  envoy.unacknowledged.clear();
  if (front_ != nullptr) front_->OnEnvoyGone(envoy.node, now_);
}

void SimulatedFront::EnvoyWorks(SimulatedEnvoy& envoy, bool refuse) {
  if (!envoy.connected) return;
  if (!envoy.unacknowledged.empty() && (Chance(50) || envoy.inbox.empty())) {
    const auto [name, version] = envoy.unacknowledged.front();
    envoy.unacknowledged.pop_front();
    ++seen["acks"];
    front_->OnAck(envoy.node, name.second, name.first, version, now_);
    return;
  }
  if (envoy.inbox.empty()) return;
  const ResourceName name = transport_->TakeNext(envoy);
  if (refuse) {
    ++seen["nacks"];
    envoy.refused.insert(name);
    front_->OnNack(envoy.node, name.second, {name.first}, "no", now_);
    return;
  }
  envoy.refused.erase(name);
  transport_->Arrive(envoy, name);
  if (envoy.inbox.empty()) envoy.stale = false;
}

// As its metrics sink does: taken now, and here a little later.
void SimulatedFront::ReportLoad(SimulatedEnvoy& envoy) {
  std::map<std::string, ServiceLoad> loads;
  for (const auto& [number, client] : clients_) {
    if (client.node != envoy.node) continue;
    ServiceLoad& load = loads[client.service];
    load.service = client.service;
    if (!client.by_hosts) ++load.active;
    if (!client.pod.empty()) ++load.upstream_active;
  }
  std::vector<ServiceLoad> report;
  for (auto& [name, load] : loads) report.push_back(load);
  const auto same_stream = [this, &envoy, process = process_, stream = envoy.stream] {
    return process == process_ && envoy.connected && stream == envoy.stream;
  };
  if (!envoy.silent || calm_) {
    later_.emplace(now_ + absl::Milliseconds(Die(200)), [this, &envoy, report, same_stream] {
      if (same_stream()) front_->OnLoad(envoy.node, report, now_);
    });
  }
  later_.emplace(now_ + kReportPeriod, [this, &envoy, same_stream] {
    if (same_stream()) ReportLoad(envoy);
  });
}

// ---- The loop that scales

void SimulatedFront::WishScale(const std::string& service, int32_t at_least) {
  ++seen["wishes"];
  if (!synced_) Fault(service + ": a wish before all is known");
  const auto write = [this, service, at_least, process = process_] {
    if (process != process_) return;
    Target& target = targets_.at(service);
    const int32_t count = std::max(target.target.replicas, at_least);
    if (target.refuses) {
      front_->ScaleRefused(service, count, "refused", now_);
      return;
    }
    if (target.away) {
      ++seen["delayed"];
      front_->ScaleDelayed(service, now_);
      return;
    }
    if (target.target.replicas < count) target.target.Write(count, now_, random_);
    front_->ScaleWritten(service, count, now_);
  };
  later_.emplace(now_ + absl::Milliseconds(Die(300)), write);
}

void SimulatedFront::OfferZero(const std::string& service) {
  ++seen["offers"];
  later_.emplace(now_, [this, service] { DecideCount(service, 0); });
}

void SimulatedFront::DesiredChanged(const std::string& service) {
  if (Chance(50)) later_.emplace(now_, [this, service] { DecideCount(service, 0); });
}

void SimulatedFront::StartProbe(const std::string& service, const std::string& uid,
                                const std::string&) {
  later_.emplace(now_ + absl::Milliseconds(1 + Die(50)), [this, service, uid, process = process_] {
    if (process != process_) return;
    const auto* const pod = targets_.at(service).target.Named(uid);
    const bool passed = pod != nullptr && pod->answers;
    front_->Probed(service, uid, passed ? ProbeResult::kPassed : ProbeResult::kRefused, now_);
  });
}

void SimulatedFront::Tell(const std::string& service, const ColdStart& parts) {
  ++seen["cold starts"];
  const absl::Duration sum = parts.write + parts.pod + parts.probe + parts.ack;
  if (sum != parts.total) Fault(absl::StrCat(service, ": the parts of a cold start are not all"));
}

void SimulatedFront::DecideCount(const std::string& name, int32_t others) {
  if (front_ == nullptr) return;
  Target& target = targets_.at(name);
  const WantedCount wanted = front_->Snapshot(name).value_or(ServiceSnapshot()).wanted;
  if (!wanted.known && others == 0) return;
  int32_t decided = std::min(std::max(wanted.count, others), 5);
  if (decided == target.target.replicas) return;
  if (decided == 0) {
    if (front_->MayEnterZero(name, now_)) {
      JudgeZero(name);
    } else {
      decided = 1;
    }
  }
  if (decided == target.target.replicas) return;
  if (target.refuses || (!calm_ && Chance(5))) {
    front_->ScaleRefused(name, decided, "refused", now_);
    return;
  }
  if (target.away && decided > 0) return front_->ScaleDelayed(name, now_);
  target.target.Write(decided, now_, random_);
  const bool closed = Closes(name);
  front_->ScaleWritten(name, decided, now_);
  if (closed && decided > 0) JudgeReopened(name, "a count is written");
}

// ---- Clients

void SimulatedFront::ClientComes(const NodeId& node, const std::string& service, bool by_hosts) {
  const SimulatedEnvoy& envoy = envoys_.at(node);
  const std::string listener = by_hosts ? kHostsListener : service;
  if (envoy.Find<ListenerResource>(listener, ResourceKind::kListener) == nullptr) return;
  const std::optional<bool> gated = by_hosts ? envoy.HostsGated(service) : envoy.Gated(service);
  if (!gated.has_value()) return;
  Client& client = clients_[++numbers_];
  client.node = node;
  client.service = service;
  client.arrived = now_;
  client.by_hosts = by_hosts;
  if (*gated) {
    ++seen[by_hosts ? "asked by hosts" : "asked directly"];
    Ask(client);
    return;
  }
  ++seen[by_hosts ? "direct by hosts" : "direct"];
  client.direct = true;
  SendToPod(client, envoy.Endpoints(service));
  if (client.pod.empty()) clients_.erase(numbers_);
}

// The Envoy takes one that answers, as its retries do.
void SimulatedFront::SendToPod(Client& client, const std::vector<std::string>& endpoints) {
  const SimulatedEnvoy& envoy = envoys_.at(client.node);
  const Target& target = targets_.at(client.service);
  std::vector<std::string> living;
  bool condemned = false;
  for (const std::string& address : endpoints) {
    if (target.target.At(address) != nullptr) living.push_back(address);
    condemned |= target.target.condemned.contains(address);
  }
  if (!living.empty()) {
    client.pod = living[Die(static_cast<uint32_t>(living.size()))];
    client.ends = now_ + absl::Milliseconds(Die(4000));
    return;
  }
  const bool bad_envoy = envoy.refused.contains({client.service, ResourceKind::kRoute}) ||
                         envoy.refused.contains({client.service, ResourceKind::kHostRoute}) ||
                         envoy.refused.contains({client.service, ResourceKind::kEndpoints});
  if (bad_envoy) return;
  if (endpoints.empty()) Fault(client.service + ": lost, an Envoy has no gate and no endpoint");
  if (condemned) Fault(client.service + ": lost, sent to a pod that was scaled to zero");
}

void SimulatedFront::Ask(Client& client) {
  if (front_ == nullptr || client.id.has_value() || !client.pod.empty()) return;
  client.id = ++ids_;
  client.arrived = now_;
  for (const auto& [number, each] : clients_) {
    if (&each == &client) asked_[*client.id] = number;
  }
  ++seen["asked"];
  // The judge may end the client.
  const std::string service = client.service;
  const bool closed = Closes(service);
  front_->OnRequest(*client.id, client.node, service, now_);
  if (closed) JudgeReopened(service, "a request came");
  JudgeAnswers();
}

void SimulatedFront::RequestEnds(uint64_t number) {
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  const std::optional<RequestId> id = found->second.id;
  clients_.erase(found);
  if (!id.has_value() || front_ == nullptr) return;
  asked_.erase(*id);
  front_->OnRequestEnd(*id, now_);
  JudgeAnswers();
}

// ---- The judge

void SimulatedFront::JudgeAnswers() {
  while (transport_ != nullptr && !transport_->answers.empty()) {
    const SimulatedTransport::Answer answer = transport_->answers.front();
    transport_->answers.pop_front();
    const auto asked = asked_.find(answer.id);
    if (asked == asked_.end()) continue;  // it ended meanwhile
    const uint64_t number = asked->second;
    Client& client = clients_.at(number);
    if (!client.pod.empty()) Fault("answered twice");
    if (answer.refusal.has_value()) {
      JudgeRefusal(client, *answer.refusal);
      asked_.erase(asked);
      clients_.erase(number);
    } else {
      JudgeRelease(client, answer.pod);
      if (targets_.at(client.service).spec.hard_limit()) {
        if (client.pod.empty()) client.pod = "nowhere";
      } else {
        client.id.reset();
        asked_.erase(asked);
        if (client.pod.empty()) clients_.erase(number);
      }
    }
  }
}

void SimulatedFront::JudgeRelease(Client& client, const std::optional<std::string>& pod) {
  ++seen["released"];
  const Target& target = targets_.at(client.service);
  const SimulatedEnvoy& envoy = envoys_.at(client.node);
  if (!synced_ || !transport_->serving()) Fault("released before it serves");
  const std::vector<std::string> has = envoy.Endpoints(client.service);
  const std::vector<std::string> told = transport_->Told(client.service);
  if (!target.spec.hard_limit()) {
    const bool any = std::any_of(told.begin(), told.end(), [&](const std::string& each) {
      return Contains(has, each) && !WrittenOff(client.service, each);
    });
    if (!any) Fault(client.service + ": released to an Envoy that has none of the endpoints");
    SendToPod(client, has);
    return;
  }
  if (!pod.has_value()) {
    Fault(client.service + ": no pod was named under a hard limit");
    return;
  }
  if (!Contains(has, *pod)) Fault(client.service + ": released to a pod that the Envoy lacks");
  if (WrittenOff(client.service, *pod)) Fault(client.service + ": released to a pod that goes");
  client.pod = *pod;
  client.ends = now_ + absl::Milliseconds(Die(4000));
  const int64_t running = RunningAt(client.service, *pod);
  if (running > target.spec.container_concurrency) {
    Fault(absl::StrCat(client.service, ": ", running, " requests at ", *pod));
  }
  if (running == target.spec.container_concurrency) ++seen["full pods"];
}

bool SimulatedFront::WrittenOff(const std::string& service, const std::string& pod) const {
  const auto* const found = targets_.at(service).target.At(pod);
  return found != nullptr && found->written_off;
}

int64_t SimulatedFront::RunningAt(const std::string& service, const std::string& pod) const {
  return std::count_if(clients_.begin(), clients_.end(), [&](const auto& each) {
    return each.second.service == service && each.second.pod == pod;
  });
}

void SimulatedFront::JudgeRefusal(const Client& client, const Refusal& refusal) {
  ++seen[absl::StrCat("refused ", NameOf(refusal.reason))];
  if (calm_ && now_ > calm_since_ + absl::Seconds(1)) {
    Fault(absl::StrCat(client.service, ": refused though all is well: ", NameOf(refusal.reason)));
  }
  const Target& target = targets_.at(client.service);
  const auto snapshot = front_->Snapshot(client.service);
  const bool failing = snapshot->state == ServiceState::kFailing;
  int64_t of_service = 0, all = 0;
  for (const auto& [id, number] : asked_) {
    const Client& each = clients_.at(number);
    if (!each.pod.empty()) continue;
    ++all;
    of_service += each.service == client.service ? 1 : 0;
  }
  const bool waited = now_ >= client.arrived + target.spec.activation_timeout ||
                      (!transport_->serving() && now_ >= client.arrived + kStartTimeout);
  // All targets are of one namespace.
  const int64_t before = all - 1;
  const bool no_room = before >= SharedCounts::kShareOfRoom * (kHeldLimit - before);
  const bool full = of_service > target.spec.queue || (no_room && of_service > 1) ||
                    (!transport_->serving() && all > kHeldLimit);
  bool just = false;
  switch (refusal.reason) {
    case RefusalReason::kActivationTimeout: just = waited; break;
    case RefusalReason::kQueueFull: just = full; break;
    case RefusalReason::kActivationFailed: just = failing; break;
  }
  if (!just) Fault(absl::StrCat(client.service, ": refused for ", NameOf(refusal.reason)));
}

void SimulatedFront::JudgeZero(const std::string& service) {
  ++seen["zeros"];
  bool any = false;
  for (const auto& [node, envoy] : envoys_) {
    any |= envoy.connected;
    if (!envoy.Gated(service)) {
      Fault(absl::StrCat(service, ": zero, but ", node, " has no gate"));
    }
    if (envoy.HostsGated(service) == false) {
      Fault(absl::StrCat(service, ": zero, but ", node, " has no gate for its hosts"));
    }
  }
  if (!any) Fault(service + ": zero without any Envoy");
  for (const auto& [number, client] : clients_) {
    if (client.service != service || client.pod == "nowhere") continue;
    // No statistic shows who came by hosts before a restart and was not asked about since; as it is
    // asked about it wakes the service.
    if (client.by_hosts && client.pod.empty() && !client.id.has_value()) continue;
    Fault(absl::StrCat(service, ": zero with a request in flight at ", client.node));
  }
}

bool SimulatedFront::Closes(const std::string& service) const {
  const auto snapshot = front_->Snapshot(service);
  return snapshot.has_value() && snapshot->state == ServiceState::kClosing;
}

// Whoever is wanted again while it closes is open again: else each of its requests would be asked
// about for as long as there are any.
void SimulatedFront::JudgeReopened(const std::string& service, const char* why) {
  ++seen["reopened"];
  if (Closes(service)) Fault(absl::StrCat(service, ": still closing although ", why));
}

void SimulatedFront::JudgeWaits() {
  if (front_ == nullptr) return;
  if (transport_->serving() && !synced_) Fault("it serves before all is known");
  for (const auto& [id, number] : asked_) {
    const Client& client = clients_.at(number);
    absl::Duration longest = targets_.at(client.service).spec.activation_timeout;
    if (!transport_->serving()) longest = kStartTimeout;
    if (client.pod.empty() && now_ > client.arrived + longest) {
      Fault(client.service + ": held for longer than the activation timeout");
    }
  }
}

// ---- The course of things

void SimulatedFront::Tick() {
  for (;;) {
    JudgeAnswers();
    if (!later_.empty() && later_.begin()->first <= now_) {
      const auto act = std::move(later_.begin()->second);
      later_.erase(later_.begin());
      act();
    } else if (front_ != nullptr && due_ <= now_) {
      due_ = absl::InfiniteFuture();
      const absl::Time next = front_->Advance(now_);
      due_ = std::min(due_, next);
      if (next <= now_ && ++hurries_ > 1000) {
        Fault("Advance wants to be called at once, again and again");
        due_ = absl::InfiniteFuture();
      }
    } else {
      break;
    }
  }
  hurries_ = 0;
}

void SimulatedFront::Move(absl::Duration by) {
  const absl::Time end = now_ + by;
  while (now_ < end) {
    absl::Time next = std::min(end, now_ + absl::Milliseconds(50));
    if (!later_.empty()) next = std::min(next, later_.begin()->first);
    if (front_ != nullptr) next = std::min(next, due_);
    now_ = std::max(now_, next);
    for (auto& [name, target] : targets_) {
      const bool changed = target.target.Advance(now_, random_);
      if (changed && front_ != nullptr) front_->SetPods(name, target.target.Views(), now_);
    }
    std::vector<uint64_t> over;
    for (const auto& [number, client] : clients_) {
      if (now_ >= client.ends) over.push_back(number);
    }
    for (const uint64_t number : over) RequestEnds(number);
    Tick();
    JudgeWaits();
    if (!calm_) continue;
    for (auto& [node, envoy] : envoys_) {
      while (!envoy.inbox.empty() || !envoy.unacknowledged.empty()) EnvoyWorks(envoy, false);
    }
    Tick();
  }
}

// A person adds hosts to a service, or takes them away.
void SimulatedFront::ChangeHosts(Target& target) {
  std::vector<HostPlace>& places = target.spec.hosts.places;
  if (places.empty()) {
    places = {{"added.example.com", "/"}};
  } else {
    places.clear();
  }
  if (front_ != nullptr) front_->ChangeService(target.spec, now_);
}

void SimulatedFront::Step() {
  auto envoy = std::next(envoys_.begin(), Die(static_cast<uint32_t>(envoys_.size())));
  auto target = std::next(targets_.begin(), Die(static_cast<uint32_t>(targets_.size())));
  const uint32_t what = Die(1000);
  if (what < 250) {
    ClientComes(envoy->first, target->first, /*by_hosts=*/Chance(40));
  } else if (what < 300) {
    if (!clients_.empty()) RequestEnds(clients_.begin()->first);
  } else if (what < 640) {
    EnvoyWorks(envoy->second, Chance(3));
  } else if (what < 700) {
    Connect(envoy->second);
  } else if (what < 707) {
    Disconnect(envoy->second);
  } else if (what < 712) {
    envoy->second.silent = !envoy->second.silent;
  } else if (what < 715) {
    ChangeHosts(target->second);
  } else if (what < 720) {
    target->second.target.Lose(random_, now_);
  } else if (what < 850) {
    DecideCount(target->first, Chance(10) ? static_cast<int32_t>(Die(4)) : 0);
  } else if (what < 855) {
    target->second.refuses = !target->second.refuses;
  } else if (what < 858) {
    target->second.away = !target->second.away;
  } else if (what < 863) {
    target->second.target.slow = !target->second.target.slow;
  } else if (what < 869) {
    EndProcess();
  } else if (what < 900) {
    if (front_ == nullptr) StartProcess();
  } else {
    for (auto& [number, client] : clients_) {
      if (!client.id.has_value() && client.pod.empty()) {
        Ask(client);
        break;
      }
    }
  }
  JudgeAnswers();
  Move(Chance(5) ? absl::Milliseconds(Die(5000)) : absl::Milliseconds(Die(200)));
}

void SimulatedFront::RunWild(int steps) {
  for (int i = 0; i < steps && faults_.empty(); ++i) Step();
}

void SimulatedFront::CalmDown() {
  calm_ = true;
  if (front_ == nullptr) StartProcess();
  for (auto& [node, envoy] : envoys_) {
    Disconnect(envoy);  // so that what was refused is sent again
    Connect(envoy);
  }
  for (auto& [name, target] : targets_) {
    target.refuses = target.away = target.target.slow = false;
    // Those that would never become ready.
    while (target.target.Lose(random_, now_)) continue;
  }
  // Failures before may still be told.
  calm_since_ = now_ + absl::Seconds(40);
  std::vector<uint64_t> waiting;
  for (auto& [number, client] : clients_) waiting.push_back(number);
  for (const uint64_t number : waiting) {
    if (const auto found = clients_.find(number); found != clients_.end()) Ask(found->second);
  }
  Move(absl::Seconds(42));
  for (const auto& [name, target] : targets_) {
    ClientComes(envoys_.begin()->first, name);
    ClientComes(envoys_.begin()->first, name, /*by_hosts=*/true);
  }
  for (int i = 0; i < 30; ++i) {
    Move(absl::Seconds(1));
    for (const auto& [name, target] : targets_) DecideCount(name, 0);
  }
  if (!clients_.empty()) Fault("a request is lost: nobody answers it");
  for (const auto& [name, target] : targets_) {
    if (target.target.replicas != 0) Fault(name + ": not at zero though nobody comes");
  }
}

namespace {

std::map<std::string, int64_t> RunSeeds(uint32_t from, uint32_t to) {
  std::map<std::string, int64_t> seen;
  for (uint32_t seed = from; seed < to; ++seed) {
    SimulatedFront course(seed);
    course.RunWild(250);
    if (course.faults().empty()) course.CalmDown();
    EXPECT_TRUE(course.faults().empty())
        << "seed " << seed << ": " << absl::StrJoin(course.faults(), "\n");
    if (testing::Test::HasFailure()) break;
    for (const auto& [what, count] : course.seen) seen[what] += count;
  }
  return seen;
}

TEST(FrontCourseTest, NothingIsLostInAnyOrder) {
  const std::map<std::string, int64_t> seen = RunSeeds(0, 300);
  // A judge that sees nothing proves nothing.
  for (const char* what :
       {"acks", "nacks", "asked", "asked by hosts", "direct", "direct by hosts", "released",
        "zeros", "offers", "wishes", "delayed", "cold starts", "full pods", "notices", "reopened",
        "refused activation-timeout", "refused queue-full", "refused activation-failed"}) {
    const auto found = seen.find(what);
    EXPECT_TRUE(found != seen.end() && found->second > 20) << what;
  }
}

// For whoever changes the states: --gtest_also_run_disabled_tests.
TEST(FrontCourseTest, DISABLED_TenThousandSeeds) {
  for (const auto& [what, count] : RunSeeds(300, 10300)) {
    RecordProperty(what, std::to_string(count));
  }
}

}  // namespace
}  // namespace flyball::front
