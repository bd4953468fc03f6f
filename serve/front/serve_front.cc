#include "serve/front/serve_front.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/one_line.h"
#include "base/status_macros.h"
#include "scaler/front/hosts/service_name.h"
#include "scaler/spec/own_spec.h"

namespace flyball::serve {
namespace {

front::FrontOptions OptionsOf(Clock& clock, const FrontSettings& settings) {
  front::FrontOptions options;
  options.hosts_port = settings.hosts_port;
  options.first_version = static_cast<uint64_t>(absl::ToUnixMicros(clock.WallNow()));
  return options;
}

// Whether the API server refused the write for good. Other errors are temporary: it is unreachable
// or busy, or the decision was dropped and is made again.
bool IsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition: return true;
    default: return false;
  }
}

// Whether the target does not exist. Of a scale that could not be read only the API server's error
// text is kept, so the text is compared.
bool IsGone(const scaler::ScaleAnswer& scale) {
  return scale.failure != scaler::ScaleAnswer::Failure::kRead ||
         absl::StrContains(scale.error, "not found") ||
         absl::StrContains(scale.error, "could not find the requested resource");
}

// Whether the Autoscaler itself causes the error, not an API server that is unreachable or busy.
bool IsAstray(const scaler::ScaleAnswer& scale) {
  return IsGone(scale) || absl::StrContains(scale.error, "forbidden");
}

}  // namespace

class ServeFront::Claim : public scaler::RequestFront::Carried {
 public:
  Claim(ServeFront& front, std::string name, uint64_t claim)
      : front_(front), name_(std::move(name)), claim_(claim) {}
  ~Claim() override { front_.EndClaim(name_, claim_); }
  scaler::RequestDemand Demand() const override { return front_.DemandOf(name_); }

 private:
  ServeFront& front_;
  const std::string name_;
  const uint64_t claim_;
};

ServeFront::Session::Session(ServeFront& owner)
    : front(OptionsOf(owner.deps_.clock, owner.settings_), data_path, owner) {}

ServeFront::ServeFront(Deps deps, const FrontSettings& settings)
    : deps_(std::move(deps)),
      settings_(settings),
      prober_(deps_.clock),
      pods_(deps_.connect, deps_.clock,
            [this](const std::string& service, std::vector<front::PodView> pods) {
              if (service == kEnvoys) return TakeEnvoys(pods);
              TakePods(service, std::move(pods));
            }),
      warnings_(deps_.clock, absl::Minutes(1), kNamespaceLines),
      time_(deps_.clock, std::function<RepeatingThread::Next()>([this] {
              const absl::Time next = session()->front.Advance(Now());
              return RepeatingThread::Next{next == absl::InfiniteFuture()
                                               ? absl::InfiniteDuration()
                                               : next - absl::UnixEpoch()};
            })),
      keeper_(deps_.clock, std::function<absl::Duration()>([this] { return Keep(); })),
      ports_(settings.first_port, settings.last_port),
      session_(std::make_shared<Session>(*this)) {}

ServeFront::~ServeFront() { Stop(); }

absl::Status ServeFront::Start() {
  ASSIGN_OR_RETURN(server_, deps_.connect());
  client_ = std::make_unique<kube::ApiClient>(*server_, deps_.clock);
  events_ = std::make_unique<kube::EventRecorder>(*client_, deps_.clock, "flyball");
  RETURN_IF_ERROR(prober_.Start());
  started_ = true;
  time_.Start();
  keeper_.Start();
  return absl::OkStatus();
}

void ServeFront::Stop() {
  if (!std::exchange(started_, false)) return;
  keeper_.BeginStop();
  client_->Shutdown();
  keeper_.Stop();
  pods_.Stop();
  session()->data_path.Set(nullptr);  // from now on no Envoy reports anything
  time_.Stop();
  prober_.Stop();
  events_.reset();
}

// ---- for the triggers and the loop --------------------------------------------------------------

