#include "scaler/questions/plan.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

// A placeholder for the metrics of a trigger that has not named them yet.
std::vector<TriggerMetric> UnknownMetrics(const TriggerSpec& spec, size_t index) {
  return {{.name = absl::StrCat("s", index, "-", spec.name.empty() ? spec.type : spec.name),
           .target_milli = 1000}};
}

// The one whose requests the Envoys carry; nullptr: there is none.
std::shared_ptr<Trigger> CarryingOf(const ManagedPtr& managed,
                                    const std::vector<Plan::PlannedTrigger>& triggers) {
  for (size_t i = 0; i < triggers.size(); ++i) {
    if (managed->own.triggers[i].type == kHttpTrigger) return triggers[i].trigger;
  }
  return nullptr;
}

}  // namespace

QuestionBoard::Handle Plan::MakeQuestion(const MetricSpec& metric, const PlanContext& context,
                                         const std::function<void()>& wake) const {
  const AutoscalerKey& owner = managed_->key;
  std::string key = QuestionKey(owner.ns, metric);
  if (key.empty()) return nullptr;
  const bool on_sample = managed_->own.cadence.on_sample;
  if (on_sample && context.tells_of_samples()) {
    absl::StrAppend(&key, "\n", metric.metric.selector_text, "\n", owner.name);
  }
  // In a lane, since an HPA may ask for hundreds of metrics.
  return context.board.Get(
      key, metric, context.read_lanes.For(owner.ns, "metrics"),
      [&] { return MakeMetricQuestion(owner.ns, metric); }, on_sample ? wake : nullptr);
}

bool Plan::Follow(const ManagedPtr& managed, const PlanContext& context,
                  const std::function<void()>& wake) {
  if (managed == managed_) return false;
  const bool same_spec = managed_ != nullptr && managed_->spec_hash == managed->spec_hash;
  const bool same_written = managed_ != nullptr && managed_->written_hash == managed->written_hash;
  const ManagedPtr last = std::exchange(managed_, managed);
  if (same_spec) {
    // Only labels, annotations or status have changed: the questions stay.
    if (extended_ != nullptr) Extend();
    IdentifyMetrics();
    return false;
  }
  ++version_;
  questions_.clear();
  for (const MetricSpec& metric : managed->autoscaler.metrics) {
    questions_.push_back(MakeQuestion(metric, context, wake));
  }
  extended_ = nullptr;
  std::vector<PlannedTrigger> before = std::exchange(triggers_, {});
  const std::shared_ptr<Trigger> carrying = CarryingOf(last, before);
  // The old ones end before new ones are made, so that a trigger with a stream never exists twice.
  for (PlannedTrigger& trigger : before) trigger.trigger = nullptr, trigger.question = nullptr;
  if (!managed->own.triggers.empty()) {
    MakeTriggers(carrying, context, wake);
    if (same_written) TakeOver(std::move(before));
    Extend();
  }
  IdentifyMetrics();
  return true;
}

void Plan::Drop() {
  managed_ = nullptr;
  extended_ = nullptr;
  questions_.clear();
  triggers_.clear();
}

bool Plan::IsToldOfNews() const {
  return triggers_.empty() && !questions_.empty() &&
         std::all_of(questions_.begin(), questions_.end(), [](const auto& question) {
           return question != nullptr && QuestionBoard::TellsOfNews(*question);
         });
}

void Plan::MakeTriggers(const std::shared_ptr<Trigger>& carrying, const PlanContext& context,
                        const std::function<void()>& wake) {
  const std::vector<TriggerSpec>& specs = managed_->own.triggers;
  TriggerContext made_with = context.triggers;
  made_with.ns = managed_->key.ns;
  made_with.autoscaler = managed_->key.name;
  made_with.target = managed_->autoscaler.scale_target;
  made_with.min_replicas = managed_->autoscaler.min_or_default();
  made_with.max_replicas = managed_->autoscaler.max_replicas;
  for (size_t i = 0; i < specs.size(); ++i) {
    PlannedTrigger& planned = triggers_.emplace_back();
    planned.metrics = UnknownMetrics(specs[i], i);
    made_with.index = i;
    absl::StatusOr<std::unique_ptr<Trigger>> trigger = MakeTrigger(specs[i], made_with);
    planned.error = std::string(trigger.status().message());
    if (trigger.ok()) planned.trigger = *std::move(trigger);
    const bool anew = planned.trigger != nullptr;
    if (!anew && specs[i].type == kHttpTrigger) planned.trigger = carrying;
    if (planned.trigger == nullptr) continue;
    const Lanes::Run run = context.trigger_lanes.For(managed_->key.ns, planned.trigger->Server());
    // In the pool, since the trigger may have to read Secrets for its connection.
    if (anew) run([trigger = planned.trigger, wake] { trigger->Subscribe(wake); });
    planned.question = context.board.Own(MakeTriggerQuestion(planned.trigger, context.clock), run);
  }
}

// For a schedule that has opened or closed: it changes the triggers, but not their metrics.
void Plan::TakeOver(std::vector<PlannedTrigger> before) {
  for (size_t i = 0; i < std::min(before.size(), triggers_.size()); ++i) {
    triggers_[i].metrics = std::move(before[i].metrics);
    triggers_[i].failures = std::move(before[i].failures);
  }
}

void Plan::LearnTriggerMetrics(size_t trigger, const Answer& answer) {
  PlannedTrigger& planned = triggers_[trigger];
  if (answer.trigger_metrics.empty() || planned.metrics == answer.trigger_metrics) return;
  const bool same_names =
      std::equal(planned.metrics.begin(), planned.metrics.end(), answer.trigger_metrics.begin(),
                 answer.trigger_metrics.end(),
                 [](const TriggerMetric& a, const TriggerMetric& b) { return a.name == b.name; });
  planned.metrics = answer.trigger_metrics;
  if (!same_names) planned.failures.clear();
  ++version_;
  Extend();
  IdentifyMetrics();
}

void Plan::Extend() {
  auto extended = std::make_unique<Autoscaler>(managed_->autoscaler);
  extended->min_replicas = std::max(1, extended->min_or_default());
  for (PlannedTrigger& trigger : triggers_) {
    trigger.first = extended->metrics.size();
    trigger.failures.resize(trigger.metrics.size());
    for (const TriggerMetric& metric : trigger.metrics) {
      extended->metrics.push_back(ToMetricSpec(metric));
    }
  }
  extended_ = std::move(extended);
}

void Plan::IdentifyMetrics() {
  metrics_id_ = managed_->written_hash;
  for (const MetricSpec& metric : autoscaler().metrics) {
    metrics_id_ = absl::HashOf(metrics_id_, metric.metric.name);
  }
}

}  // namespace flyball::scaler
