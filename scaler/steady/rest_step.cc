#include "scaler/steady/rest_step.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

// After this many rounds those that are asked for apart are brought together.
constexpr uint64_t kRoundsApart = 10;

// What takes no longer than this is asked by one thread: others would be woken for less than it
// costs.
constexpr absl::Duration kQuick = absl::Milliseconds(10);

// Who waits longer for answers does not rest: the others would wait with it.
constexpr absl::Duration kSlow = absl::Milliseconds(250);

// What is asked for in a round: the answers of one origin together, any other question by itself.
RestInput InputOf(const QuestionBoard::Handle& question, const LastAnswer& last) {
  RestInput input;
  input.question = question;
  input.version = last.answer->version;
  const bool together = !QuestionBoard::QuestionOf(*question).together().empty();
  if (together) input.origin = last.answer->repeated.origin;
  return input;
}

const void* IdentityOf(const RestInput& input) {
  if (input.origin != nullptr) return input.origin.get();
  return input.question.get();
}

void Count(const TrackedAutoscaler& tracked, std::vector<RestKind>& kinds) {
  const std::vector<MetricLabels>& metrics = tracked.decision.monitor.metrics;
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const RestKind& kind) {
    return kind.kind == tracked.key.kind &&
           std::equal(kind.metric_types.begin(), kind.metric_types.end(), metrics.begin(),
                      metrics.end(),
                      [](const std::string& a, const MetricLabels& b) { return a == b.type; });
  });
  if (found != kinds.end()) {
    ++found->members;
    return;
  }
  RestKind& kind = kinds.emplace_back();
  kind.kind = tracked.key.kind;
  kind.members = 1;
  for (const MetricLabels& metric : metrics) kind.metric_types.push_back(metric.type);
}

}  // namespace

std::optional<RestMember> RestStep::MayRest(TrackedAutoscaler& tracked, const Times& now) const {
  const std::vector<MetricSpec>& metrics = tracked.plan.autoscaler().metrics;
  RestMember member;
  if (!tracked.unchanged || tracked.mode != Mode::kAct || tracked.managed->own.cadence.on_sample ||
      !tracked.plan.triggers().empty() || now.monotonic - tracked.began > kSlow ||
      !Settled(tracked.decision, member.until) || tracked.target.place.object == nullptr ||
      tracked.group == nullptr || tracked.pods.version == 0 ||
      tracked.marks.seen != tracked.managed || tracked.marks.stale ||
      tracked.marks.outbox == nullptr || !deps_.statuses.IsSettled(*tracked.marks.outbox)) {
    return std::nullopt;
  }
  // Until then readings are made of the times of samples too.
  const bool young = tracked.view.last_start + deps_.config.cpu_initialization_period > now.wall;
  if (young && std::any_of(metrics.begin(), metrics.end(),
                           [](const MetricSpec& metric) { return metric.resource == "cpu"; })) {
    return std::nullopt;
  }
  const absl::Span<const QuestionBoard::Handle> questions = tracked.plan.metric_questions();
  if (questions.empty() || std::count(questions.begin(), questions.end(), nullptr) > 0) {
    return std::nullopt;
  }
  member.tracked = &tracked;
  member.scale = tracked.target.place.object;
  member.scale_version = tracked.scale.version;
  member.pods = tracked.group;
  member.pods_version = tracked.pods.version;
  return member;
}

// Whether what all members share is as it was.
bool RestStep::AllHolds(const RestGroup& group, uint64_t ownership_epoch, const Times& now) const {
  return group.ownership_epoch == ownership_epoch &&
         // A namespace is in one shard.
         deps_.ownership.Owns(group.members[0].tracked->key) &&
         group.mapper == deps_.directory.mapper() && deps_.pods.Unusable().empty() &&
         std::all_of(group.kinds.begin(), group.kinds.end(),
                     [&](const RestKind& kind) {
                       return deps_.autoscalers
                           .Unusable({.kind = kind.kind, .ns = group.ns, .name = ""})
                           .empty();
                     }) &&
         std::all_of(group.scales.begin(), group.scales.end(),
                     [](const ScaleStore::Kind* kind) {
                       return ScaleStore::IsUsable(*kind) == ScaleStore::Usable::kYes;
                     }) &&
         !IsClockJump(now.WallOffset() - group.wall_offset);
}

// Brings it to where it would be, had it been decided by itself in each round.
void RestStep::CatchUp(const RestGroup& group, TrackedAutoscaler& tracked, uint64_t from) const {
  if (group.rest->rounds() > from) {
    const absl::Time last = group.rest->last();
    RenewRecommendation(tracked.decision.recommendation, last, tracked.decision.state);
    tracked.decision.now = last;
    tracked.decided_at = group.last_round;
    tracked.wall_offset = group.wall_offset;
  }
  for (DecisionObserver* observer : deps_.observers) observer->OnRestOver(tracked.key);
}

