#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "scaler/math/requests/request_decider.h"
#include "scaler/math/requests/traffic.h"
#include "scaler/vectors/requests/kinds.h"
#include "scaler/vectors/requests/revision_model.h"
#include "scaler/vectors/requests/scenario.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kSecond = 1000;
constexpr int64_t kTick = 2 * kSecond;
constexpr int64_t kNever = INT64_MAX;
constexpr int kMostStepsAtOnce = 10;
constexpr int64_t kLongestProbe = 45 * kSecond;

// Pods that were made at the same time.
struct PodBatch {
  int64_t ready_at;
  int64_t pods;
};

// Runs collector, decider and controller under a given load. Times are in milliseconds.
class LoopRun {
 public:
  explicit LoopRun(const Json& in)
      : clock_(in),
        load_(kube::ItemsOf(in, "load")),
        startup_(kube::NumberOf(in, "startup_ms")),
        route_(kube::NumberOf(in, "route_ms")),
        until_(kube::NumberOf(in, "until_ms")),
        next_tick_(kube::NumberOf(in, "phase_ms")),
        model_(static_cast<int32_t>(
            std::clamp<int64_t>(kube::NumberOf(in, "replicas"), 0, INT32_MAX))) {
    MakePods(model_.replicas());
  }

  absl::StatusOr<Json> Run(const Json& in) {
    ScenarioSettings written;
    ReplaceSettings(in, written);
    ASSIGN_OR_RETURN(settings_, Resolve(written));
    for (const int64_t ms : {startup_, route_, until_, next_tick_}) RETURN_IF_ERROR(CheckTime(ms));
    Reconcile();
    while (true) {
      const int64_t next = NextTime();
      if (next > until_) break;
      now_ = next;
      RunDue();
    }
    return Json{{"states", states_}, {"changes", changes_}};
  }

 private:
  int64_t NextTime() const {
    int64_t next = std::min({next_end_, next_begin_, next_tick_, next_probe_, next_ready_});
    if (!steps_at_.empty()) next = std::min(next, *steps_at_.begin());
    return std::max(next, now_);
  }

  // Does one thing that is due now; the order of these lines holds for things due at the same time.
  void RunDue() {
    if (next_ready_ <= now_) {
      FindNextReady();
      NotePath();
      StepAt(now_);
    } else if (next_end_ <= now_) {
      EndSecond();
      next_end_ += kSecond;
    } else if (next_begin_ <= now_) {
      BeginSecond();
      next_begin_ += kSecond;
    } else if (next_tick_ <= now_) {
      Evaluate(/*poke=*/false);
      next_tick_ += kTick;
    } else if (next_probe_ <= now_) {
      PollProbe();
    } else {
      while (!steps_at_.empty() && *steps_at_.begin() <= now_) steps_at_.erase(steps_at_.begin());
      Reconcile();
    }
  }

  int32_t ReadyPods() const {
    int64_t ready = 0;
    for (const PodBatch& batch : batches_) {
      if (batch.ready_at <= now_) ready += batch.pods;
    }
    return static_cast<int32_t>(ready);
  }

  void FindNextReady() {
    next_ready_ = kNever;
    for (const PodBatch& batch : batches_) {
      if (batch.ready_at > now_) next_ready_ = std::min(next_ready_, batch.ready_at);
    }
  }

  // Makes or removes pods until there are `replicas`. The youngest are removed first; new ones are
  // ready after the start-up time.
  void MakePods(int32_t replicas) {
    int64_t missing = std::max(replicas, 0);
    for (PodBatch& batch : batches_) {
      batch.pods = std::min(batch.pods, missing);
      missing -= batch.pods;
    }
    std::erase_if(batches_, [](const PodBatch& batch) { return batch.pods == 0; });
    if (missing > 0) batches_.push_back({.ready_at = now_ + startup_, .pods = missing});
  }

  double Load(int64_t second) const { return NumberAt(load_, static_cast<size_t>(second)); }

  bool Proxied() const { return ReadyPods() == 0 || model_.mode() == ServeMode::kProxy; }

  // Remembers since when the activators are in the path.
  void NotePath() {
    if (!Proxied()) {
      proxied_since_.reset();
    } else if (!proxied_since_.has_value()) {
      proxied_since_ = now_;
    }
  }

  bool ActivatorAnswers() const {
    return proxied_since_.has_value() && now_ - *proxied_since_ >= route_;
  }

