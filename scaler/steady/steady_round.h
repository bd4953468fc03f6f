// Steady autoscalers that are due together and read the same questions. To find out whether the
// answers are still those that each was decided on costs one asking of these questions, however
// many autoscalers there are.
//
// Belongs to the thread that begins the round, then to the one that brings its last answer.
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/clock.h"
#include "scaler/steps/tracked_autoscaler.h"

namespace flyball::scaler {

struct SteadyRound : public CycleWaiter {
  SteadyRound() : CycleWaiter(/*waits_for_many=*/true) {}

  std::vector<TrackedAutoscaler*> members;                  // not empty
  absl::InlinedVector<QuestionBoard::Handle, 2> questions;  // what all of them read
  MonotonicTime began = absl::ZeroDuration();
  MonotonicTime not_before = absl::InfiniteDuration();  // answers asked for earlier do not count
};

}  // namespace flyball::scaler