template <typename Leaves>
void RestStep::TakeOut(RestGroup& group, Leaves leaves,
                       std::vector<TrackedAutoscaler*>& out) const {
  std::erase_if(group.members, [&](const RestMember& member) {
    if (!leaves(member)) return false;
    CatchUp(group, *member.tracked, member.from);
    out.push_back(member.tracked);
    return true;
  });
}

// What members decided on is in stores: how often those changed.
uint64_t RestStep::ChangesOf(const RestGroup& group) const {
  uint64_t changes = deps_.pods.Changes();
  for (const ScaleStore::Kind* kind : group.scales) changes += ScaleStore::Changes(*kind);
  return changes;
}

// Finds anew what members read. Whoever decided on another answer than the last one leaves.
void RestStep::Index(RestGroup& group, std::vector<TrackedAutoscaler*>& out) const {
  group.inputs.clear();
  absl::flat_hash_map<const void*, uint32_t> places;
  const auto decided_on_other = [&](RestMember& member) {
    const absl::Span<const QuestionBoard::Handle> questions =
        member.tracked->plan.metric_questions();
    member.inputs.clear();
    for (size_t i = 0; i < questions.size(); ++i) {
      const LastAnswer last = QuestionBoard::LastAnswerOf(*questions[i]);
      if (last.answer == nullptr || last.answer->version != member.tracked->answers[i]) return true;
      RestInput input = InputOf(questions[i], last);
      const auto [place, fresh] =
          places.try_emplace(IdentityOf(input), static_cast<uint32_t>(group.inputs.size()));
      if (fresh) group.inputs.push_back(std::move(input));
      member.inputs.push_back(place->second);
    }
    return false;
  };
  absl::flat_hash_set<const TrackedAutoscaler*> others;
  for (RestMember& member : group.members) {
    if (decided_on_other(member)) others.insert(member.tracked);
  }
  TakeOut(
      group, [&](const RestMember& member) { return others.contains(member.tracked); }, out);

  group.kinds.clear();
  group.scales.clear();
  group.until = absl::InfiniteFuture();
  group.changes.reset();
  for (const RestMember& member : group.members) {
    group.until = std::min(group.until, member.until);
    Count(*member.tracked, group.kinds);
    const ScaleStore::Kind* kind = member.tracked->target.place.kind;
    if (std::find(group.scales.begin(), group.scales.end(), kind) == group.scales.end()) {
      group.scales.push_back(kind);
    }
  }
}

std::vector<TrackedAutoscaler*> RestStep::Begin(RestGroup& group, Change change,
                                                const Times& now) const {
  std::vector<TrackedAutoscaler*> out;
  const absl::flat_hash_set<const TrackedAutoscaler*> leaving(change.leaving.begin(),
                                                              change.leaving.end());
  const bool apart = !group.members.empty() && group.inputs.size() > group.inputs_together &&
                     group.rest->rounds() - group.rounds_together >= kRoundsApart;
  const bool together = std::exchange(group.brought_together, apart);
  const bool none_holds =
      !group.members.empty() && (apart || !AllHolds(group, change.ownership_epoch, now));
  const bool first = group.members.empty() || none_holds;
  if (first) {
    group.ownership_epoch = change.ownership_epoch;
    group.mapper = deps_.directory.mapper();
  }
  const uint64_t changes = ChangesOf(group);  // before versions are looked at
  if (none_holds || !leaving.empty() || now.wall >= group.until || group.changes != changes) {
    TakeOut(
        group,
        [&](const RestMember& member) {
          return none_holds || leaving.contains(member.tracked) || now.wall >= member.until ||
                 member.scale->version.load(std::memory_order_acquire) != member.scale_version ||
                 member.pods->version() != member.pods_version;
        },
        out);
    group.changes = changes;
  }
  for (RestMember& member : change.joining) {
    TrackedAutoscaler& tracked = *member.tracked;
    // What all share may have changed since it was decided.
    if (apart || leaving.contains(&tracked) || tracked.ownership_epoch != group.ownership_epoch ||
        tracked.target.mapper != group.mapper || now.wall >= member.until ||
        IsClockJump(now.WallOffset() - tracked.wall_offset)) {
      out.push_back(&tracked);
      continue;
    }
    member.from = group.rest->rounds();
    for (DecisionObserver* observer : deps_.observers) {
      observer->OnRest(tracked.key, tracked.decision.recommendation,
                       {.rest = group.rest, .from = member.from});
    }
    group.members.push_back(std::move(member));
  }
  if (!out.empty() || !change.joining.empty()) Index(group, out);
  if (first && !group.members.empty()) {
    group.inputs_together = together ? group.inputs.size() : 0;
    group.rounds_together = group.rest->rounds();
    group.wall_offset = now.WallOffset();
  } else if (group.inputs.size() <= group.inputs_together) {
    group.rounds_together = group.rest->rounds();
  }
  group.began = now.monotonic;
  return out;
}

