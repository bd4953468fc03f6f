// The first half of a cycle: what a decision needs is looked up where it is known and asked for
// where it is not. Nothing here waits.
//
// Thread-safe; of one entry at a time.
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
    kNotYet,     // a first list is missing: nothing can be said
    kScale,      // entry.scale is filled
    kToBeAsked,  // AskScale has to ask for it
  };
  // Finds the target's scale.
  Found FindScale(Entry& entry) const;
  // Asks for it. True: the answer is there; false: the board tells when it is. Then
  // TakeAskedScale.
  bool AskScale(Entry& entry) const;
  void TakeAskedScale(Entry& entry) const;

  // With the scale known: which pods there are, and whether metrics are read. Before the first
  // AskMetrics of entries that are due together, so that they learn of each other.
  void SelectPods(Entry& entry) const;
  // Looks up all answers of the plan. True: they are there; false: the board tells when they are,
  // once `to_ask` is asked.
  bool AskMetrics(Entry& entry, std::vector<QuestionBoard::Handle>& to_ask) const;

 private:
  void FindTarget(Entry& entry) const;
  static void TakeScale(Entry& entry, std::shared_ptr<const kube::Scale> scale);
  void Join(const QuestionBoard::Handle& question, Entry& entry,
            std::vector<QuestionBoard::Handle>& to_ask) const;

  const Parts parts_;
};

}  // namespace flyball::scaler
