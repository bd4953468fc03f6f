// All services that scale by their requests, as one object: takes events from Envoys, pods and the
// scaler, and makes the resulting calls to the Envoys and the scaler.
//
// Time: `now` is a time that never jumps (data_path.h). Nothing happens by itself: Advance() does
// what is due and returns when it is to be called again; FrontObserver::WakeAt asks for an earlier
// call.
//
// Threads: thread-safe. There is one lock, held for microseconds: an Envoy's events and the limit
// on held requests concern all services, and separate locks would lose their order. Calls to the
// transport and the observer are made without the lock, one at a time and in the order of the
// events, by whichever thread finds some waiting; so they may come a moment later and from another
// thread than the event.
//
// Services are named "<namespace>/<autoscaler>". Calls with an unknown name are ignored.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "scaler/front/data_path.h"
#include "scaler/front/effects.h"
#include "scaler/front/envoys.h"
#include "scaler/front/front_observer.h"
#include "scaler/front/hosts/host_routes.h"
#include "scaler/front/http_service.h"
#include "scaler/front/pod_table.h"
#include "scaler/front/service.h"
#include "scaler/front/snapshot.h"
#include "scaler/front/wait_queue.h"

namespace flyball::front {

struct FrontOptions {
  // Versions of resources are greater than this. It should exceed the versions of any earlier
  // process; the Unix time in microseconds at the start does.
  uint64_t first_version = 0;
  int64_t held_limit = 12500;  // requests that are held in all
  int probe_limit = 256;       // probes at the same time
  uint16_t hosts_port = 8080;  // where Envoys listen for hosts, once a service has some
  // How long requests are held that arrive before BeginServing or for an unknown service.
  absl::Duration start_timeout = absl::Seconds(60);
};

class Front : public DataPathEvents {
 public:
  // `data_path` and `observer` outlive the front.
  Front(const FrontOptions& options, DataPath& data_path, FrontObserver& observer);

  // `replicas`: the replicas in the target's scale; zero while it is scaled to zero.
  void AddService(const HttpService& spec, int32_t replicas, const std::vector<PodView>& pods,
                  absl::Time now);
  void ChangeService(const HttpService& spec, absl::Time now);
  void RemoveService(const std::string& name, absl::Time now);

  // To be called once, when all services and their pods are known: until then nothing is sent to
  // any Envoy, and requests wait. `unknown`: services that could not be added by now, with the
  // hosts that they had. Envoys that have them keep them as they are until AddService or
  // RemoveService; meanwhile gated requests, which those by host all are, wait.
  void BeginServing(absl::Time now, const std::map<std::string, HostRoutes>& unknown = {});

  // Sets the Envoys to which the cluster leads requests, by the names of their pods, which are
  // their node ids. Until the first call those that are connected count as all.
  void SetEnvoys(const std::set<NodeId>& nodes, absl::Time now);

  // All pods of the target, including those that are being deleted.
  void SetPods(const std::string& name, const std::vector<PodView>& pods, absl::Time now);
  void Probed(const std::string& name, const std::string& uid, ProbeResult result, absl::Time now);

  // To be called right before a scale of zero is written, for whatever reason. False while a
  // request could be lost; FrontObserver::OfferZero says when to ask again. After true, requests
  // are held until the scale is raised, or until ScaleRefused reports that zero was not written.
  bool MayEnterZero(const std::string& name, absl::Time now);
  // A scale was written, because of WishScale or for another reason.
  void ScaleWritten(const std::string& name, int32_t count, absl::Time now);
  // A scale was not, or must not be, written: requests that wait for it are refused, with a reason
  // of one word that is shown to clients ("paused", "refused", "gone").
  void ScaleRefused(const std::string& name, int32_t count, absl::string_view word, absl::Time now);
  // A scale above zero could not be written now, but may be later: requests keep waiting, and
  // WishScale is called again.
  void ScaleDelayed(const std::string& name, absl::Time now);

  absl::Time Advance(absl::Time now);

  std::optional<ServiceSnapshot> Snapshot(const std::string& name) const;
  FrontTotals Totals(absl::Time now) const;

  // DataPathEvents
  void OnEnvoy(const NodeId& node, bool returning, absl::Time now) override;
  void OnEnvoyGone(const NodeId& node, absl::Time now) override;
  void OnAck(const NodeId& node, ResourceKind kind, const std::string& service, uint64_t version,
             absl::Time now) override;
  void OnNack(const NodeId& node, ResourceKind kind, const std::vector<std::string>& services,
              absl::string_view text, absl::Time now) override;
  void OnRequest(RequestId id, const NodeId& node, const std::string& service,
                 absl::Time now) override;
  void OnRequestEnd(RequestId id, absl::Time now) override;
  void OnLoad(const NodeId& node, absl::Span<const ServiceLoad> services, absl::Time now) override;

 private:
  struct ServiceRecord {
    std::unique_ptr<Service> service;
    absl::Time due = absl::InfiniteFuture();
    bool follows = false;  // whether it is in following_
  };
  // Orders services that are due at the same moment by name, so that every run is the same.
  struct EarlierDue {
    bool operator()(const std::pair<absl::Time, Service*>& a,
                    const std::pair<absl::Time, Service*>& b) const {
      return std::tie(a.first, a.second->name()) < std::tie(b.first, b.second->name());
    }
  };
  // Handles an event with `look` under the lock, then carries out its effects.
  void Do(absl::Time now, absl::FunctionRef<void(Turn&)> look);
  // Does the same for one service.
  void DoFor(const std::string& name, absl::Time now,
             absl::FunctionRef<void(Service&, Turn&)> look);
  void DoForAll(Turn& turn, absl::FunctionRef<void(Service&)> look)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ServiceRecord* Find(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // To be called after each event of a service: starts its probes, and records when it is due and
  // whether it follows reports.
  void Touched(ServiceRecord& record, Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndSeconds(Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Admit(const std::string& service, const HeldRequest& request, Turn& turn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Admits the early requests of a service that is known now.
  void AdmitEarly(const std::string& service, Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RefuseEarly(Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the listener for hosts with the first of its routes.
  void AddHostsListener(Effects& effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetAnswered(const Effects& effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Time NextTime() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Deliver();
  void CarryOut(const Effect& effect);

  const FrontOptions options_;
  DataPath& data_path_;
  FrontObserver& observer_;

  mutable absl::Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();  // the latest that was passed
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  SharedCounts shared_ ABSL_GUARDED_BY(mutex_);
  Envoys envoys_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, ServiceRecord> services_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<absl::Time, Service*>, EarlierDue> due_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, ServiceRecord*> following_ ABSL_GUARDED_BY(mutex_);  // all reports
  absl::Time promised_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();     // the next Advance
  absl::Time second_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();         // start of this second
  int probing_ ABSL_GUARDED_BY(mutex_) = 0;
  // The requests that are held or occupy a slot.
  absl::flat_hash_map<RequestId, Service*> requests_ ABSL_GUARDED_BY(mutex_);
  // Requests by service that wait for BeginServing, or for their service to be known.
  std::map<std::string, WaitQueue> early_ ABSL_GUARDED_BY(mutex_);
  // The services that were unknown when it began to serve, with the hosts that they had.
  std::map<std::string, HostRoutes> kept_ ABSL_GUARDED_BY(mutex_);
  bool hosts_listener_ ABSL_GUARDED_BY(mutex_) = false;  // whether it was added
  std::deque<Effect> undelivered_ ABSL_GUARDED_BY(mutex_);
  bool delivering_ ABSL_GUARDED_BY(mutex_) = false;  // a thread is carrying out effects
};

}  // namespace flyball::front
