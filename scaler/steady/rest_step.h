// Finds out which autoscalers may rest (views/rest.h), and does the rounds of a group of them. A
// round compares the inputs of the members with those that they were decided on; what they read is
// asked for once, for all of them. A member whose inputs changed leaves the group and is decided by
// itself.
//
// An autoscaler may rest when it is in mode act, has neither triggers nor the cadence onSample, its
// last decision cannot change by time alone before a known moment, and its answers came soon enough
// for others to wait with it.
// Its inputs are then: the object itself (the loop tells of changes), its scale and pods (compared
// by version), what it reads (compared by question, or by the origin of the answers), whether this
// replica owns it, and whether the watches may be relied on.
//
// Thread-safe, but no two threads may work on one group. Only Ask with `here` waits.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kube/objects/object_directory.h"
#include "scaler/questions/question_board.h"
#include "scaler/steady/rest_group.h"
#include "scaler/steps/decide_step.h"
#include "scaler/stores/autoscaler_store.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/pod_store.h"
#include "scaler/views/decision_record.h"
#include "scaler/views/status_writer.h"

namespace flyball::scaler {

class RestStep {
 public:
  using Times = DecideStep::Times;
  struct Deps {
    const PodStore& pods;
    const AutoscalerStore& autoscalers;
    kube::ObjectDirectory& directory;
    const Ownership& ownership;
    QuestionBoard& board;
    const StatusWriter& statuses;
    const MathConfig& config;
    const QuestionBoard::Run& run_reads;
    std::vector<DecisionObserver*> observers;
  };
  // What the loop noted for a group since its last round.
  struct Change {
    std::vector<RestMember> joining;
    std::vector<TrackedAutoscaler*> leaving;
    uint64_t ownership_epoch = 0;
  };

  explicit RestStep(Deps deps) : deps_(std::move(deps)) {}

  // To be called after the autoscaler's decision was reported. nullopt: it may not rest.
  std::optional<RestMember> MayRest(TrackedAutoscaler& tracked, const Times& now) const;

  // Begins a round: takes `change` over and looks at all that is known without asking. Returns the
  // members that have left the group and have to be decided by themselves, as the next functions
  // do.
  std::vector<TrackedAutoscaler*> Begin(RestGroup& group, Change change, const Times& now) const;

  // Asks for what the members read: with `here` on the calling thread, one after the other, else in
  // the background and all at once. True: the answers are there; false: `on_answered` or the board
  // tells when they are.
  bool Ask(RestGroup& group, bool here, const std::function<void()>& on_answered) const;

  // Ends a round whose answers are there: members that read something else leave, and the round
  // counts as one decision of each of the others.
  std::vector<TrackedAutoscaler*> End(RestGroup& group, const Times& now) const;

  // Gives up a round whose answers do not come in time: all members leave.
  std::vector<TrackedAutoscaler*> Abandon(RestGroup& group) const;

 private:
  bool AllHolds(const RestGroup& group, uint64_t ownership_epoch, const Times& now) const;
  template <typename Leaves>
  void TakeOut(RestGroup& group, Leaves leaves, std::vector<TrackedAutoscaler*>& out) const;
  void Index(RestGroup& group, std::vector<TrackedAutoscaler*>& out) const;
  uint64_t ChangesOf(const RestGroup& group) const;
  // Joins a question that group.pending already counts.
  void Join(RestGroup& group, const RestInput& input,
            std::vector<QuestionBoard::Handle>& to_ask) const;
  void AskHere(RestGroup& group) const;
  void AskTogether(RestGroup& group, const std::vector<RestInput*>& inputs) const;
  bool AskByOrigin(RestGroup& group, RestInput& input) const;
  void CatchUp(const RestGroup& group, TrackedAutoscaler& tracked, uint64_t from) const;

  const Deps deps_;
};

}  // namespace flyball::scaler
