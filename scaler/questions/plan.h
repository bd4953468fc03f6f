// The plan of one autoscaler: a question for each metric, its triggers with theirs, and the
// autoscaler in the form that the math decides on. It is made once for each version of the spec.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "scaler/questions/lanes.h"
#include "scaler/questions/question_board.h"
#include "scaler/stores/managed.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct PlanContext {
  QuestionBoard& board;
  const QuestionBoard::Run& run_reads;
  Lanes& trigger_lanes;
  Clock& clock;  // for how long triggers may take; outlives the questions
  // Whether the metrics' source tells when a sample comes. Then an autoscaler that is decided on
  // each sample has questions of its own: one that is shared would be asked for all at each.
  std::function<bool()> tells_of_samples = [] { return false; };
  TriggerContext triggers;  // what they are made with; whose they are, the plan says
};

class Plan {
 public:
  struct PlannedTrigger {
    std::shared_ptr<Trigger> trigger;  // nullptr: `error` says why
    std::string error;
    QuestionBoard::Handle question;
    std::vector<TriggerMetric> metrics;  // never empty: while unknown it holds one in their place
    size_t first = 0;                    // index of its first metric in the autoscaler's
    std::vector<int32_t> failures;       // by metric: in how many decisions in a row it was unknown
  };

  // Follows `managed`: makes questions and triggers when its spec differs from the one before, and
  // returns whether it did. `wake` is called by a trigger that is told of activity, and, where the
  // autoscaler is to be decided on each sample, when one came for what it reads.
  bool Follow(const ManagedPtr& managed, const PlanContext& context,
              const std::function<void()>& wake);
  // The same plan under another version: what was made by it is to be made anew.
  void Renew() { ++version_; }
  // Ends the triggers and forgets what is followed: Follow begins anew.
  void Drop();
  // Takes over the metrics that a trigger's answer names.
  void LearnTriggerMetrics(size_t trigger, const Answer& answer);

  // What the math decides on: the autoscaler with the metrics of its triggers after its own. With
  // triggers its minimum is at least one replica, since the math neither enters nor leaves zero
  // (triggers/activation.h).
  const Autoscaler& autoscaler() const {
    return extended_ != nullptr ? *extended_ : managed_->autoscaler;
  }
  // Changes with all that autoscaler() says but its status; never 0 once followed.
  uint64_t version() const { return version_; }

  // Whether `wake` is called whenever an answer may be another one, but for the time that passes.
  bool IsToldOfNews() const;

  // The questions by metric; nullptr: there is nothing to ask for it.
  absl::Span<const QuestionBoard::Handle> metric_questions() const { return questions_; }
  std::vector<PlannedTrigger>& triggers() { return triggers_; }
  const std::vector<PlannedTrigger>& triggers() const { return triggers_; }

 private:
  QuestionBoard::Handle MakeQuestion(const MetricSpec& metric, const PlanContext& context,
                                     const std::function<void()>& wake) const;
  void MakeTriggers(const PlanContext& context, const std::function<void()>& wake);
  void Extend();

  ManagedPtr managed_;
  uint64_t version_ = 0;
  std::unique_ptr<const Autoscaler> extended_;
  std::vector<QuestionBoard::Handle> questions_;
  std::vector<PlannedTrigger> triggers_;
};

}  // namespace flyball::scaler