std::unique_ptr<scaler::RequestFront::Carried> ServeFront::Carry(scaler::CarriedService service,
                                                                 std::function<void()> on_change) {
  const std::string name = service.http.name;
  uint64_t claim = 0;
  {
    absl::MutexLock lock(&mutex_);
    CarriedRecord& record = records_[name];
    if (record.service.http.front_service != service.http.front_service) {
      record.led = false;  // of the other Service it is a rival like any
      record.slices_due = absl::ZeroDuration();
    }
    const int32_t most = service.http.settings.max_scale;
    if (most > 0) record.wish = std::min(record.wish, most);
    claim = record.claim = ++claims_;
    record.changed = hosts_changed_ = true;
    record.service = std::move(service);
    record.on_change = std::move(on_change);
  }
  keeper_.Wake();
  return std::make_unique<Claim>(*this, name, claim);
}

bool ServeFront::With(const std::string& name, absl::FunctionRef<void(CarriedRecord&)> use) {
  absl::MutexLock lock(&mutex_);
  const auto found = records_.find(name);
  if (found == records_.end()) return false;
  use(found->second);
  return true;
}

void ServeFront::RecordEvent(const std::string& name, bool warning, absl::string_view reason,
                             absl::string_view text) {
  kube::EventSubject subject;
  With(name, [&](const CarriedRecord& record) { subject = record.subject; });
  if (!subject.name.empty()) events_->Record(subject, warning, reason, text);
}

// Whoever may change an Autoscaler can make something else wrong with it each time, so the lines of
// a namespace are limited. Its status tells all the same.
void ServeFront::Warn(const std::string& name, absl::string_view reason, const std::string& text) {
  if (warnings_.Due(front::NamespaceOf(name))) {
    spdlog::warn("front: {}: {}: {}", name, std::string(reason),
                 BriefText(text, kNamespaceLineBytes));
  }
  RecordEvent(name, /*warning=*/true, reason, text);
}

void ServeFront::EndClaim(const std::string& name, uint64_t claim) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end() || found->second.claim != claim) return;
    found->second.claim = 0;
    hosts_changed_ = true;
    found->second.on_change = nullptr;
    found->second.ended = deps_.clock.MonotonicNow();
  }
  keeper_.Wake();
}

scaler::RequestDemand ServeFront::DemandOf(const std::string& name) {
  const std::optional<front::ServiceSnapshot> snapshot = session()->front.Snapshot(name);
  const front::WantedCount wanted = snapshot.has_value() ? snapshot->wanted : front::WantedCount();
  absl::MutexLock lock(&mutex_);
  const auto found = records_.find(name);
  if (found == records_.end()) return {.error = not_listening_};
  CarriedRecord& record = found->second;
  scaler::RequestDemand demand;
  demand.front = ReadinessOf(record, snapshot.has_value() ? snapshot->not_ready : "");
  if (!record.problem.empty()) {
    demand.error = record.problem;
  } else if (!record.added) {
    demand.error = not_listening_;
  } else if (!wanted.known && record.wish == 0) {
    demand.error = "no Envoy has reported its requests";
  } else {
    demand.replicas = std::max(wanted.known ? wanted.count : 0, record.wish);
    demand.active = demand.replicas > 0;
  }
  return demand;
}

// The first thing that keeps requests from the pods, in the order in which a request would meet it.
scaler::FrontReadiness ServeFront::ReadinessOf(const CarriedRecord& record,
                                               const std::string& not_ready) const {
  const std::string& problem =
      !record.problem.empty() || record.added ? record.problem : not_listening_;
  if (!problem.empty()) return {.ready = false, .reason = "NotCarried", .message = problem};
  if (!record.slices_problem.empty()) {
    return {.ready = false, .reason = "ServiceNotLed", .message = record.slices_problem};
  }
  if (!record.hosts.refused.empty()) {
    return {.ready = false, .reason = "HostsTaken", .message = record.hosts.refused};
  }
  if (!not_ready.empty()) return {.ready = false, .reason = "FrontNotReady", .message = not_ready};
  return {.ready = true,
          .reason = "Carried",
          .message = absl::StrCat("Envoys carry its requests on port ", record.port, ".")};
}

void ServeFront::Change(const std::string& name) {
  std::function<void()> on_change;
  With(name, [&](const CarriedRecord& record) { on_change = record.on_change; });
  if (on_change) on_change();
}

