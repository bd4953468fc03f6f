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
  // Whether the metrics' source tells when a sample arrives. Then an autoscaler that is decided on
  // each sample has questions of its own: a shared one would be asked at the samples of all.
  std::function<bool()> tells_of_samples = [] { return false; };
  TriggerContext triggers;  // what triggers are made with; the plan adds whose they are
};

class Plan {
 public:
  struct PlannedTrigger {
    std::shared_ptr<Trigger> trigger;  // nullptr: `error` says why
    std::string error;                 // with a trigger: why that goes on as it was before
    QuestionBoard::Handle question;
    std::vector<TriggerMetric> metrics;  // never empty: a placeholder while they are not known
    size_t first = 0;                    // index of its first metric in the autoscaler's
    std::vector<int32_t> failures;       // by metric: in how many decisions in a row it was unknown
  };

  // Follows `managed`: if its spec differs from the one before, makes questions and triggers anew
  // and returns true. What is known of the triggers' metrics stays if only a schedule has opened or
  // closed. An http trigger whose new spec is wrong goes on as it was, since the Envoys would drop
  // its service with it. `wake` is called by a trigger to which activity is pushed, and, where the
  // autoscaler is to be decided on each sample, when a sample arrives for what it reads.
  bool Follow(const ManagedPtr& managed, const PlanContext& context,
              const std::function<void()>& wake);
  // Keeps the plan but gives it a new version, so that what depends on it is made anew.
  void Renew() { ++version_; }
  // Ends the triggers and forgets the autoscaler, so that the next Follow makes everything anew.
  void Drop();
  // Takes over the metrics that a trigger's answer names.
  void LearnTriggerMetrics(size_t trigger, const Answer& answer);

  // What the math decides on: the autoscaler with the metrics of its triggers after its own. With
  // triggers its minimum is at least one replica, since the math neither enters nor leaves zero
  // (triggers/activation.h).
  const Autoscaler& autoscaler() const {
    return extended_ != nullptr ? *extended_ : managed_->autoscaler;
  }
  // Changes whenever autoscaler() does, its status aside; never 0 after Follow.
  uint64_t version() const { return version_; }

  // Identifies the metrics of autoscaler() by name, and the spec that was written. That a schedule
  // opens or closes leaves it as it is: other bounds and targets leave a metric what it is.
  uint64_t metrics_id() const { return metrics_id_; }

  // Whether `wake` is called whenever an answer may have changed for another reason than time.
  bool IsToldOfNews() const;

  // The questions by metric; nullptr: there is nothing to ask for it.
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
