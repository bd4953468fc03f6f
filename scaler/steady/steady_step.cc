#include "scaler/steady/steady_step.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

// Whether the answers are those that the last decision was made of.
bool ReadsTheSame(const SteadyInputs& inputs) {
  return std::all_of(inputs.reads.begin(), inputs.reads.end(), [](const SteadyInputs::Read& read) {
    return QuestionBoard::VersionOf(*read.part) == read.version;
  });
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
  // Until then readings are made of the times of samples too.
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

const SteadyKind& SteadyStep::KindOf(const TrackedAutoscaler& tracked) const {
  SteadyKind kind{.kind = tracked.key.kind, .metric_types = {}};
  for (const MetricLabels& metric : tracked.decided.decision.monitor.metrics) {
    kind.metric_types.push_back(metric.type);
  }
  absl::MutexLock lock(&mutex_);
  const auto known = std::find(kinds_.begin(), kinds_.end(), kind);
  return known != kinds_.end() ? *known : kinds_.emplace_back(std::move(kind));
}

void SteadyStep::Note(TrackedAutoscaler& tracked, const Times& now) const {
  absl::Time until;
  if (!Settled(tracked.decided.decision, until) || !MayBeSteady(tracked, now)) return;
  auto inputs = std::make_unique<SteadyInputs>();
  inputs->scale = tracked.inputs.target.place.object.get();
  inputs->scale_version = tracked.inputs.scale.version;
  inputs->pods = tracked.inputs.pods.selected;
  inputs->pods_version = tracked.inputs.pods.answer.version;
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
  inputs->kind = &KindOf(tracked);
  inputs->decided_at = tracked.decided.at;
  inputs->wall_offset = tracked.decided.wall_offset;
  inputs->rounds = std::make_shared<Steadiness>();
  for (DecisionObserver* observer : deps_.observers) {
    observer->OnSteady(tracked.key, tracked.decided.decision.recommendation, inputs->rounds);
  }
  tracked.steady_on = std::move(inputs);
}

// Brings it to where it would be, had it been decided in each round.
void SteadyStep::Leave(TrackedAutoscaler& tracked) {
  const std::unique_ptr<SteadyInputs> inputs = std::move(tracked.steady_on);
  if (inputs == nullptr || inputs->rounds->rounds() == 0) return;
  Decision& decision = tracked.decided.decision;
  decision.now = inputs->rounds->last();
  RenewRecommendation(decision.recommendation, decision.now, decision.state);
  tracked.decided.at = inputs->decided_at;
  tracked.decided.wall_offset = inputs->wall_offset;
}

std::vector<std::unique_ptr<SteadyRound>> SteadyStep::TakeRounds(
    std::vector<TrackedAutoscaler*>& due, uint64_t ownership_epoch, const Times& now) const {
  std::vector<std::unique_ptr<SteadyRound>> rounds;
  const bool pods_are_known = deps_.pods.Unusable().empty();
  const std::shared_ptr<const kube::RestMapper> mapper = deps_.directory.mapper();
  const ScaleStore::Kind* usable_kind = nullptr;  // most of one namespace are of one kind
  const auto is_usable = [&usable_kind](const ScaleStore::Kind* kind) {
    if (kind == usable_kind) return true;
    if (ScaleStore::IsUsable(*kind) != ScaleStore::Usable::kYes) return false;
    usable_kind = kind;
    return true;
  };
  const MathConfigsPtr configs = deps_.configs.Get();
  const auto holds = [&](const TrackedAutoscaler& tracked, const SteadyInputs& inputs) {
    return pods_are_known && now.wall < inputs.until && inputs.ownership_epoch == ownership_epoch &&
           inputs.scale->version.load(std::memory_order_acquire) == inputs.scale_version &&
           inputs.pods->version() == inputs.pods_version &&
           !IsClockJump(now.WallOffset() - inputs.wall_offset) &&
           tracked.inputs.target.mapper == mapper && tracked.inputs.configs == configs &&
           is_usable(tracked.inputs.target.place.kind) && deps_.ownership.Owns(tracked.key) &&
           deps_.autoscalers.Unusable(tracked.key).empty();
  };
  absl::flat_hash_map<absl::InlinedVector<const QuestionBoard::Asked*, 2>, SteadyRound*>
      by_questions;
  std::erase_if(due, [&](TrackedAutoscaler* tracked) {
    const SteadyInputs* const inputs = tracked->steady_on.get();
    if (inputs == nullptr || tracked->not_steady || !holds(*tracked, *inputs)) {
      Leave(*tracked);
      return false;
    }
    SteadyRound*& round = by_questions[inputs->questions];
    if (round == nullptr) {
      round = rounds.emplace_back(std::make_unique<SteadyRound>()).get();
      round->began = now.monotonic;
      const auto metrics = tracked->inputs.plan.metric_questions();
      round->questions.assign(metrics.begin(), metrics.end());
    }
    round->members.push_back(tracked);
    round->not_before = std::min(round->not_before, tracked->not_before);
    return true;
  });
  return rounds;
}

bool SteadyStep::Ask(SteadyRound& round, QuestionBoard::ToAsk& to_ask) const {
  round.pending = 1 + static_cast<int>(round.questions.size());
  for (const QuestionBoard::Handle& part : round.questions) {
    if (deps_.board.Join(part, round.not_before, round, to_ask)) round.pending.fetch_sub(1);
  }
  return round.Answered();
}

std::vector<TrackedAutoscaler*> SteadyStep::End(SteadyRound& round, const Times& now) const {
  // Each of these only rises, so their sum is the same as long as all answers are. It is taken
  // before the answers are looked at: what comes later is found by the next round.
  uint64_t newest = 0;
  for (const QuestionBoard::Asked* question : round.members[0]->steady_on->questions) {
    newest += QuestionBoard::NewestVersionOf(*question);
  }
  std::vector<TrackedAutoscaler*> changed;
  std::erase_if(round.members, [&](TrackedAutoscaler* tracked) {
    SteadyInputs& inputs = *tracked->steady_on;
    if (std::exchange(inputs.newest_answers, newest) != newest && !ReadsTheSame(inputs)) {
      Leave(*tracked);
      changed.push_back(tracked);
      return true;
    }
    inputs.decided_at = now.monotonic;
    inputs.wall_offset = now.WallOffset();
    inputs.rounds->AddRound(now.wall);
    return false;
  });
  if (!round.members.empty()) Tell(round, now);
  return changed;
}

void SteadyStep::Tell(const SteadyRound& round, const Times& now) const {
  std::vector<const AutoscalerKey*> keys;
  absl::InlinedVector<RoundRecord::Count, 2> kinds;
  for (const TrackedAutoscaler* member : round.members) {
    keys.push_back(&member->key);
    const SteadyKind* const kind = member->steady_on->kind;
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [kind](const auto& count) { return count.kind == kind; });
    RoundRecord::Count& count =
        known != kinds.end() ? *known : kinds.emplace_back(RoundRecord::Count{.kind = kind});
    ++count.autoscalers;
  }
  RoundRecord record{.keys = keys,
                     .kinds = kinds,
                     .time = now.wall,
                     .newest_sample = std::nullopt,
                     .took = now.monotonic - round.began};
  for (const QuestionBoard::Handle& part : round.members[0]->inputs.plan.metric_questions()) {
    const std::optional<absl::Time> sampled = SampleTimeOf(QuestionBoard::LastAnswerOf(*part));
    if (!sampled.has_value()) continue;
    record.newest_sample = std::max(record.newest_sample.value_or(*sampled), *sampled);
  }
  for (DecisionObserver* observer : deps_.observers) observer->OnRound(record);
}

}  // namespace flyball::scaler
