// A group of steady autoscalers that are due together and ask the same questions. A round finds out
// whether all of them would be decided as before: it asks these questions once, however many
// autoscalers there are, and compares two versions for each autoscaler.
//
// A group in which nothing changed is kept, and its autoscalers are due as one until a watch or a
// wake-up concerns one of them. `due` is used under the loop's lock. Everything else belongs to the
// thread that begins a round, then to the thread that gets its last answer.
#pragma once

#include <tuple>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "scaler/steps/tracked_autoscaler.h"

namespace flyball::scaler {

// What all members of a group have in common, apart from what each of them reads. The pointers
// point into one member, which keeps their targets alive.
struct SteadyTerms {
  absl::Time until;  // from then on a decision may change by time alone
  uint64_t ownership_epoch = 0;
  absl::Duration wall_offset;  // wall - monotonic at the last round, or at the decision
  const kube::RestMapper* mapper = nullptr;
  const MathConfigs* configs = nullptr;
  const ScaleStore::Kind* kind = nullptr;  // of all targets
  const AutoscalerKey* key = nullptr;      // of one member; all have its kind and namespace
};

// Autoscalers that are due together are one group if they have the same key: what they ask, how
// often, the kind of the target, their own kind, their namespace, and whether they have schedules.
using GroupKey = std::tuple<absl::InlinedVector<const QuestionBoard::Asked*, 2>, absl::Duration,
                            const ScaleStore::Kind*, AutoscalerKind, absl::string_view, bool>;

struct SteadyGroup : public CycleWaiter {
  SteadyGroup() : CycleWaiter(/*waits_for_many=*/true) {}

  std::vector<RoundMember> members;                         // not empty
  absl::InlinedVector<QuestionBoard::Handle, 2> questions;  // those that all of them ask
  GroupKey key;
  SteadyTerms terms;
  uint64_t newest_answers = 0;  // sum of QuestionBoard::NewestVersionOf over the questions

  // ---- members for the present round
  MonotonicTime began = absl::ZeroDuration();
  MonotonicTime not_before = absl::InfiniteDuration();  // answers asked for earlier do not count

  // ---- what observers are told; empty `keys`: it has to be made anew
  std::vector<const AutoscalerKey*> keys;
  std::vector<SteadyKind> kinds;  // not shared, since edits bring ever new kinds
  absl::InlinedVector<RoundRecord::Count, 2> counts;

  struct Due {
    bool kept = false;    // the group is due instead of its members; DueState::group points to it
    bool busy = false;    // a round is under way
    bool broken = false;  // BreakGroup was called for a member during the round
    absl::Duration slots = absl::ZeroDuration();
    MonotonicTime regular_slot = absl::ZeroDuration();  // when the next round is due
  } due;
};

}  // namespace flyball::scaler
