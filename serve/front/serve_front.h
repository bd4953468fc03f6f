// Scaling by requests in one serving process: connects the front, which decides, with the Envoys,
// the pods, the loop that writes scales, and the API server.
//
// A service is carried from the moment that its scale was read, its pods are listed and its port is
// known. The Envoys are sent nothing until that is true of all services in the API server that can
// be carried, so that a restart never removes what they have. A service's port and hosts are in
// status.http of its Autoscaler.
//
// Threads: thread-safe, except for Start and Stop. Three of its own: the keeper updates services
// from the cluster and may wait for the API server, one calls the front when something is due, one
// probes pods (prober.h); and a watch for each namespace with a service. Only locks that keep an
// order (telling_…) are held while the front, the loop or the API server is called.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/log_limiter.h"
#include "base/repeating_thread.h"
#include "kube/client/api_client.h"
#include "kube/client/event_recorder.h"
#include "scaler/front/front.h"
#include "scaler/front/hosts/host_claims.h"
#include "scaler/triggers/request_front.h"
#include "scaler/views/decision_record.h"
#include "serve/front/carried_pods.h"
#include "serve/front/front_slices.h"
#include "serve/front/late_data_path.h"
#include "serve/front/port_book.h"
#include "serve/front/prober.h"

namespace flyball::serve {

struct FrontSettings {
  uint16_t first_port = 20000;
  uint16_t last_port = 39999;
  uint16_t hosts_port = 8080;  // of the listener for hosts
  front::HostLimits hosts = {};
  std::vector<std::string> namespaces = {};  // empty: all
  // Selects the Envoys' pods, which become the endpoints of the Services that clients call. Without
  // a selector no endpoints are written.
  std::string envoy_namespace = {};
  std::string envoy_selector = {};
};

// The state of a service, for metrics.
struct CarriedState {
  std::string service;  // "shop/web"
  std::optional<front::ServiceSnapshot> front;
};

// The name under which CarriedPods follows the Envoys' pods; no service can have it.
inline constexpr char kEnvoys[] = "envoys";

class ServeFront : public scaler::RequestFront,
                   public scaler::DecisionObserver,
                   private front::FrontObserver {
 public:
  struct Deps {
    CarriedPods::Connect connect;  // to the API server
    Clock& clock;                  // outlives it
    // Listens for Envoys. Called again after a failure.
    std::function<absl::StatusOr<std::unique_ptr<front::DataPath>>(front::DataPathEvents&)> listen;
    // Called right before each write to the cluster: whether no other replica owns the services.
    std::function<bool()> may_write = [] { return true; };
  };

  ServeFront(Deps deps, const FrontSettings& settings);
  ~ServeFront() override;  // stops

  absl::Status Start();
  // The Envoys keep holding their requests, and connect to the next owner.
  void Stop();

  // RequestFront
  std::unique_ptr<Carried> Carry(scaler::CarriedService service,
                                 std::function<void()> on_change) override;
  bool MayEnterZero(const std::string& name) override;
  void ScaleWritten(const std::string& name, int32_t from, int32_t to,
                    const absl::Status& status) override;

  // DecisionObserver
  void OnDecision(const scaler::DecisionRecord& record) override;
  void OnForgotten(const scaler::AutoscalerKey& /*key*/) override {}
  void OnReleased(const scaler::AutoscalerKey& key) override;

  std::vector<CarriedState> States() const;
  front::FrontTotals Totals() const;
  // The durations of cold starts since the start, and of the parts: total, write, pod, probe, ack.
  struct ColdStarts {
    static constexpr double kBounds[] = {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
    std::array<uint64_t, std::size(kBounds)> within = {};  // how many took no longer
    uint64_t count = 0;
    absl::Duration sum;
  };
  std::array<ColdStarts, 5> cold_starts() const;

 private:
  class Claim;
  struct CarriedRecord {
    scaler::CarriedService service;
    std::function<void()> on_change;
    uint64_t claim = 0;  // of the trigger that owns it; 0: that has ended
    MonotonicTime ended = absl::ZeroDuration();
    kube::EventSubject subject;
    std::string told_uid;             // of the Autoscaler whose status has port and hosts
    std::optional<int32_t> replicas;  // of the scale; nullopt: not read yet
    std::string selector;             // of the scale
    std::optional<bool> h2c;          // its Service wants HTTP/2 to the pods; nullopt: unknown yet
    std::string followed_selector;    // the selector of the followed pods, with this port
    std::optional<std::string> followed_port;  // nullopt: none are
    std::optional<std::vector<front::PodView>> pods;
    // Held from reading `pods` until the front has them, so that it gets the last ones. Taken
    // before mutex_. Each service has its own, since the front may send to many others' Envoys
    // meanwhile.
    std::shared_ptr<absl::Mutex> telling_pods = std::make_shared<absl::Mutex>();
    uint16_t port = 0;
    bool has_no_port = false;  // no port was left for it
    // Since when its scale cannot be read, for a reason of its own: there is no such target.
    MonotonicTime astray = absl::InfiniteDuration();
    std::string problem;
    absl::Time created = absl::InfiniteFuture();  // creation of its Autoscaler
    front::HostGrant hosts;                       // which of the hosts that it asks for it has
    bool granted = false;                         // that was decided
    bool added = false;                           // the front has it
    bool changed = false;                         // since the last call to the front
    int32_t wish = 0;  // a scale that held requests need, until it is written
    MonotonicTime slices_due = absl::ZeroDuration();  // when its Service is next checked
    std::string slices_problem;                       // why it does not lead to the Envoys
    bool led = false;                                 // its Service leads to the Envoys
    bool tells = false;  // the loop says so when another replica owns it

    bool FollowsItsPods() const {
      return followed_port == service.http.target_port && followed_selector == selector;
    }
    // Whether it was deleted and created again, so that its old status is void.
    bool WasMadeAnew() const {
      return !told_uid.empty() && !subject.uid.empty() && told_uid != subject.uid;
    }
    FrontSlices::Target target() const { return {service.ns, service.http.front_service, port}; }
  };
  using Records = std::map<std::string, CarriedRecord>;

  // The services that need work by the keeper.
  struct Stock {
    std::vector<std::string> ended;  // for so long that no new owner is expected
    // Not in their final state: first those that are not carried yet, last some whose Services only
    // have to be checked again.
    std::vector<std::string> unsettled;
    bool more = false;                              // there are more to be checked
    MonotonicTime next = absl::InfiniteDuration();  // when another one will be unsettled
  };

  // Exists from the first Envoy until another replica owns the services. Then everything starts
  // again, since the Envoys have what the other replica sends them.
  struct Session {
    explicit Session(ServeFront& owner);
    LateDataPath data_path;
    front::Front front;
  };
  std::shared_ptr<Session> session() const {
    absl::MutexLock lock(&mutex_);
    return session_;
  }

  static absl::Status NotOurs() { return absl::AbortedError("another replica may own it by now"); }
  absl::Time Now() const { return absl::UnixEpoch() + deps_.clock.MonotonicNow(); }
  scaler::RequestDemand DemandOf(const std::string& name);
  scaler::FrontReadiness ReadinessOf(const CarriedRecord& record,
                                     const std::string& not_ready) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Calls `use` with the service's record, under the lock. False: there is none.
  bool With(const std::string& name, absl::FunctionRef<void(CarriedRecord&)> use);
  // Records an event of the service's Autoscaler, if that is known.
  void RecordEvent(const std::string& name, bool warning, absl::string_view reason,
                   absl::string_view text);
  // Logs what is wrong with the service, and records an event.
  void Warn(const std::string& name, absl::string_view reason, const std::string& text);
  void EndClaim(const std::string& name, uint64_t claim);
  void Change(const std::string& name);  // calls its on_change
  void TakePods(const std::string& name, std::vector<front::PodView> pods);
  void AnswerWish(const scaler::DecisionRecord& record, const std::string& name);
  void RefuseScale(const std::string& name, int32_t count, absl::string_view word);

  // The keeper.
  absl::Duration Keep();
  void Settle(const std::string& name);
  bool IsReleased() const;  // another replica owns the services
  void BeginAnewIfReleased();
  bool Listen();
  bool KnowsServices();
  absl::Status ListServices();
  absl::Status ListServicesIn(const std::string& ns);
  void ListService(absl::string_view json_text);
  absl::Status ListSlicesIn(const std::string& ns);
  absl::Status TakePort(const std::string& name);
  void FollowPods(const std::string& name);
  void GrantHosts();
  std::vector<front::HostClaim> HostClaims() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  front::HostRoutes Had(const std::string& name) const;
  bool WriteStatus(const std::string& name);
  // Writes fields of status.http; `what` names them in the error.
  absl::Status PatchHttp(const std::string& name, absl::string_view what, const std::string& json);
  absl::Status PatchHosts(const std::string& name, const front::HostRoutes& routes);
  absl::Status WriteHosts(const std::string& name);
  bool ForgetHosts();
  void TellOfHosts(const std::string& name, const std::string& refused);
  void LookAtService(const std::string& name);
  void AddOrChange(const std::string& name);
  void Remove(const std::vector<std::string>& ended);
  bool ForgetMissing();
  void FollowEnvoys();
  void TakeEnvoys(const std::vector<front::PodView>& pods);
  void TellEnvoys();
  bool Leads(const CarriedRecord& record) const;
  absl::Status CheckRivals(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteSlices(const std::string& name);
  bool EmptySlices();
  void NoteProgress(const std::string& name);
  void BeginServingIfComplete();
  // Whether the loop would not say so if another replica owned the services: there are none, or
  // each is only advised, which every replica does, or not decided yet.
  bool NobodyTells() const;
  // Unless it `tries_again`, leaves out those that have a problem.
  Stock TakeStock(bool tries_again) const;
  // Whether the API server refused the call; otherwise it is unreachable or busy.
  static bool WasRefused(const absl::Status& status);

  // front::FrontObserver
  void WishScale(const std::string& service, int32_t at_least) override;
  void OfferZero(const std::string& service) override { Change(service); }
  void DesiredChanged(const std::string& service) override { Change(service); }
  void StartProbe(const std::string& service, const std::string& uid,
                  const std::string& address) override;
  void WakeAt(absl::Time time) override;
  void Tell(const front::Notice& notice) override;
  void Tell(const std::string& service, const front::ColdStart& cold_start) override;

  const Deps deps_;
  const FrontSettings settings_;
  std::unique_ptr<http::HttpTransport> server_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<kube::EventRecorder> events_;
  Prober prober_;
  CarriedPods pods_;
  LogLimiter warnings_;  // by namespace
  RepeatingThread time_;
  RepeatingThread keeper_;
  bool started_ = false;

  // ---- of the keeper's thread
  PortBook ports_;
  bool listed_ = false;
  std::string list_problem_;  // why they are not listed
  absl::Duration list_pause_ = absl::ZeroDuration();
  MonotonicTime next_list_ = absl::ZeroDuration();
  bool serving_ = false;
  bool envoys_followed_ = false;
  absl::Status envoys_problem_;  // why they are not followed, as it was last logged
  bool failed_ = false;  // something of the present service that the API server has not refused
  MonotonicTime next_try_ = absl::ZeroDuration();  // of what has a problem
  std::set<std::string> expected_;  // the services that the API server had at the start
  MonotonicTime missing_due_ = absl::ZeroDuration();  // when those not carried are looked for
  struct PortInStatus {
    uint16_t port = 0;
    std::string uid;  // of the Autoscaler with that status
  };
  std::map<std::string, PortInStatus> told_ports_;  // by service, from its status at the start
  std::map<std::string, uint16_t> was_led_;         // likewise: the port that its Service led to
  std::map<std::string, bool> was_h2c_;  // by Service ("shop/web"), from its slices at the start
  // Namespaces, and ports that their Services lead to, perhaps without an Autoscaler.
  std::set<std::pair<std::string, uint16_t>> maybe_stale_;
  MonotonicTime stale_due_ = absl::ZeroDuration();      // when these are next checked
  std::map<std::string, front::HostRoutes> had_hosts_;  // by service, from its status
  MonotonicTime next_listen_ = absl::ZeroDuration();
  MonotonicTime progress_at_ = absl::ZeroDuration();  // last progress of the start

  absl::Mutex telling_envoys_ ABSL_ACQUIRED_BEFORE(mutex_);
  mutable absl::Mutex mutex_;
  std::shared_ptr<Session> session_ ABSL_GUARDED_BY(mutex_);
  bool released_ ABSL_GUARDED_BY(mutex_) = false;  // another replica owns them
  Records records_ ABSL_GUARDED_BY(mutex_);
  bool hosts_changed_ ABSL_GUARDED_BY(mutex_) = false;  // which services ask, or since when
  std::optional<std::vector<FrontSlices::Envoy>> envoys_ ABSL_GUARDED_BY(mutex_);  // those ready
  std::set<front::NodeId> envoy_names_ ABSL_GUARDED_BY(mutex_);                    // their names
  uint64_t claims_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string not_listening_ ABSL_GUARDED_BY(mutex_) = "no Envoy carries its requests yet";
  std::array<ColdStarts, 5> cold_starts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::serve
