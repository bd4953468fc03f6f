#include "scaler/steady/steady_step.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

// Whether the answers are those of the last decision.
bool ReadsTheSame(const SteadyInputs& inputs) {
  return std::all_of(inputs.reads.begin(), inputs.reads.end(), [](const SteadyInputs::Read& read) {
    return QuestionBoard::VersionOf(*read.part) == read.version;
  });
}

// Whether the member's scale and pods are those of its decision.
bool IsAsDecided(const RoundMember& member) {
  return member.scale->version.load(std::memory_order_acquire) == member.scale_version &&
         member.pods->version() == member.pods_version;
}

struct SampleTimes {
  // InfinitePast and nullopt where no answer tells when it was sampled.
  absl::Time oldest = absl::InfinitePast();
  std::optional<absl::Time> newest;
};

SampleTimes SampleTimesOf(const SteadyGroup& group) {
  SampleTimes times;
  for (const QuestionBoard::Handle& part : group.questions) {
    const std::optional<absl::Time> sampled = SampleTimeOf(QuestionBoard::LastAnswerOf(*part));
    if (!sampled.has_value()) continue;
    times.oldest = times.newest.has_value() ? std::min(times.oldest, *sampled) : *sampled;
    times.newest = std::max(times.newest.value_or(*sampled), *sampled);
  }
  return times;
}

}  // namespace

bool SteadyStep::MayBeSteady(const TrackedAutoscaler& tracked, const Times& now) const {
  if (!tracked.decided.unchanged || tracked.inputs.mode != Mode::kAct ||
      tracked.inputs.managed->own.cadence.on_sample || !tracked.inputs.plan.triggers().empty() ||
      tracked.inputs.target.place.object == nullptr || tracked.inputs.pods.selected == nullptr ||
      tracked.inputs.pods.answer.version == 0 ||
      tracked.written.status.seen != tracked.inputs.managed || tracked.written.status.stale ||
      tracked.written.status.outbox == nullptr ||
      !deps_.statuses.IsSettled(*tracked.written.status.outbox)) {
    return false;
  }
  // While a pod is within its CPU initialization period, cpu readings also depend on the times of
  // samples, which a round does not compare.
  const std::vector<MetricSpec>& metrics = tracked.inputs.plan.autoscaler().metrics;
  const bool young =
      tracked.inputs.pods.view.last_start + tracked.inputs.config().cpu_initialization_period >
      now.wall;
  if (young && std::any_of(metrics.begin(), metrics.end(),
                           [](const MetricSpec& metric) { return metric.resource == "cpu"; })) {
    return false;
  }
  const absl::Span<const QuestionBoard::Handle> questions = tracked.inputs.plan.metric_questions();
  return !questions.empty() && std::count(questions.begin(), questions.end(), nullptr) == 0;
}

void SteadyStep::Note(TrackedAutoscaler& tracked, const Times& now) const {
  absl::Time until;
  if (!Settled(tracked.decided.decision, until) || !MayBeSteady(tracked, now)) return;
  auto inputs = std::make_unique<SteadyInputs>();
  inputs->rounds = std::make_shared<Steadiness>();
  inputs->member = {.autoscaler = &tracked,
                    .scale = tracked.inputs.target.place.object.get(),
                    .scale_version = tracked.inputs.scale.version,
                    .pods = tracked.inputs.pods.selected,
                    .pods_version = tracked.inputs.pods.answer.version,
                    .rounds = inputs->rounds.get()};
  const absl::Span<const QuestionBoard::Handle> parts = tracked.inputs.plan.metric_questions();
  for (size_t i = 0; i < parts.size(); ++i) {
    inputs->reads.push_back({.part = parts[i].get(), .version = tracked.inputs.answers[i]});
    const QuestionBoard::Asked* const question = QuestionBoard::QuestionOf(*parts[i]);
    if (std::find(inputs->questions.begin(), inputs->questions.end(), question) ==
        inputs->questions.end()) {
      inputs->questions.push_back(question);
    }
  }
  inputs->until = until;
  inputs->ownership_epoch = tracked.decided.ownership_epoch;
  for (DecisionObserver* observer : deps_.observers) {
    observer->OnSteady(tracked.key, tracked.decided.decision.recommendation, inputs->rounds);
  }
  tracked.steady_on = std::move(inputs);
}