  void EndSecond() {
    const double offered = Load(now_ / kSecond - 1);
    const bool proxied = Proxied();
    if (activator_knows_) {
      const double carried = proxied ? offered : 0;
      const double value = first_report_ ? std::max(carried - 1, 0.0) : carried;
      first_report_ = false;
      Push(value);
      if (carried == 0) activator_knows_ = false;
    }
    if (ReadyPods() == 0) return;
    const double through = proxied ? offered : 0;
    traffic_->Record(clock_.At(now_), {.concurrency = offered,
                                       .proxied_concurrency = through,
                                       .requests = offered,
                                       .proxied_requests = through});
  }

  void BeginSecond() {
    if (activator_knows_ || !Proxied() || Load(now_ / kSecond) <= 0) return;
    activator_knows_ = true;
    first_report_ = true;
    Push(1);
  }

  void Push(double value) {
    traffic_->Record(clock_.At(now_), {.concurrency = value, .requests = value});
    if (decider_->Pokes(value)) Evaluate(/*poke=*/true);
  }

  void Evaluate(bool poke) {
    const absl::Time now = clock_.At(now_);
    const RequestDecision decision =
        decider_->Evaluate(now, {.ready = ReadyPods()}, traffic_->Averages(settings_, now));
    if (decision.told) StepAt(now_);
    const Json change = {{"ok", decision.valid},
                         {"n", decision.wanted},
                         {"panic", decider_->panicking()},
                         {"negative", decision.excess_burst < 0}};
    if (change == last_change_) return;
    last_change_ = change;
    changes_.push_back({{"t", now_},
                        {"ok", decision.valid},
                        {"n", decision.wanted},
                        {"ebc", decision.excess_burst},
                        {"panic", decider_->panicking()},
                        {"poke", poke}});
  }

  void StepAt(int64_t ms) { steps_at_.insert(ms); }

  // Steps the revision until nothing changes any more.
  void Reconcile() {
    for (int i = 0; i < kMostStepsAtOnce; ++i) {
      if (model_.has_front() && !decider_.has_value()) {
        traffic_.emplace(settings_);
        decider_.emplace(settings_, PodsSeen{.ready = ReadyPods()}, clock_.At(now_));
      }
      Step();
      if (!model_.changed()) break;
    }
    FindNextReady();
    NotePath();
  }

  void Step() {
    const RevisionInput input{.now = clock_.At(now_),
                              .wanted = decider_.has_value() ? decider_->wanted() : -1,
                              .excess_burst = decider_.has_value() ? decider_->excess_burst() : 0,
                              .ready_pods = ReadyPods()};
    const RevisionActions actions =
        model_.Step(settings_, input, [this] { return ActivatorAnswers(); });
    MakePods(model_.replicas());
    NotePath();
    for (const absl::Duration after : actions.look_again) {
      StepAt(now_ + absl::ToInt64Milliseconds(after));
    }
    if (actions.probe_on && next_probe_ == kNever) {
      next_probe_ = now_ + kSecond;
      probe_ends_ = now_ + kLongestProbe;
    }
    const Json state = model_.StateJson(now_);
    Json told = state;
    told.erase("t");
    if (told == last_state_) return;
    last_state_ = std::move(told);
    states_.push_back(state);
  }

  void PollProbe() {
    if (ActivatorAnswers() || now_ >= probe_ends_) {
      next_probe_ = kNever;
      StepAt(now_ + kSecond);
    } else {
      next_probe_ = now_ + kSecond;
    }
  }

  ScenarioClock clock_;
  const Json& load_;
  int64_t startup_;
  int64_t route_;
  int64_t until_;
  RequestSettings settings_;

  int64_t now_ = 0;
  int64_t next_end_ = kSecond;
  int64_t next_begin_ = 0;
  int64_t next_tick_;
  int64_t next_probe_ = kNever;
  int64_t probe_ends_ = 0;
  int64_t next_ready_ = kNever;
  std::set<int64_t> steps_at_;

  RevisionModel model_;
  std::vector<PodBatch> batches_;  // oldest first
  std::optional<int64_t> proxied_since_;
  std::optional<TrafficWindows> traffic_;
  std::optional<RequestDecider> decider_;
  bool activator_knows_ = false;
  bool first_report_ = false;

  Json states_ = Json::array();
  Json changes_ = Json::array();
  Json last_state_;
  Json last_change_;
};

}  // namespace

absl::StatusOr<Json> AnswerLoop(const Json& in) { return LoopRun(in).Run(in); }

}  // namespace flyball::scaler
