// Finds out which autoscalers are steady: their decision stays the same until one of their inputs
// changes. A steady autoscaler has no cycle when it is due. Instead its inputs are compared with
// those of its last decision, and it is decided only if one of them differs.
//
// An autoscaler may be steady when it is in mode act, has neither triggers nor the cadence
// onSample, and time alone cannot change its last decision before a known moment. Its inputs are
// the object itself, its scale, its pods and the answers that it reads (all compared by version; an
// answer "unchanged" of a standing query keeps its version), whether this replica owns it, and
// whether the watches work.
//
// Why it exists: without it, 10,000 autoscalers for which nothing changes cost 10 % of a core when
// they are decided each second (test/bench/scaler_loop.py, crowd).
//
// Thread-safe, but no two threads may work on one autoscaler or one group. Nothing here waits.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kube/objects/object_directory.h"
#include "scaler/questions/question_board.h"
#include "scaler/steady/steady_group.h"
#include "scaler/steps/decide_step.h"
#include "scaler/steps/live_config.h"
#include "scaler/stores/autoscaler_store.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/pod_store.h"
#include "scaler/views/decision_record.h"
#include "scaler/views/status_writer.h"

namespace flyball::scaler {

class SteadyStep {
 public:
  using Times = DecideStep::Times;
  struct Deps {
    const PodStore& pods;
    const AutoscalerStore& autoscalers;
    kube::ObjectDirectory& directory;
    const Ownership& ownership;
    QuestionBoard& board;
    const StatusWriter& statuses;
    const LiveConfig& configs;
    std::vector<DecisionObserver*> observers;
  };

  explicit SteadyStep(Deps deps) : deps_(std::move(deps)) {}

  // To be called after a decision was reported. Marks the autoscaler as steady if it may be.
  void Note(TrackedAutoscaler& tracked, const Times& now) const;

  // The present state of what SteadyTerms holds; all autoscalers that are due are compared with it.
  struct Present {
    Times now;
    uint64_t ownership_epoch = 0;
    std::shared_ptr<const kube::RestMapper> mapper;
    MathConfigsPtr configs;
    const ScaleStore::Kind* usable_kind = nullptr;  // the kind that was last found to be usable
    // The namespace whose pods were last found to be known.
    std::optional<absl::string_view> usable_pods = std::nullopt;
  };
  // `ownership_epoch` is the loop's.
  Present Look(uint64_t ownership_epoch, const Times& now) const;

  // The key of a steady autoscaler. Valid as long as its object and its questions are.
  static GroupKey KeyOf(const TrackedAutoscaler& tracked);

  // Removes those autoscalers from `due` whose inputs, as far as is known without asking, are
  // unchanged, and returns them in groups, each of which is to have a round. Those that stay in
  // `due` are no longer steady.
  std::vector<std::unique_ptr<SteadyGroup>> TakeGroups(std::vector<TrackedAutoscaler*>& due,
                                                       Present& present) const;
  // Whether the inputs of all members of the group, as far as known without asking, are unchanged.
  bool Hold(const SteadyGroup& group, Present& present) const;

  // Joins the questions of a group. True: all answers have arrived; false: the board calls OnReady
  // once they have, provided that the caller asks `to_ask` through the board.
  bool Ask(SteadyGroup& group, QuestionBoard::ToAsk& to_ask) const;

  // Ends a round whose answers have all arrived. It counts as one more decision of each member
  // whose answers are unchanged. The other members leave the group and are returned, to be decided.
  // If the wall clock was set meanwhile, all members are returned.
  std::vector<TrackedAutoscaler*> End(SteadyGroup& group, const Times& now) const;

 private:
  bool Hold(const SteadyTerms& terms, Present& present) const;
  static SteadyTerms TermsOf(const TrackedAutoscaler& tracked);
  static void Count(SteadyGroup& group);
  bool MayBeSteady(const TrackedAutoscaler& tracked, const Times& now) const;
  static void Leave(TrackedAutoscaler& tracked);
  void Tell(SteadyGroup& group, std::optional<absl::Time> newest_sample, const Times& now) const;

  const Deps deps_;
};

}  // namespace flyball::scaler