// Ends steadiness: brings the autoscaler into the state that it would have if it had been decided
// in each round.
void SteadyStep::Leave(TrackedAutoscaler& tracked) {
  const std::unique_ptr<SteadyInputs> inputs = std::move(tracked.steady_on);
  if (inputs == nullptr || inputs->rounds->rounds() == 0) return;
  Decision& decision = tracked.decided.decision;
  decision.now = inputs->rounds->last();
  RenewRecommendation(decision.recommendation, decision.now, decision.state);
  tracked.decided.at = inputs->rounds->last_at();
  tracked.decided.wall_offset = Times{decision.now, tracked.decided.at}.WallOffset();
}

SteadyStep::Present SteadyStep::Look(uint64_t ownership_epoch, const Times& now) const {
  return {.now = now,
          .ownership_epoch = ownership_epoch,
          .mapper = deps_.directory.mapper(),
          .configs = deps_.configs.Get()};
}

SteadyTerms SteadyStep::TermsOf(const TrackedAutoscaler& tracked) {
  const SteadyInputs& inputs = *tracked.steady_on;
  const Times last{inputs.rounds->last(), inputs.rounds->last_at()};
  return {
      .until = inputs.until,
      .ownership_epoch = inputs.ownership_epoch,
      .wall_offset = inputs.rounds->rounds() == 0 ? tracked.decided.wall_offset : last.WallOffset(),
      .mapper = tracked.inputs.target.mapper.get(),
      .configs = tracked.inputs.configs.get(),
      .kind = tracked.inputs.target.place.kind,
      .key = &tracked.key};
}

GroupKey SteadyStep::KeyOf(const TrackedAutoscaler& tracked) {
  return {tracked.steady_on->questions,
          tracked.pace,
          tracked.inputs.target.place.kind,
          tracked.key.kind,
          tracked.key.ns,
          !tracked.inputs.managed->own.schedules.empty()};
}

bool SteadyStep::Hold(const SteadyTerms& terms, Present& present) const {
  if (terms.kind != present.usable_kind) {
    if (ScaleStore::IsUsable(*terms.kind) != ScaleStore::Usable::kYes) return false;
    present.usable_kind = terms.kind;
  }
  if (terms.key->ns != present.usable_pods) {
    if (!deps_.pods.Unusable(terms.key->ns).empty()) return false;
    present.usable_pods = terms.key->ns;
  }
  return present.now.wall < terms.until && terms.ownership_epoch == present.ownership_epoch &&
         !IsClockJump(present.now.WallOffset() - terms.wall_offset) &&
         terms.mapper == present.mapper.get() && terms.configs == present.configs.get() &&
         deps_.ownership.Owns(*terms.key) && deps_.autoscalers.Unusable(*terms.key).empty();
}

std::vector<std::unique_ptr<SteadyGroup>> SteadyStep::TakeGroups(
    std::vector<TrackedAutoscaler*>& due, Present& present) const {
  std::vector<std::unique_ptr<SteadyGroup>> groups;
  absl::flat_hash_map<GroupKey, SteadyGroup*> by_key;
  std::erase_if(due, [&](TrackedAutoscaler* tracked) {
    const SteadyInputs* const inputs = tracked->steady_on.get();
    if (inputs == nullptr || tracked->not_steady || !IsAsDecided(inputs->member) ||
        !Hold(TermsOf(*tracked), present)) {
      Leave(*tracked);
      return false;
    }
    GroupKey key = KeyOf(*tracked);
    SteadyGroup*& group = by_key[key];
    if (group == nullptr) {
      group = groups.emplace_back(std::make_unique<SteadyGroup>()).get();
      group->key = std::move(key);
      group->terms = TermsOf(*tracked);
      group->began = present.now.monotonic;
      const auto metrics = tracked->inputs.plan.metric_questions();
      group->questions.assign(metrics.begin(), metrics.end());
    }
    group->members.push_back(inputs->member);
    group->terms.until = std::min(group->terms.until, inputs->until);
    group->not_before = std::min(group->not_before, tracked->not_before);
    return true;
  });
  return groups;
}

