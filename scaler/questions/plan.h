// The plan of one autoscaler: a question for each metric, its triggers with their questions, and
// the autoscaler in the form that the math decides on. It is made once for each version of the
// spec.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/lanes.h"
#include "scaler/questions/question_board.h"
#include "scaler/stores/managed.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct PlanContext {
  QuestionBoard& board;
  Lanes& read_lanes;  // for the metrics
  Lanes& trigger_lanes;
  Clock& clock;  // measures how long triggers take; outlives the questions
  // Whether the metric source reports when a sample arrives. If so, an autoscaler that is decided
  // on each sample has questions of its own: a shared one would be asked at every autoscaler's
  // samples.
  std::function<bool()> tells_of_samples = [] { return false; };
  TriggerContext triggers;  // what triggers are made with; the plan adds the autoscaler
};

class Plan {
 public:
  struct PlannedTrigger {
    std::shared_ptr<Trigger> trigger;  // nullptr: `error` says why
    std::string error;                 // with a trigger: why its new spec was not used
    QuestionBoard::Handle question;
    std::vector<TriggerMetric> metrics;  // never empty: a placeholder while they are not known
    size_t first = 0;                    // index of its first metric among the autoscaler's
    std::vector<int32_t> failures;       // by metric: number of decisions in a row without a value
  };

  // Makes questions and triggers anew if the spec of `managed` differs from the one before, and
  // then returns true. Known metrics of the triggers are kept if only a schedule has opened or
  // closed. An http trigger whose new spec is wrong keeps the old spec, since the Envoys would
  // otherwise drop its service. `wake` is called by triggers that are pushed activity and, with the
  // cadence onSample, when a sample arrives for a metric of the autoscaler.
  bool Follow(const ManagedPtr& managed, const PlanContext& context,
              const std::function<void()>& wake);
  // Gives the plan a new version, so that everything derived from it is made anew.
  void Renew() { ++version_; }
  // Ends the triggers and forgets the autoscaler; the next Follow makes everything anew.
  void Drop();
  // Stores the metrics that are named in a trigger's answer.
  void LearnTriggerMetrics(size_t trigger, const Answer& answer);

  // What the math decides on: the autoscaler with the metrics of its triggers after its own. With
  // triggers its minimum is at least one replica, since the math neither enters nor leaves zero
  // (triggers/activation.h).
  const Autoscaler& autoscaler() const {
    return extended_ != nullptr ? *extended_ : managed_->autoscaler;
  }
  // Changes whenever autoscaler() does, status excepted; never 0 after Follow.
  uint64_t version() const { return version_; }

  // Identifies the metrics of autoscaler() by name, and the spec as written. It stays the same when
  // a schedule opens or closes, since that changes only bounds and targets.
  uint64_t metrics_id() const { return metrics_id_; }

  // Whether `wake` is called for each change of an answer that is not caused by time alone.
  bool IsToldOfNews() const;

  // The questions by metric; nullptr: the metric has none.
  absl::Span<const QuestionBoard::Handle> metric_questions() const { return questions_; }
  std::vector<PlannedTrigger>& triggers() { return triggers_; }
  const std::vector<PlannedTrigger>& triggers() const { return triggers_; }

 private:
  QuestionBoard::Handle MakeQuestion(const MetricSpec& metric, const PlanContext& context,
                                     const std::function<void()>& wake) const;
  void MakeTriggers(const std::shared_ptr<Trigger>& carrying, const PlanContext& context,
                    const std::function<void()>& wake);
  void TakeOver(std::vector<PlannedTrigger> before);
  void Extend();
  void IdentifyMetrics();

  ManagedPtr managed_;
  uint64_t version_ = 0;
  uint64_t metrics_id_ = 0;
  std::unique_ptr<const Autoscaler> extended_;
  std::vector<QuestionBoard::Handle> questions_;
  std::vector<PlannedTrigger> triggers_;
};

}  // namespace flyball::scaler
