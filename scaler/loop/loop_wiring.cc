#include "scaler/loop/loop_wiring.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "scaler/spec/shown_gates.h"
#include "scaler/stores/secrets.h"

namespace flyball::scaler {
namespace {

// How often Turn checks whether the first lists have arrived.
constexpr absl::Duration kFirstListsWait = absl::Milliseconds(50);

TriggerContext MakeTriggerContext(const LoopDependencies& deps, TriggerSecrets secrets,
                                  const PodStore& pods) {
  TriggerContext context;
  context.count_pods = [&pods](absl::string_view ns, const kube::Selector& selector, bool by_node) {
    return pods.Count(ns, selector, by_node);
  };
  context.read_secret = [reader = std::make_shared<SecretReader>(deps.client, deps.clock, secrets)](
                            absl::string_view ns, const TriggerSpec::SecretKey& key) {
    return reader->Read(ns, key);
  };
  context.clients = deps.trigger_clients;
  context.front = deps.front;
  return context;
}

AskContext MakeAskContext(const LoopDependencies& deps) {
  return {.providers = deps.providers(),
          .mapper = deps.directory.mapper(),
          .now = deps.clock.WallNow()};
}

}  // namespace

LoopWiring::LoopWiring(LoopDependencies dependencies, const ScalerOptions& options)
    : dependencies_(std::move(dependencies)),
      dialect_(options.dialect),
      acts_on_hpas_(options.mode == Mode::kAct && options.act_on_hpas),
      configs_(options.controller, DialectOf(options.dialect, ServerVersion())),
      pods_(dependencies_.clock, dependencies_.pod_followers),
      scales_(dependencies_.clock, options.namespaces, dependencies_.start_watch),
      board_(dependencies_.clock,
             [this](absl::Span<AnswerWaiter* const> ready) { loop_->OnReady(ready); }),
      // Questions of consecutive tasks may share a query.
      read_lanes_(dependencies_.run_reads, TurnsOnly(options.read_threads, options.read_threads)),
      trigger_lanes_(dependencies_.run_triggers, kTriggerLanes),
      write_lanes_(dependencies_.run_writes, TurnsOnly(options.write_threads, 1)),
      statuses_(std::make_unique<StatusWriter>(
          StatusWriter::Deps{dependencies_.client, dependencies_.budget, dependencies_.clock,
                             dependencies_.ownership},
          dependencies_.status_threads,
          [this](const StatusJob& job, const absl::Status& status) {
            report_.StatusFailed(job, status);
          })),
      read_({pods_, scales_, board_, dependencies_.client, dependencies_.directory, read_lanes_}),
      decide_({pods_, dependencies_.ownership}),
      act_({dependencies_.client, dependencies_.budget, dependencies_.clock,
            dependencies_.ownership, scales_, pods_, autoscalers_, options,
            dependencies_.front.get(), dependencies_.stalls}),
      report_({dependencies_.hpa_events, dependencies_.own_events, *statuses_,
               dependencies_.ownership, options.status_interval, dependencies_.observers}),
      steady_({pods_, autoscalers_, dependencies_.directory, dependencies_.ownership, board_,
               *statuses_, configs_, dependencies_.observers}),
      loop_(std::make_unique<Loop>(
          Loop::Deps{.clock = dependencies_.clock,
                     .ownership = dependencies_.ownership,
                     .pods = pods_,
                     .autoscalers = autoscalers_,
                     .read = read_,
                     .decide = decide_,
                     .act = act_,
                     .report = report_,
                     .steady = steady_,
                     .configs = configs_,
                     .plan = {.board = board_,
                              .read_lanes = read_lanes_,
                              .trigger_lanes = trigger_lanes_,
                              .clock = dependencies_.clock,
                              .tells_of_samples =
                                  [this] { return dependencies_.providers().tell_of_samples; },
                              .triggers = MakeTriggerContext(dependencies_, options.trigger_secrets,
                                                             pods_)},
                     .run_decisions = dependencies_.run_decisions,
                     .write_lanes = write_lanes_,
                     .ask_context = [this] { return MakeAskContext(dependencies_); },
                     .wake_up = dependencies_.wake_up,
                     .observers = dependencies_.observers},
          Loop::Options{.mode = options, .sync_period = options.sync_period})),
      autoscalers_(dependencies_.clock, *loop_) {
  dependencies_.ownership.OnChange([this] { loop_->OwnershipChanged(); });
}

LoopWiring::~LoopWiring() { dependencies_.ownership.OnChange(nullptr); }

void LoopWiring::UseVersion(const ServerVersion& seen) {
  absl::MutexLock lock(&version_mutex_);
  version_ = seen;
  UseWhatShows();
}

// The API server admits a minimum of 0 only while its HPAScaleToZero gate is on. The stock
// controller's gate may differ, so a minimum counts only where this process is the controller.
bool LoopWiring::GateShows() const {
  return autoscalers_.ShowsScaleToZero() || (acts_on_hpas_ && autoscalers_.HasZeroMinimum());
}

void LoopWiring::UseWhatShows() {
  gate_shown_ = GateShows();
  configs_.Use(
      DialectOf(gate_shown_ ? WithScaleToZeroShown(dialect_, version_) : dialect_, version_));
}

MonotonicTime LoopWiring::Turn() {
  const MonotonicTime now = dependencies_.clock.MonotonicNow();
  listed_ = listed_ || Listed().ok();
  if (!listed_) return now + kFirstListsWait;
  {
    // A gate must count for the first decision on the object that shows it.
    absl::MutexLock lock(&version_mutex_);
    if (gate_shown_ != GateShows()) UseWhatShows();
  }
  const MonotonicTime next = loop_->Tick(now);
  return std::min(next, statuses_->Release(dependencies_.clock.MonotonicNow()));
}

// Lists of a namespace that is gone, or that we may not read, fail for good: those of the others
// are enough.
absl::Status LoopWiring::Listed() const {
  absl::Status missing = autoscalers_.Ready();
  if (missing.ok()) missing = pods_.Ready();
  if (missing.ok() || autoscalers_.Waits() || pods_.Waits()) return missing;
  for (const std::string& ns : pods_.Namespaces()) {
    if (autoscalers_.Ready(ns).ok() && pods_.Ready(ns).ok()) return absl::OkStatus();
  }
  return missing;
}

absl::Status LoopWiring::Ready() const {
  RETURN_IF_ERROR(Listed());
  return scales_.Ready();
}

}  // namespace flyball::scaler