bool SteadyStep::Hold(const SteadyGroup& group, Present& present) const {
  return Hold(group.terms, present) &&
         std::all_of(group.members.begin(), group.members.end(), IsAsDecided);
}

bool SteadyStep::Ask(SteadyGroup& group, QuestionBoard::ToAsk& to_ask) const {
  group.pending = 1 + static_cast<int>(group.questions.size());
  for (const QuestionBoard::Handle& part : group.questions) {
    if (deps_.board.Join(part, group.not_before, group, to_ask)) group.pending.fetch_sub(1);
  }
  return group.Answered();
}

std::vector<TrackedAutoscaler*> SteadyStep::End(SteadyGroup& group, const Times& now) const {
  // Each of these versions only rises, so an equal sum means that all answers are unchanged. The
  // sum is computed before the answers are compared; the next round finds what arrives later.
  uint64_t newest = 0;
  for (const QuestionBoard::Asked* question : group.members[0].autoscaler->steady_on->questions) {
    newest += QuestionBoard::NewestVersionOf(*question);
  }
  std::vector<TrackedAutoscaler*> changed;
  const bool jumped = IsClockJump(now.WallOffset() - group.terms.wall_offset);
  if (std::exchange(group.newest_answers, newest) != newest || jumped) {
    std::erase_if(group.members, [&](const RoundMember& member) {
      if (!jumped && ReadsTheSame(*member.autoscaler->steady_on)) return false;
      changed.push_back(member.autoscaler);
      return true;
    });
    for (TrackedAutoscaler* tracked : changed) {
      Leave(*tracked);
      tracked->not_before = group.not_before;
    }
    group.keys.clear();
  }
  const SampleTimes sampled = SampleTimesOf(group);
  for (const RoundMember& member : group.members) {
    member.rounds->AddRound(now.wall, now.monotonic, sampled.oldest);
  }
  group.terms.wall_offset = now.WallOffset();
  if (!group.members.empty()) Tell(group, sampled.newest, now);
  return changed;
}

// Makes the lists for observers. They stay valid as long as no member leaves.
void SteadyStep::Count(SteadyGroup& group) {
  absl::flat_hash_map<absl::InlinedVector<absl::string_view, 4>, size_t> by_types;
  for (const RoundMember& member : group.members) {
    group.keys.push_back(&member.autoscaler->key);
    absl::InlinedVector<absl::string_view, 4> types;
    for (const MetricLabels& metric : member.autoscaler->decided.decision.monitor.metrics) {
      types.push_back(metric.type);
    }
    ++by_types[types];
  }
  group.counts.clear();
  group.kinds.clear();
  group.kinds.reserve(by_types.size());                               // the counts point to them
  const AutoscalerKind kind = group.members[0].autoscaler->key.kind;  // that of all
  for (const auto& [types, autoscalers] : by_types) {
    group.kinds.push_back({.kind = kind, .metric_types = {types.begin(), types.end()}});
    group.counts.push_back({.kind = &group.kinds.back(), .autoscalers = autoscalers});
  }
}

void SteadyStep::Tell(SteadyGroup& group, std::optional<absl::Time> newest_sample,
                      const Times& now) const {
  if (group.keys.empty()) Count(group);
  RoundRecord record{.keys = group.keys,
                     .kinds = group.counts,
                     .time = now.wall,
                     .newest_sample = newest_sample,
                     .took = now.monotonic - group.began};
  for (DecisionObserver* observer : deps_.observers) observer->OnRound(record);
}

}  // namespace flyball::scaler
