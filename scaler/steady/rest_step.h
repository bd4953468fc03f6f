// Who comes to rest, and one round of those that rest together: what they depend on is compared
// with what they decided on, what they read is asked for once for all of them, and who finds
// something else is decided by itself again.
//
// At rest is only who acts, has no triggers, and came to a decision that time alone does not change
// before a known moment, soon enough that others can wait for its answers. Its inputs are then: the
// object itself (the loop tells of it), its scale and pods (by version), what it reads (by
// question, or by the origin of the answers), whether it is ours and the watches may be relied on.
//
// Thread-safe; of one group at a time. Only asking `here` waits.
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
  struct Parts {
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
  // Who comes and who goes.
  struct Change {
    std::vector<RestMember> joining;
    std::vector<Entry*> leaving;
    uint64_t ownership_epoch = 0;
  };

  explicit RestStep(Parts parts) : parts_(std::move(parts)) {}

  // After its decision was reported. nullopt: it has to be decided again.
  std::optional<RestMember> MayRest(Entry& entry, const Times& now) const;

  // Whoever has to be decided by itself leaves the group: the result.
  std::vector<Entry*> Begin(RestGroup& group, Change change, const Times& now) const;

  // Asks what members read: `here`, one after the other, or in the background and all at once.
  // True: the answers are there; false: `on_answered` or the board tells when they are.
  bool Ask(RestGroup& group, bool here, const std::function<void()>& on_answered) const;

  // With the answers there: who reads something else leaves, the others were decided once more.
  std::vector<Entry*> End(RestGroup& group, const Times& now) const;

  // Of a round whose answers do not come: all leave.
  std::vector<Entry*> Abandon(RestGroup& group) const;

 private:
  bool AllHolds(const RestGroup& group, uint64_t ownership_epoch, const Times& now) const;
  template <typename Leaves>
  void TakeOut(RestGroup& group, Leaves leaves, std::vector<Entry*>& out) const;
  void Index(RestGroup& group, std::vector<Entry*>& out) const;
  uint64_t ChangesOf(const RestGroup& group) const;
  // `group.pending` counts it already.
  void Join(RestGroup& group, const RestInput& input,
            std::vector<QuestionBoard::Handle>& to_ask) const;
  void AskHere(RestGroup& group) const;
  void AskTogether(RestGroup& group, const std::vector<RestInput*>& inputs) const;
  bool AskByOrigin(RestGroup& group, RestInput& input) const;
  void CatchUp(const RestGroup& group, Entry& entry, uint64_t from) const;

  const Parts parts_;
};

}  // namespace flyball::scaler
