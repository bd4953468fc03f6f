// The first half of an autoscaler's cycle: it takes what a decision needs from the stores, and has
// the question board ask for what no store knows. Nothing here waits.
//
// Thread-safe, but no two threads may work on one entry.
#pragma once

#include <vector>

#include "kube/client/api_client.h"
#include "kube/objects/object_directory.h"
#include "scaler/questions/question_board.h"
#include "scaler/steps/entry.h"
#include "scaler/stores/pod_store.h"
#include "scaler/stores/scale_store.h"

namespace flyball::scaler {

class ReadStep {
 public:
  struct Parts {
    PodStore& pods;
    ScaleStore& scales;
    QuestionBoard& board;
    kube::ApiClient& client;
    kube::ObjectDirectory& directory;
    const QuestionBoard::Run& run_reads;
  };

  explicit ReadStep(const Parts& parts) : parts_(parts) {}

  enum class Found {
    kNotYet,     // the first list of the target's kind is missing: nothing is known
    kScale,      // entry.scale is filled
    kToBeAsked,  // AskScale has to ask for it
  };
  // Finds the target's scale.
  Found FindScale(Entry& entry) const;
  // Asks for the scale. True: the answer is there; false: the board tells when it is. With the
  // answer there TakeAskedScale fills entry.scale.
  bool AskScale(Entry& entry) const;
  void TakeAskedScale(Entry& entry) const;

  // To be called when the scale is known. Selects the pods, tells the questions their selector, and
  // finds out whether metrics are read. Of entries that are due together it is called for all
  // before AskMetrics is for the first, so that questions are asked for all selectors at once.
  void SelectPods(Entry& entry) const;
  // Joins all questions of the plan. True: all answers are there; false: the board tells when they
  // are, after the caller has had it ask `to_ask`.
  bool AskMetrics(Entry& entry, std::vector<QuestionBoard::Handle>& to_ask) const;

 private:
  void FindTarget(Entry& entry) const;
  static void TakeScale(Entry& entry, std::shared_ptr<const kube::Scale> scale);
  void Join(const QuestionBoard::Handle& question, Entry& entry,
            std::vector<QuestionBoard::Handle>& to_ask) const;

  const Parts parts_;
};

}  // namespace flyball::scaler
