// Autoscalers of one namespace and period that rest together (views/rest.h). To find out whether
// all that its members read is still the same costs a group one round of questions, however many
// members it has.
//
// Threads: the first fields, as marked, are used under the loop's lock; everything else belongs to
// the thread that works on the present round.
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
#include "scaler/steps/tracked_autoscaler.h"
#include "scaler/views/rest.h"

namespace flyball::scaler {

// One autoscaler of a group, with the versions of the scale and pods that it was decided on. Each
// round compares them with the present ones.
struct RestMember {
  TrackedAutoscaler* tracked = nullptr;
  std::shared_ptr<const ScaleStore::ObjectScale> scale;
  uint64_t scale_version = 0;
  const SelectedPods* pods = nullptr;
  uint64_t pods_version = 0;
  absl::Time until;                         // from then on time alone may change the decision
  uint64_t from = 0;                        // how many rounds the group had when it joined
  absl::InlinedVector<uint32_t, 2> inputs;  // indices in RestGroup::inputs
};

// An answer that members read. Members that read the same share one.
struct RestInput {
  QuestionBoard::Handle question;
  uint64_t version = 0;  // of the answer that they were decided on
  // What the answer was made of. Where it is known it stands for all answers that were made of it,
  // and a round asks whether it would give them again (Question::Again). nullptr: a round asks the
  // question.
  adapter::OriginPtr origin;
  bool changed = false;            // the present round found another answer
  std::optional<absl::Time> time;  // of the samples, as a round was told last
};

struct RestGroup : public CycleWaiter, public Schedule::Item {
  RestGroup(std::string its_ns, absl::Duration its_slots)
      : CycleWaiter(/*waits_for_many=*/true), ns(std::move(its_ns)), slots(its_slots) {}

  // Whether asking takes hardly any time. Now and then it may take long, where the machine is busy:
  // a group counts as slow after kManySlow slow rounds in a row.
  bool IsQuick() const { return slow_rounds < kManySlow; }

  static constexpr int kManySlow = 3;

  const std::string ns;
  const absl::Duration slots;

  // ---- under the loop's lock
  std::vector<RestMember> joining;          // become members when the next round begins
  std::vector<TrackedAutoscaler*> leaving;  // leave then, as something about their object changed
  bool busy = false;                        // a round is under way
  bool again = false;                       // a member has to leave as soon as this round is over
  MonotonicTime regular_slot = absl::ZeroDuration();  // when the next round is due

  // Set by the first that takes the present round to its end: the thread that brings its last
  // answer, or the loop, which abandons it when the next round is due before that.
  std::atomic<bool> taken = false;

  // ---- of the round
  const std::shared_ptr<Rest> rest = std::make_shared<Rest>();
  std::vector<RestMember> members;
  std::vector<RestInput> inputs;                // what the members read, each once
  std::vector<const ScaleStore::Kind*> scales;  // the kinds of their targets
  absl::Time until;                             // the earliest RestMember::until
  // How many changes `scales` and the pods had seen (ScaleStore::Changes, PodStore::Changes) when
  // all members were last found unchanged. While the number stays the same no member is looked at.
  // nullopt: members have joined or left since.
  std::optional<uint64_t> changes;
  std::vector<RestKind> kinds;
  MonotonicTime began = absl::ZeroDuration();
  MonotonicTime asked = absl::ZeroDuration();  // when asking began
  int slow_rounds = kManySlow;                 // how many rounds in a row took long to ask
  // What all members depend on, as it was when they were last found unchanged.
  uint64_t ownership_epoch = 0;
  std::shared_ptr<const kube::RestMapper> mapper;
  MonotonicTime last_round = absl::ZeroDuration();
  absl::Duration wall_offset = absl::ZeroDuration();  // wall - monotonic
  // The answers of members that joined later were asked for apart from the others', so they have
  // origins of their own, and the group has more inputs than it need have. Once it has had so many
  // for some rounds all members leave, are decided, and come back with answers that were asked for
  // together.
  bool brought_together = false;  // the last round made all leave for that
  size_t inputs_together = 0;     // how many inputs there were after that; 0: it was not done yet
  uint64_t rounds_together = 0;   // rounds of the group when it last had no more inputs than that
};

}  // namespace flyball::scaler