bool ServeFront::MayEnterZero(const std::string& name) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return true;
    // Envoys from before a restart may carry it; that is not known yet.
    if (!found->second.added) return false;
  }
  return session()->front.MayEnterZero(name, Now());
}

void ServeFront::ScaleWritten(const std::string& name, int32_t from, int32_t to,
                              const absl::Status& status) {
  if (status.ok()) {
    With(name, [to](CarriedRecord& record) {
      if (record.wish <= to) record.wish = 0;
    });
    return session()->front.ScaleWritten(name, to, Now());
  }
  // Where there are replicas nobody is refused since there may not be more.
  if (to == 0 || (from == 0 && IsRefusal(status))) {
    RefuseScale(name, to, "refused");
  } else if (to > from && !IsRefusal(status)) {
    session()->front.ScaleDelayed(name, Now());
  }
}

void ServeFront::OnDecision(const scaler::DecisionRecord& record) {
  if (record.managed == nullptr || record.managed->key.kind != scaler::AutoscalerKind::kOwn) return;
  const std::string name = record.managed->key.ToString();
  bool news = false;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return;
    CarriedRecord& carried = found->second;
    carried.tells = record.mode != scaler::Mode::kAdvise;
    const scaler::Autoscaler& autoscaler = record.managed->autoscaler;
    carried.subject = {.api_version = std::string(scaler::kOwnApiVersion),
                       .kind = std::string(scaler::kOwnKind),
                       .ns = record.managed->key.ns,
                       .name = record.managed->key.name,
                       .uid = autoscaler.uid,
                       .resource_version = autoscaler.resource_version};
    carried.wish = std::min(carried.wish, autoscaler.max_replicas);
    news = carried.created != record.managed->created;
    hosts_changed_ |= news;
    news |= carried.WasMadeAnew();
    carried.created = record.managed->created;
    if (record.scale != nullptr && record.scale->failure == scaler::ScaleAnswer::Failure::kNone) {
      news |= !carried.replicas.has_value() || carried.selector != record.scale->selector;
      carried.replicas = record.scale->spec_replicas;
      carried.selector = record.scale->selector;
      carried.astray = absl::InfiniteDuration();
    } else if (record.scale != nullptr && IsAstray(*record.scale)) {
      carried.astray = std::min(carried.astray, deps_.clock.MonotonicNow());
    }
  }
  if (news) keeper_.Wake();
  const scaler::Decision& decision = *record.decision;
  const bool writes =
      record.mode == scaler::Mode::kAct && record.scale_error.empty() && decision.rescale;
  // A count that is written is reported when its write has ended. A count that stays is reported
  // here, since somebody else may have set it; but not while a zero waits to be written, because
  // the front would stop waiting for it.
  const bool zero_waits =
      record.mode == scaler::Mode::kAct && decision.rescale && decision.desired == 0;
  if (!writes && !zero_waits && decision.current > 0) {
    session()->front.ScaleWritten(name, decision.current, Now());
  }
  AnswerWish(record, name);
}

void ServeFront::OnReleased(const scaler::AutoscalerKey& key) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(key.ToString());
    if (found == records_.end()) return;
    found->second.replicas.reset();  // the other replica may write another count
    released_ = true;
  }
  keeper_.Wake();
}

// Nobody waits for the count any more: later requests ask for a scale again.
void ServeFront::RefuseScale(const std::string& name, int32_t count, absl::string_view word) {
  if (count > 0) With(name, [](CarriedRecord& record) { record.wish = 0; });
  session()->front.ScaleRefused(name, count, word, Now());
}

// Answers a WishScale that no write will answer: the scale is above zero, or must not be written.
// How many more than that are needed is for the wanted count to say, as long as they are. Nobody is
// refused for it, since the pods that there are may be ready in a moment.
void ServeFront::AnswerWish(const scaler::DecisionRecord& record, const std::string& name) {
  const bool has_pods = record.decision->current > 0;
  int32_t wish = 0;
  With(name, [&](CarriedRecord& carried) {
    wish = carried.wish;
    if (has_pods) carried.wish = 0;
  });
  if (wish == 0) return;
  if (record.scale != nullptr && record.scale->failure != scaler::ScaleAnswer::Failure::kNone) {
    if (!IsGone(*record.scale)) return session()->front.ScaleDelayed(name, Now());
    return RefuseScale(name, wish, "gone");
  }
  if (has_pods || record.mode == scaler::Mode::kAct) return;
  RefuseScale(name, wish, record.managed->own.paused ? "paused" : scaler::ModeName(record.mode));
}

