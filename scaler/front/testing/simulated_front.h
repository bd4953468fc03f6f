// A front with its Envoys, pods, clients and the loop that scales, in one thread and in simulated
// time, and a judge that finds what must never happen. For tests alone.
//
// Requests are followed from their clients to their ends, also across restarts of the front: an
// Envoy asks the next process again about those that it holds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/front/front.h"
#include "scaler/front/testing/simulated_envoys.h"
#include "scaler/front/testing/simulated_target.h"

namespace flyball::front {

class SimulatedFront : public FrontObserver {
 public:
  explicit SimulatedFront(uint32_t seed);
  ~SimulatedFront() override;

  // Makes this many random events happen.
  void RunWild(int steps);
  // Repairs everything and adds no more requests, for long enough that all of them end.
  void CalmDown();

  // Violations in words; empty: there were none.
  const std::vector<std::string>& faults() const { return faults_; }
  // How often each event occurred that the judge checks.
  std::map<std::string, int64_t> seen;

  // FrontObserver
  void WishScale(const std::string& service, int32_t at_least) override;
  void OfferZero(const std::string& service) override;
  void DesiredChanged(const std::string& service) override;
  void StartProbe(const std::string& service, const std::string& uid,
                  const std::string& address) override;
  void WakeAt(absl::Time time) override { due_ = std::min(due_, time); }
  void Tell(const Notice&) override { ++seen["notices"]; }
  void Tell(const std::string& service, const ColdStart& cold_start) override;

 private:
  struct Client {
    NodeId node;
    std::string service;
    absl::Time arrived;                        // at the process that holds it now
    absl::Time ends = absl::InfiniteFuture();  // when it is at a pod
    std::optional<RequestId> id;               // while a process knows it
    std::string pod;                           // where it runs; empty: it is held
    bool direct = false;                       // it passed an open gate
    bool by_hosts = false;                     // it came by the listener for hosts
  };
  struct Target {
    HttpService spec;
    SimulatedTarget target;
    bool refuses = false;  // the scaler refuses to write the scale
    bool away = false;     // the scaler cannot write the scale for now
  };
  uint32_t Die(uint32_t sides) { return static_cast<uint32_t>(random_() % sides); }
  bool Chance(uint32_t percent) { return Die(100) < percent; }
  void Fault(const std::string& text);

  void Step();
  void ChangeHosts(Target& target);
  void Move(absl::Duration by);
  void Tick();  // at now_, until nothing is due
  void StartProcess();
  void EndProcess();
  void Connect(SimulatedEnvoy& envoy);
  void Disconnect(SimulatedEnvoy& envoy);
  void EnvoyWorks(SimulatedEnvoy& envoy, bool refuse);
  void ReportLoad(SimulatedEnvoy& envoy);
  void DecideCount(const std::string& name, int32_t others);

  void ClientComes(const NodeId& node, const std::string& service, bool by_hosts = false);
  void Ask(Client& client);
  void SendToPod(Client& client, const std::vector<std::string>& endpoints);
  void RequestEnds(uint64_t number);
  void JudgeAnswers();
  void JudgeRelease(Client& client, const std::optional<std::string>& pod);
  void JudgeRefusal(const Client& client, const Refusal& refusal);
  void JudgeZero(const std::string& service);
  bool Closes(const std::string& service) const;
  void JudgeReopened(const std::string& service, const char* why);
  void JudgeWaits();
  bool WrittenOff(const std::string& service, const std::string& pod) const;
  int64_t RunningAt(const std::string& service, const std::string& pod) const;

  std::mt19937 random_;
  absl::Time now_ = absl::FromUnixSeconds(1000);
  absl::Time due_ = absl::InfinitePast();
  std::map<NodeId, SimulatedEnvoy> envoys_;
  std::map<std::string, Target> targets_;
  std::map<uint64_t, Client> clients_;
  std::map<RequestId, uint64_t> asked_;  // client by the id under which the front knows its request
  uint64_t numbers_ = 0;
  RequestId ids_ = 0;
  uint64_t first_version_ = 1000;
  std::multimap<absl::Time, std::function<void()>> later_;
  uint64_t process_ = 0;  // number of the process, so that answers to an earlier one are dropped
  std::unique_ptr<SimulatedTransport> transport_;
  std::unique_ptr<Front> front_;
  int hurries_ = 0;      // calls of Advance at the same time
  bool synced_ = false;  // the process knows all objects, and may serve
  bool calm_ = false;
  absl::Time calm_since_;
  std::vector<std::string> faults_;
};

}  // namespace flyball::front
