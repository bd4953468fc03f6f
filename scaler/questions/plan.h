// What is asked for one autoscaler, made once for each version of its spec: a question for each
// metric, its triggers, and the autoscaler as the math decides on it.
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
  // For triggers; see TriggerContext.
  decltype(TriggerContext::count_pods) count_pods;
  decltype(TriggerContext::read_secret) read_secret;
  std::shared_ptr<TriggerClients> clients;
};

class Plan {
 public:
  struct PlannedTrigger {
    std::shared_ptr<Trigger> trigger;  // nullptr: `error` says why
    std::string error;
    QuestionBoard::Handle question;
    std::vector<TriggerMetric> metrics;  // never empty: while unknown one that stands for them
    bool metrics_known = false;
    size_t first = 0;               // index of its first metric in the autoscaler's
    std::vector<int32_t> failures;  // for each metric: decisions in a row it was unknown in
  };

  // Makes the questions when the spec is another one than before. `on_active` is what a trigger
  // that is told of activity calls.
  void Follow(const ManagedPtr& managed, const PlanContext& context,
              const std::function<void()>& on_active);
  // Ends the triggers and forgets what is followed: Follow begins anew.
  void Drop();
  // Takes over what a trigger says its metrics are. True: they are others than before.
  bool LearnTriggerMetrics(size_t trigger, const Answer& answer);

  // What the math decides on: the metrics of all triggers behind its own, and with triggers at
  // least one replica, as zero is not for the math to enter or leave.
  const Autoscaler& autoscaler() const {
    return extended_ != nullptr ? *extended_ : managed_->autoscaler;
  }
  // Changes with all that autoscaler() says but its status; never 0 once followed.
  uint64_t version() const { return version_; }

  // By metric; nullptr: nothing to ask.
  absl::Span<const QuestionBoard::Handle> metric_questions() const { return questions_; }
  std::vector<PlannedTrigger>& triggers() { return triggers_; }
  const std::vector<PlannedTrigger>& triggers() const { return triggers_; }

 private:
  void MakeTriggers(const PlanContext& context, const std::function<void()>& on_active);
  void Extend();

  ManagedPtr managed_;
  uint64_t version_ = 0;
  std::unique_ptr<const Autoscaler> extended_;
  std::vector<QuestionBoard::Handle> questions_;
  std::vector<PlannedTrigger> triggers_;
};

}  // namespace flyball::scaler
