// Several replicas, each with an election, on one store of Leases in simulated time. For tests.
//
// Each replica has a thread, but only one of them runs at a time and time passes only while all
// wait, so that a seed always gives the same course. Requests take time, fail, or have their effect
// although the answer is lost; replicas are killed in the middle of a request.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "scaler/shards/election.h"

namespace flyball::scaler {

class ElectionWorld {
 public:
  struct Network {
    absl::Duration delay = absl::Milliseconds(20);  // longest usual time each way
    double slow = 0;  // fraction of one-way trips that take up to slow_delay
    absl::Duration slow_delay = absl::Seconds(12);
    double refused = 0;  // fraction of the requests that have no effect
    double lost = 0;     // fraction that have their effect, but whose answer is lost
  };

  // A machine's clocks. The monotonic clock may be a little fast or slow, the wall clock may show
  // any time.
  struct MachineClock : Clock {
    absl::Time WallNow() const override { return absl::UnixEpoch() + wall_skew + world->now; }
    MonotonicTime MonotonicNow() const override { return offset + world->now * rate; }
    // Nobody waits by this clock: the replicas' threads take turns.
    bool Await(absl::Mutex&, const absl::Condition& condition, MonotonicTime) override {
      return condition.Eval();
    }
    ElectionWorld* world = nullptr;
    absl::Duration offset, wall_skew;
    double rate = 1;
  };

  struct Replica : LeaseStore {
    absl::StatusOr<kube::Lease> Get(absl::string_view name) override {
      if (world->refuses_get && world->refuses_get(name)) return absl::UnavailableError("refused");
      return world->Call(*this, [&] { return world->ServeGet(name); });
    }
    absl::StatusOr<kube::Lease> Put(const kube::Lease& lease) override {
      return world->Call(*this, [&] { return world->ServePut(lease); });
    }

    ElectionWorld* world = nullptr;
    std::string identity;
    MachineClock clock;
    std::unique_ptr<ShardElection> election;
    std::thread thread;
    absl::Duration wake;
    bool killed = false;  // it was ended as by kill -9
    bool leaving = false;
    bool done = false;
    bool alive() const { return !killed && !done; }
  };

  ElectionWorld(ElectionOptions options, uint32_t seed)
      : options_(std::move(options)), random_(seed) {}

  ~ElectionWorld() {
    for (auto& replica : replicas) replica->killed = true;
    RunUntil(now + absl::Minutes(5));
    for (auto& replica : replicas) replica->thread.join();
  }

  Replica& Add(ShardMemory* memory = nullptr) {
    auto owned = std::make_unique<Replica>();
    Replica& replica = *owned;
    replicas.push_back(std::move(owned));
    replica.world = this;
    replica.identity = absl::StrCat("flyball-", replicas.size(), "_", Random(0, 1 << 20));
    replica.clock.world = this;
    replica.clock.offset = absl::Seconds(Random(0, 100000));
    replica.clock.wall_skew = absl::Seconds(Random(-100000, 100000));
    replica.clock.rate = 1 + clock_drift * (Random(0, 2000) - 1000) / 1000.0;
    replica.wake = now;
    ElectionOptions options = options_;
    options.identity = replica.identity;
    replica.election = std::make_unique<ShardElection>(options, replica, memory, replica.clock);
    replica.thread = std::thread([this, &replica] { Live(replica); });
    return replica;
  }

  // Lets time pass; `look` is called between any two steps.
  void RunUntil(absl::Duration end, const std::function<void()>& look = nullptr) {
    for (;;) {
      Replica* next = nullptr;
      for (auto& replica : replicas) {
        if (!replica->done && (next == nullptr || replica->wake < next->wake)) next = replica.get();
      }
      if (next == nullptr || next->wake > end) break;
      now = std::max(now, next->wake);
      if (look) look();
      absl::MutexLock lock(&mutex_);
      running_ = next;
      mutex_.Await(absl::Condition(
          +[](Replica** running) { return *running == nullptr; }, &running_));
    }
    now = std::max(now, end);
    if (look) look();
  }

  // For the replica's own thread: waits while time passes.
  void Wait(Replica& replica, absl::Duration duration) {
    replica.wake = now + duration;
    {
      absl::MutexLock lock(&mutex_);
      running_ = nullptr;
    }
    AwaitTurn(replica);
  }

  int Random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool Chance(double probability) { return Random(0, 999999) < probability * 1000000; }

  // How many living replicas may write to the shard now.
  int Writers(int shard) const {
    int count = 0;
    for (const auto& replica : replicas) {
      if (replica->alive() &&
          replica->election->MayWriteShard(shard, replica->clock.MonotonicNow())) {
        ++count;
      }
    }
    return count;
  }

  std::vector<std::unique_ptr<Replica>> replicas;
  std::map<std::string, kube::Lease, std::less<>> leases;
  Network network;
  std::function<bool(absl::string_view name)> refuses_get;  // may be empty
  double clock_drift = 0;
  absl::Duration now;

 private:
  // A replica's thread: waits for its turn, then does rounds until it ends.
  void Live(Replica& replica) {
    AwaitTurn(replica);
    while (!replica.killed && !replica.leaving) Wait(replica, replica.election->Round());
    // A killed replica sends nothing more: its requests are refused.
    replica.election->Stop();
    absl::MutexLock lock(&mutex_);
    replica.done = true;
    running_ = nullptr;
  }

  void AwaitTurn(Replica& replica) {
    absl::MutexLock lock(&mutex_);
    const std::pair<Replica**, Replica*> turn = {&running_, &replica};
    mutex_.Await(absl::Condition(
        +[](const std::pair<Replica**, Replica*>* t) { return *t->first == t->second; }, &turn));
  }

  absl::Duration Way() {
    const absl::Duration longest = Chance(network.slow) ? network.slow_delay : network.delay;
    return longest * (Random(0, 1000) / 1000.0);
  }

  template <typename Serve>
  absl::StatusOr<kube::Lease> Call(Replica& replica, const Serve& serve) {
    if (replica.killed) return absl::CancelledError("killed");
    Wait(replica, Way());
    // If it was killed on the way, the request may have left already.
    const bool refused = replica.killed ? Chance(0.5) : Chance(network.refused);
    if (refused) return absl::UnavailableError("refused");
    absl::StatusOr<kube::Lease> answer = serve();
    Wait(replica, Way());
    if (replica.killed) return absl::CancelledError("killed");
    if (Chance(network.lost)) return absl::DeadlineExceededError("no answer");
    return answer;
  }

  absl::StatusOr<kube::Lease> ServeGet(absl::string_view name) {
    const auto found = leases.find(name);
    if (found == leases.end()) return absl::NotFoundError(absl::StrCat("\"", name, "\" not found"));
    return found->second;
  }

  absl::StatusOr<kube::Lease> ServePut(const kube::Lease& lease) {
    const auto found = leases.find(lease.name);
    if (lease.resource_version.empty() != (found == leases.end())) {
      return lease.resource_version.empty() ? absl::AlreadyExistsError("exists")
                                            : absl::NotFoundError("gone");
    }
    if (found != leases.end() && found->second.resource_version != lease.resource_version) {
      return absl::AbortedError("conflict");
    }
    kube::Lease& stored = leases[lease.name];
    stored = lease;
    stored.resource_version = absl::StrCat(++version_);
    return stored;
  }

  const ElectionOptions options_;
  std::mt19937 random_;
  int version_ = 0;
  absl::Mutex mutex_;
  Replica* running_ = nullptr;
};

}  // namespace flyball::scaler