// Whether it was the last answer that was waited for.
bool RestStep::AskByOrigin(RestGroup& group, RestInput& input) const {
  const std::optional<adapter::Repeated> again = deps_.board.Again(*input.question, input.origin);
  input.changed = !again.has_value() || !again->same;
  if (!input.changed) input.time = again->time;
  return group.Answered();
}

void RestStep::Join(RestGroup& group, const RestInput& input,
                    std::vector<QuestionBoard::Handle>& to_ask) const {
  if (deps_.board.Join(input.question, group.began, group, to_ask)) group.pending.fetch_sub(1);
}

// One after the other; each is joined when its turn comes, so that nobody else who wants it waits
// for those before it.
void RestStep::AskHere(RestGroup& group) const {
  std::map<absl::string_view, std::vector<RestInput*>> kinds;
  for (RestInput& input : group.inputs) {
    const absl::string_view kind = QuestionBoard::QuestionOf(*input.question).together();
    if (input.origin != nullptr) {
      AskByOrigin(group, input);
    } else if (kind.empty()) {
      AskTogether(group, {&input});
    } else {
      kinds[kind].push_back(&input);
    }
  }
  for (const auto& [kind, inputs] : kinds) AskTogether(group, inputs);
}

void RestStep::AskTogether(RestGroup& group, const std::vector<RestInput*>& inputs) const {
  std::vector<QuestionBoard::Handle> to_ask;
  for (const RestInput* input : inputs) {
    Join(group, *input, to_ask);
  }
  deps_.board.AskAllHere(std::move(to_ask));
}

bool RestStep::Ask(RestGroup& group, bool here, const std::function<void()>& on_answered) const {
  group.pending = 1 + static_cast<int>(group.inputs.size());
  if (here) {
    AskHere(group);  // never the last answer: one is this one's own
    return group.Answered();
  }
  std::vector<QuestionBoard::Handle> to_ask;
  for (RestInput& input : group.inputs) {
    if (input.origin == nullptr) {
      Join(group, input, to_ask);
      continue;
    }
    deps_.run_reads([this, &group, &input, on_answered] {
      if (AskByOrigin(group, input)) on_answered();
    });
  }
  deps_.board.AskAll(std::move(to_ask));
  return group.Answered();
}

std::vector<TrackedAutoscaler*> RestStep::Abandon(RestGroup& group) const {
  std::vector<TrackedAutoscaler*> out;
  TakeOut(
      group, [](const RestMember&) { return true; }, out);
  return out;
}

std::vector<TrackedAutoscaler*> RestStep::End(RestGroup& group, const Times& now) const {
  const bool quick = now.monotonic - group.asked <= kQuick;
  group.slow_rounds = quick ? 0 : std::min(group.slow_rounds + 1, RestGroup::kManySlow);
  if (now.monotonic - group.asked > kSlow) return Abandon(group);
  std::optional<absl::Time> newest;
  bool changed = false;
  for (RestInput& input : group.inputs) {
    if (input.origin == nullptr) {
      const LastAnswer last = QuestionBoard::LastAnswerOf(*input.question);
      input.changed = last.answer->version != input.version;
      input.time = SampleTimeOf(last);
    }
    changed = changed || input.changed;
    if (!input.changed && input.time.has_value()) {
      newest = std::max(newest.value_or(*input.time), *input.time);
    }
  }
  std::vector<TrackedAutoscaler*> out;
  if (changed) {
    TakeOut(
        group,
        [&](const RestMember& member) {
          return std::any_of(member.inputs.begin(), member.inputs.end(),
                             [&](uint32_t i) { return group.inputs[i].changed; });
        },
        out);
    Index(group, out);
  }
  if (group.members.empty()) return out;
  group.last_round = now.monotonic;
  group.wall_offset = now.WallOffset();
  group.rest->AddRound(now.wall);
  const RestRound round = {.rest = group.rest.get(),
                           .kinds = group.kinds,
                           .time = now.wall,
                           .newest_sample = newest,
                           .took = now.monotonic - group.began};
  for (DecisionObserver* observer : deps_.observers) observer->OnRound(round);
  return out;
}

}  // namespace flyball::scaler
