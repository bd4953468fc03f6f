#include "backtest/simulation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/decision.h"
#include "scaler/math/hpa/decider_of.h"
#include "scaler/math/input.h"
#include "scaler/math/reconcile.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/scheduled_targets.h"
#include "scaler/steps/guard.h"
#include "scaler/views/limiting_reason.h"

namespace flyball::backtest {
namespace {

using scaler::MetricType;
using scaler::PodTable;

// With more pods the table, which is made anew at each change, would take too long to make.
constexpr int32_t kMaxPods = 20'000;

// Old enough that no pod counts as new.
constexpr absl::Duration kAgeOfPods = absl::Hours(24 * 365);

class Simulation {
 public:
  Simulation(const SimulationInput& input, const History& history)
      : input_(input),
        history_(history),
        autoscaler_(input.autoscaler),
        current_(std::max(input.first, 1)) {
    result_.lowest = result_.highest = current_;
    status_.current_replicas = status_.desired_replicas = current_;
  }

  Simulated Run() {
    for (size_t i = 0; i < history_.moments; ++i) Step(i);
    return std::move(result_);
  }

 private:
  void Step(size_t moment) {
    const absl::Time now = history_.At(moment);
    FollowSchedules(now);
    scaler::ScaleAnswer scale;
    scale.spec_replicas = scale.status_replicas = current_;
    scale.selector = "flyball=backtest";
    MakePods();
    const scaler::PodsAnswer pods{
        .selector_error = "", .list_error = "", .table = &table_, .rivals = {}, .version = 0};
    Read(moment, now);
    const scaler::DecisionInput input{.autoscaler = &autoscaler_,
                                      .status = &status_,
                                      .scale = &scale,
                                      .pods = &pods,
                                      .readings = readings_,
                                      .config = &input_.config,
                                      .state = &decision_.state,
                                      .now = now};
    scaler::DeciderOf(autoscaler_).Decide(input, {}, workspace_, decision_);
    writes_ = decision_.rescale && !paused_;
    if (writes_) scaler::RecordScaleWrite(input, "", decision_);
    scaler::GuardStatus(status_, decision_);
    scaler::RecordStatusWrite(input, "", decision_);
    status_ = decision_.status;
    Note(now);
  }

  void FollowSchedules(absl::Time now) {
    const scaler::ScheduledSpec spec = scaler::SpecAt(input_.schedules, input_.autoscaler, now);
    if (spec.why == why_) return;
    why_ = spec.why;
    paused_ = spec.paused;
    autoscaler_ = input_.autoscaler;
    autoscaler_.min_replicas = spec.min_replicas;
    autoscaler_.max_replicas = spec.max_replicas;
    std::vector<scaler::TriggerSpec> no_triggers;
    scaler::SetTargets(spec.targets, autoscaler_.metrics, no_triggers);
  }

  void Note(absl::Time now) {
    if (decision_.outcome == scaler::Outcome::kMetricsFailed) result_.not_followed += history_.step;
    const int32_t next = writes_ ? decision_.desired : current_;
    if (next != current_) {
      const std::optional<size_t> winner = decision_.winner();
      result_.changes.push_back({now, current_, next,
                                 std::string(scaler::LimitingReason(decision_)),
                                 winner.has_value() ? decision_.proposals[*winner].name : ""});
    }
    current_ = next;
    result_.lowest = std::min(result_.lowest, current_);
    result_.highest = std::max(result_.highest, current_);
    result_.replica_hours += current_ * absl::ToDoubleHours(history_.step);
    if (current_ >= autoscaler_.max_replicas) result_.at_max += history_.step;
  }

  // Makes a table with the current number of pods, which are all equal.
  void MakePods() {
    const auto count = static_cast<size_t>(std::clamp(current_, 0, kMaxPods));
    if (table_.size() == count && made_) return;
    made_ = true;
    PodTable::Row row;
    row.start_time = row.ready_transition = history_.begin - kAgeOfPods;
    row.has_start_time = row.has_ready = true;
    row.phase = scaler::PodPhase::kRunning;
    row.ready = scaler::ConditionStatus::kTrue;
    while (names_.size() < count) names_.push_back(absl::StrCat("pod-", names_.size()));
    std::vector<PodTable::Source> sources;
    for (size_t i = 0; i < count; ++i) sources.push_back({names_[i], row, &input_.pod});
    table_ = PodTable(sources, autoscaler_.metrics, input_.config.requests);
  }

  void Read(size_t moment, absl::Time now) {
    const auto& metrics = autoscaler_.metrics;
    readings_.assign(metrics.size(), {});
    for (size_t i = 0; i < metrics.size(); ++i) {
      const std::optional<double> total = history_.totals[i][moment];
      scaler::Reading& reading = readings_[i];
      if (!total.has_value() || !std::isfinite(*total) ||
          std::abs(*total) * 1000 > static_cast<double>(scaler::kMaxMetricMilli)) {
        reading.error = "its value at that time is not known";
        continue;
      }
      reading.timestamp = now;
      const bool of_all =
          metrics[i].type == MetricType::kObject || metrics[i].type == MetricType::kExternal;
      if (of_all) {
        reading.amounts_milli = {std::llround(*total * 1000)};
      } else {
        ShareOut(*total, now, reading);
      }
    }
  }

  void ShareOut(double total, absl::Time now, scaler::Reading& reading) const {
    if (table_.empty()) {
      reading.error = "there is no pod";
      return;
    }
    const int64_t share = std::llround(total * 1000 / static_cast<double>(table_.size()));
    for (size_t row = 0; row < table_.size(); ++row) {
      reading.samples.push_back({.row = static_cast<int32_t>(row),
                                 .value_milli = share,
                                 .timestamp = now,
                                 .window = absl::Minutes(1)});
    }
  }

  const SimulationInput& input_;
  const History& history_;
  scaler::Autoscaler autoscaler_;  // as its schedules make it
  std::string why_;                // which of them are open
  bool paused_ = false;
  bool writes_ = false;  // the last decision is carried out
  int32_t current_;
  bool made_ = false;
  std::vector<std::string> names_;
  PodTable table_;
  std::vector<scaler::Reading> readings_;
  scaler::AutoscalerStatus status_;
  scaler::Workspace workspace_;
  scaler::Decision decision_;  // its state is the memory for the next decision
  Simulated result_;
};

}  // namespace

Simulated Simulate(const SimulationInput& input, const History& history) {
  return Simulation(input, history).Run();
}

}  // namespace flyball::backtest
