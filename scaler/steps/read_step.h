// The first half of an autoscaler's cycle: takes a decision's inputs from the stores, and has the
// question board ask for what no store has. Nothing here waits.
//
// Thread-safe, but no two threads may work on one autoscaler.
#pragma once

#include "base/lanes.h"
#include "kube/client/api_client.h"
#include "kube/objects/object_directory.h"
#include "scaler/questions/question_board.h"
#include "scaler/steps/tracked_autoscaler.h"
#include "scaler/stores/pod_store.h"
#include "scaler/stores/scale_store.h"

namespace flyball::scaler {

class ReadStep {
 public:
  struct Deps {
    PodStore& pods;
    ScaleStore& scales;
    QuestionBoard& board;
    kube::ApiClient& client;
    kube::ObjectDirectory& directory;
    Lanes& read_lanes;
  };

  explicit ReadStep(const Deps& deps) : deps_(deps) {}

  enum class Found {
    kNotYet,     // the first list of the target's kind is missing: nothing is known
    kScale,      // inputs.scale is filled
    kToBeAsked,  // AskScale has to ask for the scale
  };
  // Finds the target's scale.
  Found FindScale(CycleInputs& inputs) const;
  // Asks for the scale. True: the answer has arrived; false: the board calls OnReady once it has.
  // Then TakeAskedScale fills inputs.scale.
  bool AskScale(TrackedAutoscaler& tracked) const;
  void TakeAskedScale(CycleInputs& inputs) const;
  // Whether the target may have another count by now than the one that was read: its watch failed,
  // or has told of another since.
  static bool MayBeOld(const CycleInputs& inputs);

  // To be called when the scale is known. Selects the pods, tells the questions their selector, and
  // finds out whether metrics are read. For autoscalers that are due together it is called for all
  // of them before AskMetrics is called for the first, so that questions cover all selectors.
  void SelectPods(TrackedAutoscaler& tracked) const;
  // Joins all questions of the plan. True: all answers have arrived; false: the board calls OnReady
  // once they have, provided that the caller asks `to_ask` through the board.
  bool AskMetrics(TrackedAutoscaler& tracked, QuestionBoard::ToAsk& to_ask) const;

 private:
  void FindTarget(CycleInputs& inputs) const;
  static void TakeScale(CycleInputs& inputs, std::shared_ptr<const kube::Scale> scale);
  void Join(const QuestionBoard::Handle& question, TrackedAutoscaler& tracked,
            QuestionBoard::ToAsk& to_ask) const;

  const Deps deps_;
};

}  // namespace flyball::scaler
