// One service: its state, its held requests, and its resources at the Envoys.
//
// Pure: time, Envoys and effects are in the Turn. Not thread-safe: the Front locks. Each event
// changes a fact; then React() takes the state machine as far as it goes, sends the Envoys what has
// changed, and releases the requests that may go.
//
// What always holds:
//   - A request is released to an Envoy only after that Envoy acknowledged an endpoint that is
//     still there; with a hard limit, the very pod that it is sent to.
//   - Zero is allowed only after every connected Envoy acknowledged the gate, at least one is
//     connected, each has reported twice since then that nothing is in flight, and no Envoy that
//     takes requests is missing.
//   - While an Envoy that takes requests is missing its load is unknown: the wanted count does not
//     fall, nor does it until the seconds that were seen in part, or not at all, have left the
//     stable window. Of those before the start none was seen.
//   - A request is held for the activation timeout at most, whenever others came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/front/cold_start_watch.h"
#include "scaler/front/effects.h"
#include "scaler/front/front_decider.h"
#include "scaler/front/http_service.h"
#include "scaler/front/idle_check.h"
#include "scaler/front/load_meter.h"
#include "scaler/front/pod_table.h"
#include "scaler/front/publisher.h"
#include "scaler/front/service_state.h"
#include "scaler/front/slots.h"
#include "scaler/front/snapshot.h"
#include "scaler/front/wait_queue.h"

namespace flyball::front {

// What all services share.
struct SharedCounts {
  // A namespace may hold at most this many times as many requests as there is room left. So one
  // alone takes four fifths of all, and nine leave a tenth one room for 270 of 12,500 requests.
  static constexpr int64_t kShareOfRoom = 4;

  // To be called before a request is added.
  bool HasRoomFor(absl::string_view ns) const;
  void Hold(absl::string_view ns);
  void LetGo(absl::string_view ns);

  uint64_t version = 0;  // the last version that was given to a resource
  int64_t held = 0;
  absl::flat_hash_map<std::string, int64_t> held_by_namespace;
  int64_t held_limit = 12500;
  int64_t probing = 0;  // services in a state in which pods are probed
  FrontCounters counters;
};

class Service {
 public:
  // `replicas`: the count in the target's scale. `shared` outlives the service.
  Service(HttpService spec, int32_t replicas, const std::vector<PodView>& pods,
          SharedCounts& shared, absl::Time now);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Before this call nothing is sent and no request is released. `known`: Envoys may have the
  // service from an earlier process; then its gate is off at once if it has pods.
  void Begin(bool known, Turn& turn);
  void Configure(const HttpService& spec, Turn& turn);
  // Refuses the held requests and removes the resources.
  void Remove(Turn& turn);

  void EnvoyConnected(const NodeId& node, bool returning, Turn& turn);
  void EnvoyGone(const NodeId& node, Turn& turn);
  void Acked(const NodeId& node, ResourceKind kind, uint64_t version, Turn& turn);
  void Nacked(const NodeId& node, ResourceKind kind, absl::string_view text, Turn& turn);

  // `arrived` is earlier than now for a request that came before BeginServing.
  void Arrive(RequestId id, const NodeId& node, absl::Time arrived, Turn& turn);
  void End(RequestId id, Turn& turn);

  // Whether it also needs the reports that do not mention it.
  bool FollowsReports() const { return state_ == ServiceState::kClosing || spec_.hard_limit(); }
  // Handles one Envoy's report; `load` is null if the service is not in it.
  void Report(const NodeId& node, uint64_t report, const ServiceLoad* load, Turn& turn);

  void SetPods(const std::vector<PodView>& pods, Turn& turn);
  // Used while the service waits for its first pod after zero.
  std::vector<ProbeTarget> TakeDueProbes(absl::Time now, size_t limit);
  void Probed(absl::string_view uid, ProbeResult result, Turn& turn);

  // See Front.
  bool MayEnterZero(Turn& turn);
  void ScaleWritten(int32_t count, Turn& turn);
  void ScaleRefused(int32_t count, absl::string_view word, Turn& turn);
  void ScaleDelayed(Turn& turn);
  WantedCount Wanted() const;

  // The second that began at `began` is over, and so may be others after it. False: the service is
  // due at the same time as before.
  bool EndSecond(absl::Time began, Turn& turn);
  // Does what is due; NextTime says when something is due next.
  void Advance(Turn& turn);
  absl::Time NextTime() const;

  const std::string& name() const { return spec_.name; }
  ServiceSnapshot Snapshot() const;

