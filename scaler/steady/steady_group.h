// Steady autoscalers that are due together and read the same questions. A round finds out whether
// they would all be decided the same again: it asks these questions once, however many autoscalers
// there are, and compares two numbers of each.
//
// A group in which nothing changed is kept, and its autoscalers are due as one until something is
// told of one of them. `due` is used under the loop's lock. Everything else belongs to the thread
// that begins a round, then to the one that brings its last answer.
#pragma once

#include <tuple>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "scaler/steps/tracked_autoscaler.h"

namespace flyball::scaler {

// On what all of a group were decided, but for what each reads. The pointers are those of an
// autoscaler in it, which holds what they point to.
struct SteadyTerms {
  absl::Time until;  // from then on time alone may change a decision
  uint64_t ownership_epoch = 0;
  absl::Duration wall_offset;  // of the last round, or of the decision
  const kube::RestMapper* mapper = nullptr;
  const MathConfigs* configs = nullptr;
  const ScaleStore::Kind* kind = nullptr;  // of all targets
  const AutoscalerKey* key = nullptr;      // of one; kind and namespace are those of all
};

// What makes autoscalers that are due together one group: what they ask, how often, the kind of the
// target, their own kind, their namespace, and whether they have schedules.
using GroupKey = std::tuple<absl::InlinedVector<const QuestionBoard::Asked*, 2>, absl::Duration,
                            const ScaleStore::Kind*, AutoscalerKind, absl::string_view, bool>;

struct SteadyGroup : public CycleWaiter {
  SteadyGroup() : CycleWaiter(/*waits_for_many=*/true) {}

  std::vector<RoundMember> members;                         // not empty
  absl::InlinedVector<QuestionBoard::Handle, 2> questions;  // what all of them read
  GroupKey key;
  SteadyTerms terms;
  uint64_t newest_answers = 0;  // sum of QuestionBoard::NewestVersionOf of what was asked

  // ---- of the present round
  MonotonicTime began = absl::ZeroDuration();
  MonotonicTime not_before = absl::InfiniteDuration();  // answers asked for earlier do not count

  // ---- what observers are told of the members; no keys: it has to be made anew
  std::vector<const AutoscalerKey*> keys;
  absl::InlinedVector<RoundRecord::Count, 2> counts;

  struct Due {
    bool kept = false;    // it is due instead of its members, whose DueState::group it is
    bool busy = false;    // a round is under way
    bool broken = false;  // something was told of a member meanwhile
    absl::Duration slots = absl::ZeroDuration();
    MonotonicTime regular_slot = absl::ZeroDuration();  // when the next round is due
  } due;
};

}  // namespace flyball::scaler
