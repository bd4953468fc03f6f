// Autoscalers of one namespace and period that rest together (rest.h): asking whether what all of
// them read is still the same costs one round of questions, however many they are.
//
// Not thread-safe: `joining`, `leaving`, `busy`, `again` and the slot belong to the loop's lock,
// everything else to whoever carries out the present round.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "adapter/provider.h"
#include "base/clock.h"
#include "kube/objects/rest_mapping.h"
#include "scaler/steps/entry.h"
#include "scaler/views/rest.h"

namespace flyball::scaler {

// What one of them decided on, but for readings; looked at in each round.
struct RestMember {
  Entry* entry = nullptr;
  std::shared_ptr<const ScaleStore::Slot> scale;
  uint64_t scale_version = 0;
  const SelectedPods* pods = nullptr;
  uint64_t pods_version = 0;
  absl::Time until;   // from then on time alone may change the decision
  uint64_t from = 0;  // the group's rounds before it joined
  absl::InlinedVector<uint32_t, 2> inputs;
};

// What members read.
struct RestInput {
  QuestionBoard::Handle question;
  uint64_t version = 0;       // of the answer that they decided on
  adapter::OriginPtr origin;  // not nullptr: asked for all answers that were made of it
  bool changed = false;
  std::optional<absl::Time> time;  // of what was sampled, as last told
};

struct RestGroup : public CycleWaiter, public Schedule::Item {
  RestGroup(std::string its_ns, absl::Duration its_slots)
      : CycleWaiter(/*waits_for_many=*/true), ns(std::move(its_ns)), slots(its_slots) {}

  // Asking takes hardly any time; now and then it may, where the machine is busy.
  bool IsQuick() const { return slow_rounds < kManySlow; }

  static constexpr int kManySlow = 3;

  const std::string ns;
  const absl::Duration slots;

  // ---- under the loop's lock
  std::vector<RestMember> joining;
  std::vector<Entry*> leaving;  // something about the object itself changed
  bool busy = false;            // a round is under way
  bool again = false;           // somebody wants to leave at once
  MonotonicTime regular_slot = absl::ZeroDuration();

  // By whoever first takes the members of the present round: its last answer, or the loop, when the
  // next round is due before that.
  std::atomic<bool> taken = false;

  // ---- of the round
  const std::shared_ptr<Rest> rest = std::make_shared<Rest>();
  std::vector<RestMember> members;
  std::vector<RestInput> inputs;                // of all members, each once
  std::vector<const ScaleStore::Kind*> scales;  // kinds of their targets
  absl::Time until;                             // the earliest of theirs
  // Of `scales` and of pods, when all members were found to be as they were. While there are no
  // more none is looked at. nullopt: not all were looked at.
  std::optional<uint64_t> changes;
  std::vector<RestKind> kinds;
  MonotonicTime began = absl::ZeroDuration();
  MonotonicTime asked = absl::ZeroDuration();  // when asking began
  int slow_rounds = kManySlow;                 // in a row, in which asking took its time
  // What they share, as it was at their last decision.
  uint64_t ownership_epoch = 0;
  std::shared_ptr<const kube::RestMapper> mapper;
  MonotonicTime last_round = absl::ZeroDuration();
  absl::Duration wall_offset = absl::ZeroDuration();  // wall - monotonic
  // Who joins later was asked for apart: then there are more inputs than there need to be. Now and
  // then all leave, to be asked for together.
  bool brought_together = false;  // in the last round
  size_t inputs_together = 0;     // when they were; 0: never yet
  uint64_t rounds_together = 0;   // when there were last no more
};

}  // namespace flyball::scaler