 private:
  // The state machine: in service.cc.
  void React(Turn& turn);
  ServiceFacts Facts(absl::Time now) const;
  void Enter(ServiceState state, Turn& turn);
  void Activate(Turn& turn);
  void Fail(Turn& turn);
  void SettleGate(absl::Time now);
  void PodsChanged();
  void PublishChanges(Turn& turn);

  // To zero and back: in service_zero.cc.
  void FallAsleep();
  bool ZeroIsSafe(const Turn& turn) const;
  void OfferZeroIfSafe(Turn& turn);

  // Requests that wait: in service_requests.cc.
  void LetGo(Turn& turn);
  bool BurstIsOver() const { return burst_left_ <= 0 && !spec_.h2c; }
  bool WaitsForBurst() const;
  absl::Time NextBurst() const;
  void Release(const HeldRequest& request, std::optional<std::string> pod, Turn& turn);
  void RefuseLate(Turn& turn);
  void RefuseAll(const Refusal& refusal, Turn& turn);
  // Refuses a request that has just left the queue.
  void RefuseHeld(RequestId id, const Refusal& refusal, Turn& turn);
  void Refuse(RequestId id, const Refusal& refusal, Turn& turn);
  absl::string_view ns() const;
  // `room`: whether there was room for the last request that was added.
  bool TooManyAreHeld(bool room) const;
  // A request has waited for the activation timeout.
  void NoteLate(Turn& turn);

  // The number of wanted pods: in service_load.cc.
  bool LoadIsKnown(const Turn& turn) const;
  // Whether the load of a whole window was seen, by its present length.
  bool WindowIsSeen(absl::Time now) const {
    return now >= seen_in_part_at_ + spec_.settings.stable_window;
  }
  scaler::TrafficSample LoadSoFar(const Turn& turn) const;
  void Evaluate(Turn& turn);
  void WakeDecider(absl::Time now);
  // When the present activation is given up if nobody waits; InfiniteFuture in other states.
  absl::Time ActivationEnd() const;
  // For a request to a service that is being woken: more of them may be about to come.
  void EvaluateSoon(absl::Time now);
  void WishForMore(Turn& turn);
  void NoteReadiness(Turn& turn);
  absl::Time NextReadinessCheck() const;

  HttpService spec_;
  SharedCounts& shared_;
  bool begun_ = false;

  ServiceState state_ = ServiceState::kZero;
  absl::Time entered_;
  absl::Time open_since_;    // when it last left a state without endpoints
  absl::Time unused_since_;  // since when, while awake, its load has asked for no pod
  bool asleep_;              // the scale is zero
  bool gate_ = true;         // the gate as it should be
  // The last count, at first that of the scale; not set after a zero that was followed by requests.
  std::optional<int32_t> decided_;
  // Replicas at the start, or fewer that were written since. No fewer are wanted until a pod is
  // ready and a whole window was seen, or until the wait for that pod is given up.
  int32_t at_first_;
  bool zero_entered_ = false;
  bool zero_offered_ = false;
  int32_t wished_ = 0;                           // count asked for since the wake or last delay
  absl::Time next_wish_ = absl::InfinitePast();  // WishScale is not called earlier
  int failures_ = 0;                             // failed activations in a row
  std::optional<std::string> scale_refused_;     // why, in one word
  bool late_ = false;                            // no pod came in time since the wake
  Refusal failure_;                              // what requests get in the state failing

  PodTable pods_;
  std::vector<std::string> endpoints_;  // of the pods, whether or not they are published
  uint64_t revision_ = 1;               // of the endpoints and of spec_
  // The state that was published last. A request alone does not change it.
  struct Published {
    uint64_t revision = 0;
    bool gate = false;
    bool serves = false;
    bool operator==(const Published&) const = default;
  };
  Published published_;
  WaitQueue queue_;
  absl::Time burst_began_ = absl::InfinitePast();
  int64_t burst_left_ = 0;  // requests that may still be let go in this burst
  Slots slots_;
  Publisher publisher_;
  IdleCheck idle_;
  absl::Time alone_since_;  // since when no Envoy has been connected
  std::string not_ready_;

  LoadMeter load_;
  FrontDecider decider_;
  bool decision_valid_ = false;
  int32_t least_wanted_ = 0;  // the last decided count, which does not fall while load is missing
  absl::Time seen_in_part_at_ = absl::InfinitePast();  // when the load was last not known whole
  bool abandoned_ = false;                             // the present activation is given up
  WantedCount told_wanted_;
  absl::Time next_evaluation_;

  ColdStartWatch cold_start_;
};

}  // namespace flyball::front