// ---- for the front ------------------------------------------------------------------------------

void ServeFront::WishScale(const std::string& service, int32_t at_least) {
  With(service, [at_least](CarriedRecord& record) { record.wish = at_least; });
  Change(service);
}

void ServeFront::StartProbe(const std::string& service, const std::string& uid,
                            const std::string& address) {
  const std::optional<CarriedPods::Question> question =
      pods_.QuestionOf(std::string(front::NamespaceOf(service)), uid, address);
  if (!question.has_value()) {
    return session()->front.Probed(service, uid, front::ProbeResult::kRefused, Now());
  }
  prober_.Ask(question->address, question->check, [this, service, uid](front::ProbeResult result) {
    session()->front.Probed(service, uid, result, Now());
  });
}

void ServeFront::WakeAt(absl::Time /*time*/) { time_.Wake(); }

void ServeFront::Tell(const front::Notice& notice) {
  static constexpr const char* kReasons[] = {"Woken", "ActivationFailed", "FrontNotReady",
                                             "RefusedByEnvoy"};
  const bool warning = notice.kind != front::NoticeKind::kWoken;
  const char* const reason = kReasons[static_cast<size_t>(notice.kind)];
  spdlog::log(warning ? spdlog::level::warn : spdlog::level::info, "front: {}: {}: {}",
              notice.service, reason, notice.text);
  // An Envoy refuses what one message has of several services.
  const std::vector<std::string> names = absl::StrSplit(notice.service, ", ");
  for (const std::string& name : names) {
    RecordEvent(name, warning, reason, notice.text);
    if (notice.kind == front::NoticeKind::kFrontNotReady) Change(name);  // its condition
  }
}

void ServeFront::Tell(const std::string& service, const front::ColdStart& cold_start) {
  const std::array<absl::Duration, 5> parts = {cold_start.total, cold_start.write, cold_start.pod,
                                               cold_start.probe, cold_start.ack};
  spdlog::info("front: {}: cold start {} (write {}, pod {}, probe {}, Envoys {})", service,
               absl::FormatDuration(parts[0]), absl::FormatDuration(parts[1]),
               absl::FormatDuration(parts[2]), absl::FormatDuration(parts[3]),
               absl::FormatDuration(parts[4]));
  absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < parts.size(); ++i) {
    ColdStarts& all = cold_starts_[i];
    ++all.count;
    all.sum += parts[i];
    for (size_t j = 0; j < all.within.size(); ++j) {
      all.within[j] += absl::ToDoubleSeconds(parts[i]) <= ColdStarts::kBounds[j];
    }
  }
}

void ServeFront::TakePods(const std::string& name, std::vector<front::PodView> pods) {
  std::shared_ptr<absl::Mutex> telling;
  if (!With(name, [&](const CarriedRecord& record) { telling = record.telling_pods; })) return;
  absl::MutexLock in_order(telling.get());
  bool added = false;
  const bool known = With(name, [&](CarriedRecord& record) {
    record.pods = pods;
    added = record.added;
  });
  if (!known) return;
  if (added) {
    session()->front.SetPods(name, pods, Now());
  } else {
    keeper_.Wake();
  }
}

// ---- for people ---------------------------------------------------------------------------------

std::vector<CarriedState> ServeFront::States() const {
  std::vector<CarriedState> states;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [name, record] : records_) states.push_back({.service = name, .front = {}});
  }
  for (CarriedState& state : states) state.front = session()->front.Snapshot(state.service);
  return states;
}

front::FrontTotals ServeFront::Totals() const { return session()->front.Totals(Now()); }

std::array<ServeFront::ColdStarts, 5> ServeFront::cold_starts() const {
  absl::MutexLock lock(&mutex_);
  return cold_starts_;
}

}  // namespace flyball::serve
