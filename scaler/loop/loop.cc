#include "scaler/loop/loop.h"

#include <algorithm>
#include <utility>

#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

// An answer that was asked for up to this long before a cycle began still counts for it.
constexpr absl::Duration kShareAnswers = absl::Milliseconds(100);
// How often autoscalers with onSample ask for readings whose source does not report samples.
constexpr absl::Duration kSampleInterval = absl::Milliseconds(200);
// When they try again what could not be carried out. No sample tells that it can be by now. After
// each refusal in a row, which is most likely to last, the time is doubled.
constexpr absl::Duration kSampleRetry = absl::Seconds(1);
// The pause until a target that is not listed yet is looked up again.
constexpr absl::Duration kListWait = absl::Milliseconds(200);
constexpr absl::Duration kIdle = absl::Seconds(1);
// Schedules can change a spec at the beginning of a minute.
constexpr absl::Duration kMinute = absl::Minutes(1);
// Two readings of the clocks that are no further apart count as simultaneous.
constexpr absl::Duration kOneLook = absl::Milliseconds(100);
// How many decisions are passed to a thread at once.
constexpr size_t kBatch = 32;

// Whether the autoscaler has a trigger to which activity is pushed. Such a trigger must exist
// before anything can be pushed, so its autoscaler does not wait for a slot.
bool IsPushed(const Managed& managed) {
  return std::any_of(managed.own.triggers.begin(), managed.own.triggers.end(),
                     [](const TriggerSpec& trigger) {
                       return trigger.type == "external-push" || trigger.type == kHttpTrigger;
                     });
}

// Nothing reports a new target, nor that a scale can be written again. So an autoscaler with rare
// slots tries it earlier.
bool IsToBeTriedAgain(const TrackedAutoscaler& tracked) {
  return tracked.decided.made &&
         (tracked.written.unfinished ||
          tracked.inputs.scale.answer.failure != ScaleAnswer::Failure::kNone);
}

}  // namespace

Loop::Loop(Deps deps, const Options& options) : deps_(std::move(deps)), options_(options) {}
Loop::~Loop() {
  // `gone` is destroyed after the lock is released: a trigger's destructor waits for its callback,
  // which may be about to call Wake.
  decltype(tracked_) gone;
  absl::MutexLock lock(&mutex_);
  gone.swap(tracked_);
}

// ---- autoscalers come and go -------------------------------------------------------------------

absl::Duration Loop::PeriodOf(const Managed& managed) const {
  return std::max(managed.own.cadence.interval.value_or(options_.sync_period), kSampleInterval);
}

absl::Duration Loop::SlotsOf(const Managed& managed, bool told_of_news) const {
  return managed.own.cadence.on_sample && !told_of_news ? kSampleInterval : PeriodOf(managed);
}

// How long after a decision what it could not do is tried again, if no regular slot comes earlier.
absl::Duration Loop::RetryAfter(const TrackedAutoscaler& tracked) const {
  const Managed& managed = *tracked.inputs.managed;
  if (!managed.own.cadence.on_sample || !tracked.written.unfinished) return options_.sync_period;
  constexpr int kMostDoublings = 10;
  return std::min({kSampleRetry * (1 << std::min(tracked.written.refusals, kMostDoublings)),
                   PeriodOf(managed), options_.sync_period});
}

void Loop::Schedule(TrackedAutoscaler& tracked, MonotonicTime now) {
  const absl::Duration slots = tracked.due.latest_slots;
  tracked.due.regular_slot = slots == tracked.due.slots
                                 ? SlotAfter(tracked.due.regular_slot, tracked.key.ns, slots, now)
                                 : NextSlot(tracked.key.ns, slots, now);
  tracked.due.slots = slots;
  schedule_.Set(tracked, tracked.due.regular_slot);
}

// An autoscaler that is woken when a sample arrives for it does not ask for samples at short
// intervals.
bool Loop::FollowNews(TrackedAutoscaler& tracked) {
  if (tracked.inputs.managed == nullptr) return false;
  if (!tracked.inputs.managed->own.cadence.on_sample) return false;
  const bool told = tracked.inputs.plan.IsToldOfNews();
  if (std::exchange(tracked.due.told_of_news, told) == told) return false;
  tracked.due.latest_slots = SlotsOf(*tracked.due.latest, told);
  Schedule(tracked, deps_.clock.MonotonicNow());
  return true;
}

// Whether an autoscaler is to be decided at once. An Autoscaler (CRD) is when it is new or its spec
// or mode has changed, since one that waits for pushes may have a cadence of an hour. In the first
// lists only those with such a trigger are; all others wait for their slots.
// HorizontalPodAutoscalers wait for their slots too, unless the cluster's controller would decide
// them at once.
bool Loop::IsNews(const Managed* before, const Managed& managed) const {
  if (managed.key.kind != AutoscalerKind::kOwn) {
    const MathConfigsPtr configs = deps_.configs.Get();
    if (!configs->hpa.decides_news_at_once) return false;
    if (before == nullptr) return ticked_;
    if (before->autoscaler.uid != managed.autoscaler.uid) return true;
    return configs->hpa.observes_generation &&
           before->autoscaler.generation != managed.autoscaler.generation;
  }
  if (before == nullptr) return ticked_ || IsPushed(managed);
  return before->spec_hash != managed.spec_hash ||
         EffectiveMode(*before, options_.mode) != EffectiveMode(managed, options_.mode);
}

void Loop::OwnershipChanged() {
  ++ownership_epoch_;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, tracked] : tracked_) {
      // The streams of its triggers are opened or closed.
      if (IsPushed(*tracked->due.latest)) {
        WakeTracked(*tracked);
      } else if (deps_.ownership.Owns(key)) {
        DecideSoon(*tracked);
      }
    }
  }
  deps_.wake_up();
}

// For an autoscaler that may just have become ours. What was edited while nobody owned it was news
// to nobody, and what its last owner could not write is known to nobody. With rare slots it would
// wait for long.
void Loop::DecideSoon(TrackedAutoscaler& tracked) {
  if (tracked.due.latest_slots <= kMinute) return;
  BreakGroup(tracked);
  if (IsBusy(tracked.due)) {
    tracked.due.again = true;
    return;
  }
  const MonotonicTime soon =
      NextSlot(tracked.key.ns, options_.sync_period, deps_.clock.MonotonicNow());
  schedule_.Set(tracked, std::min(Schedule::DueAt(tracked).value_or(soon), soon));
}

void Loop::OnAutoscaler(ManagedPtr managed) {
  bool wake = false;
  ManagedPtr before;
  {
    absl::MutexLock lock(&mutex_);
    std::unique_ptr<TrackedAutoscaler>& tracked = tracked_[managed->key];
    const bool fresh = tracked == nullptr;
    if (fresh) tracked = std::make_unique<TrackedAutoscaler>(managed->key);
    BreakGroup(*tracked);
    const absl::Duration slots = SlotsOf(*managed, tracked->due.told_of_news);
    const bool other_cadence = std::exchange(tracked->due.latest_slots, slots) != slots;
    before = std::exchange(tracked->due.latest, managed);
    tracked->due.has_schedules = !managed->own.schedules.empty();
    const bool was_gone = std::exchange(tracked->due.gone, false);
    if (was_gone || (before != nullptr && before->autoscaler.uid != managed->autoscaler.uid)) {
      tracked->due.recreated = true;
    }
    if (other_cadence) Schedule(*tracked, deps_.clock.MonotonicNow());
    wake = other_cadence;
    if (IsNews(before.get(), *managed)) {
      WakeTracked(*tracked);
      wake = true;
    }
  }
  if (wake) deps_.wake_up();
  // The status of an HPA on which we do not act is the stock controller's. Observers are told of
  // it.
  if (before == nullptr || managed->key.kind != AutoscalerKind::kHpa ||
      EffectiveMode(*managed, options_.mode) == Mode::kAct ||
      SemanticallyEqual(before->autoscaler.status, managed->autoscaler.status)) {
    return;
  }
  for (DecisionObserver* observer : deps_.observers) observer->OnForeignStatus(managed);
}

void Loop::OnGone(const AutoscalerKey& key) {
  deps_.pods.Retire(key);  // from now on it is no rival of any other autoscaler
  {
    absl::MutexLock lock(&mutex_);
    const auto found = tracked_.find(key);
    if (found == tracked_.end()) return;
    BreakGroup(*found->second);
    found->second->due.gone = true;
    if (key.kind != AutoscalerKind::kOwn) return;  // forgotten at its next slot
    WakeTracked(*found->second);
  }
  deps_.wake_up();
}

void Loop::WakeTracked(TrackedAutoscaler& tracked) {
  BreakGroup(tracked);
  tracked.due.woken = true;
  if (IsBusy(tracked.due)) {
    tracked.due.again = true;
  } else {
    schedule_.Set(tracked, deps_.clock.MonotonicNow());
  }
}

void Loop::Wake(const AutoscalerKey& key) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found = tracked_.find(key);
    if (found == tracked_.end()) return;
    WakeTracked(*found->second);
  }
  deps_.wake_up();
}

// Forgets an autoscaler whose object is gone. Only Tick calls this, and only Tick begins cycles. So
// an object that is created meanwhile under the same name is not decided before the stores and
// observers have forgotten the earlier one.
void Loop::Erase(TrackedAutoscaler& tracked) {
  std::unique_ptr<TrackedAutoscaler> forgotten;  // destroyed outside the lock
  {
    absl::MutexLock lock(&mutex_);
    if (tracked.due.gone) {
      schedule_.Remove(tracked);
      forgotten = std::move(tracked_.extract(tracked.key).mapped());
    }
  }
  if (forgotten == nullptr) return Finish(tracked);  // created anew just now: it waits for its slot
  deps_.pods.Forget(forgotten->key);
  for (DecisionObserver* observer : deps_.observers) observer->OnForgotten(forgotten->key);
}

// ---- a cycle ------------------------------------------------------------------------------------

// Reads both clocks at the same time: if the thread is held up between the two readings, that must
// not look like a wall clock that was set.
DecideStep::Times Loop::Now() const {
  DecideStep::Times now;
  MonotonicTime looked;
  do {
    looked = deps_.clock.MonotonicNow();
    now.wall = deps_.clock.WallNow();
    now.monotonic = deps_.clock.MonotonicNow();
  } while (now.monotonic - looked > kOneLook);
  return now;
}

// The latest object with its schedules applied. The pointer stays the same while the result does.
const ManagedPtr& Loop::FollowSchedules(DueState& due) const {
  if (!due.has_schedules) return due.latest;
  ManagedPtr now = ScheduledAt(due.latest, options_.mode, deps_.clock.WallNow());
  const bool same = due.scheduled != nullptr && now->spec_hash == due.scheduled->spec_hash &&
                    now->scheduled == due.scheduled->scheduled &&
                    now->autoscaler.resource_version == due.scheduled->autoscaler.resource_version;
  if (!same) due.scheduled = std::move(now);
  return due.scheduled;
}

// Wakes the autoscalers whose schedules have opened or closed since their last cycle, if their
// slots are too rare to notice in time. A pause that ends within a minute waits for the next
// minute.
void Loop::WakeByMinute() {
  const absl::Time now = deps_.clock.WallNow();
  const absl::Time minute = absl::UnixEpoch() + absl::Floor(now - absl::UnixEpoch(), kMinute);
  if (std::exchange(minute_, minute) == minute) return;
  for (const auto& [key, tracked] : tracked_) {
    const DueState& due = tracked->due;
    if (!due.has_schedules || due.latest_slots <= kMinute || due.scheduled == nullptr) continue;
    const ManagedPtr managed = ScheduledAt(due.latest, options_.mode, now);
    if (managed->spec_hash != due.scheduled->spec_hash) WakeTracked(*tracked);
  }
}

// Takes an autoscaler whose slot has come. If its last cycle is still under way, this slot is lost.
void Loop::TakeDue(TrackedAutoscaler& tracked, MonotonicTime now, Begun& begun) {
  Schedule(tracked, now);
  if (!IsBusy(tracked.due)) BeginCycle(tracked, now, begun);
}

void Loop::TakeDue(SteadyGroup& group, MonotonicTime now, Begun& begun) {
  group.due.regular_slot =
      SlotAfter(group.due.regular_slot, group.terms.key->ns, group.due.slots, now);
  schedule_.Set(group, group.due.regular_slot);
  if (std::exchange(group.due.busy, true)) return;
  group.began = now;
  group.not_before = now - std::min(kShareAnswers, group.due.slots / 4);
  begun.groups.push_back(&group);
}

// Begins a cycle of an autoscaler, or notes in `begun` that it is to be erased.
void Loop::BeginCycle(TrackedAutoscaler& tracked, MonotonicTime now, Begun& begun) {
  tracked.due.busy = true;
  if (tracked.due.gone) {
    begun.gone.push_back(&tracked);
    return;
  }
  const ManagedPtr& managed = FollowSchedules(tracked.due);
  const bool other = tracked.inputs.managed != managed;
  if (other) tracked.inputs.managed = managed;
  if (std::exchange(tracked.due.recreated, false)) {
    tracked.decided.status_is_old = true;
    tracked.decided.last_active.reset();
    tracked.inputs.pods.selected = nullptr;  // OnGone retired it: it has to select its pods again
  }
  tracked.not_before = now;
  tracked.woken = std::exchange(tracked.due.woken, false);
  if (!tracked.woken) tracked.not_before -= std::min(kShareAnswers, tracked.due.slots / 4);
  tracked.not_steady = other || tracked.woken;
  begun.due.push_back(&tracked);
}

MonotonicTime Loop::Tick(MonotonicTime now) {
  Begun begun;
  MonotonicTime next;
  {
    absl::MutexLock lock(&mutex_);
    if (!std::exchange(ticked_, true)) {
      // These are of the first lists, before which all may have become ours already.
      for (const auto& [key, tracked] : tracked_) DecideSoon(*tracked);
    }
    WakeByMinute();
    for (Schedule::Item* item : schedule_.PopDue(now)) {
      CycleWaiter& waiter = static_cast<CycleWaiter&>(*item);
      if (waiter.of_many) {
        TakeDue(static_cast<SteadyGroup&>(waiter), now, begun);
      } else {
        TakeDue(static_cast<TrackedAutoscaler&>(waiter), now, begun);
      }
    }
    const MonotonicTime idle = now + kIdle;
    next = std::min(schedule_.Next().value_or(idle), idle);
  }
  // They are erased first, since that changes who the others' rivals are.
  for (TrackedAutoscaler* tracked : std::exchange(begun.gone, {})) Erase(*tracked);
  if (!begun.groups.empty()) DissolveOld(begun, now);
  for (TrackedAutoscaler* tracked : begun.gone) Erase(*tracked);
  if (begun.due.empty() && begun.groups.empty()) return next;
  deps_.plan.board.SetContext(deps_.ask_context());
  BeginAll(std::move(begun.due), std::move(begun.groups), now);
  return next;
}

// The selectors of all autoscalers that are due together are known before any of them asks for
// metrics, so that one question can cover all of them.
void Loop::BeginAll(std::vector<TrackedAutoscaler*> autoscalers, std::vector<SteadyGroup*> groups,
                    MonotonicTime now) {
  std::vector<TrackedAutoscaler*> asking;
  std::vector<TrackedAutoscaler*> ready;
  bool later = false;
  QuestionBoard::ToAsk to_ask;
  if (!autoscalers.empty()) {
    SteadyStep::Present present = deps_.steady.Look(ownership_epoch_.load(), Now());
    for (std::unique_ptr<SteadyGroup>& group : deps_.steady.TakeGroups(autoscalers, present)) {
      groups.push_back(group.get());
      absl::MutexLock lock(&mutex_);
      groups_.emplace(group.get(), std::move(group));
    }
  }
  BeginRounds(groups, to_ask);
  for (TrackedAutoscaler* tracked : autoscalers) {
    if (!Prepare(*tracked, now)) {
      Finish(*tracked);  // Finish, because it may have been woken since: it may be ours by now
      continue;
    }
    switch (FindScale(*tracked)) {
      case ReadStep::Found::kNotYet: {
        absl::MutexLock lock(&mutex_);
        tracked->due.busy = false;
        schedule_.Set(*tracked, now + kListWait);
        later = true;
        break;
      }
      case ReadStep::Found::kScale:
        deps_.read.SelectPods(*tracked);
        asking.push_back(tracked);
        break;
      case ReadStep::Found::kToBeAsked:
        tracked->phase = CyclePhase::kReadingScale;
        if (deps_.read.AskScale(*tracked) && Continue(*tracked, to_ask)) ready.push_back(tracked);
        break;
    }
  }
  for (TrackedAutoscaler* tracked : asking) {
    if (deps_.read.AskMetrics(*tracked, to_ask)) ready.push_back(tracked);
  }
  if (later) deps_.wake_up();
  deps_.plan.board.AskAll(std::move(to_ask));
  DecideAll(std::move(ready));
}

// Until the first lists of its namespace have arrived nothing is known, since other autoscalers may
// select the same pods. Other namespaces do not wait for that.
ReadStep::Found Loop::FindScale(TrackedAutoscaler& tracked) const {
  const std::string& ns = tracked.key.ns;
  const bool listed = deps_.autoscalers.Ready(ns).ok() && deps_.pods.Ready(ns).ok();
  return listed ? deps_.read.FindScale(tracked.inputs) : ReadStep::Found::kNotYet;
}

// Discards what was read under another configuration.
void Loop::FollowConfig(CycleInputs& inputs) const {
  MathConfigsPtr configs = deps_.configs.Get();
  if (inputs.configs == configs) return;
  inputs.configs = std::move(configs);
  inputs.plan.Renew();
  inputs.scale = ScaleReading();
  inputs.pods.selected = nullptr;
}

// Begins a cycle. False: the autoscaler is not to be decided now.
bool Loop::Prepare(TrackedAutoscaler& tracked, MonotonicTime now) {
  const Managed& managed = *tracked.inputs.managed;
  const Mode mode = EffectiveMode(managed, options_.mode);
  // Any replica may be asked for the counts that are advised, so every replica decides them.
  if (mode != Mode::kAdvise && !deps_.ownership.Owns(tracked.key)) {
    Disown(tracked);
    return false;
  }
  // A replica that advises has decided the autoscaler all the time, so it need not restore what
  // another replica remembered.
  const bool all_along = mode == Mode::kAdvise && tracked.inputs.mode == Mode::kAdvise;
  // What another owner has written meanwhile takes precedence over the last decision here. If the
  // shard was won back at once, its loss was not noticed until now.
  const uint64_t term = deps_.ownership.Term(tracked.key);
  if (std::exchange(tracked.decided.term, term) != term) {
    tracked.decided.status_is_old = true;
    if (!all_along) Disown(tracked);
  }
  const uint64_t epoch = ownership_epoch_.load();
  if (std::exchange(tracked.decided.ownership_epoch, epoch) != epoch && !all_along) {
    tracked.decided.restored = false;
  }
  if (!deps_.autoscalers.Unusable(tracked.key).empty()) return false;
  if (!managed.refused.empty()) {
    if (mode != Mode::kShadow) deps_.report.Refused(tracked, deps_.clock.WallNow(), now);
    return false;
  }
  CycleInputs& inputs = tracked.inputs;
  if (inputs.plan.Follow(inputs.managed, deps_.plan, [this, key = tracked.key] { Wake(key); })) {
    inputs.target = ScaleTarget();
    inputs.scale.scale = nullptr;
    inputs.pods.selected = nullptr;  // the new questions have to be told of the selector
  }
  FollowConfig(inputs);
  inputs.mode = mode;
  tracked.pace = SlotsOf(managed, tracked.due.told_of_news);
  tracked.began = now;
  return true;
}

// Another replica decides the autoscaler from now on: this one ends its triggers and forgets its
// last decision, except for its recommendations, its removals, and when a trigger was last active.
void Loop::Disown(TrackedAutoscaler& tracked) {
  tracked.inputs.plan.Drop();
  tracked.decided.put_to_sleep = false;
  if (!tracked.decided.made) return;
  tracked.decided.made = false;
  tracked.decided.restored = false;
  std::vector<Recommendation> recommended = std::move(tracked.decided.recommended_before);
  const std::vector<Recommendation>& last = tracked.decided.decision.state.recommendations;
  recommended.insert(recommended.end(), last.begin(), last.end());
  CompactRecommendations(recommended, tracked.decided.recommended_before);
  std::vector<ScaleEvent> removed = std::move(tracked.decided.decision.state.scale_downs);
  tracked.decided.decision = Decision();
  tracked.decided.decision.state.scale_downs = std::move(removed);
  tracked.written.status = StatusMarks();
  tracked.written.held_since.reset();
  for (DecisionObserver* observer : deps_.observers) observer->OnReleased(tracked.key);
}

// Continues once all answers of a phase have arrived. True: it was the last phase, or nothing has
// to be waited for, so the autoscaler can be decided.
bool Loop::Continue(TrackedAutoscaler& tracked, QuestionBoard::ToAsk& to_ask) {
  if (tracked.phase == CyclePhase::kReadingMetrics) return true;
  deps_.read.TakeAskedScale(tracked.inputs);
  deps_.read.SelectPods(tracked);
  return deps_.read.AskMetrics(tracked, to_ask);
}

void Loop::OnReady(absl::Span<AnswerWaiter* const> waiters) {
  std::vector<TrackedAutoscaler*> ready;
  ready.reserve(waiters.size());
  QuestionBoard::ToAsk to_ask;
  for (AnswerWaiter* waiter : waiters) {
    if (static_cast<CycleWaiter*>(waiter)->of_many) {
      EndRound(static_cast<SteadyGroup&>(*waiter));
      continue;
    }
    TrackedAutoscaler& tracked = static_cast<TrackedAutoscaler&>(*waiter);
    if (Continue(tracked, to_ask)) ready.push_back(&tracked);
  }
  if (!to_ask.empty()) deps_.plan.board.AskAll(std::move(to_ask));
  if (ready.size() > kBatch) return DecideAll(std::move(ready));
  // A few are decided on this thread: handing them to the pool would cost more.
  for (TrackedAutoscaler* tracked : ready) DecideNow(*tracked);
}

void Loop::DecideAll(std::vector<TrackedAutoscaler*> autoscalers) {
  for (size_t first = 0; first < autoscalers.size(); first += kBatch) {
    const size_t end = std::min(first + kBatch, autoscalers.size());
    deps_.run_decisions([this, batch = std::vector<TrackedAutoscaler*>(
                                   autoscalers.begin() + static_cast<ptrdiff_t>(first),
                                   autoscalers.begin() + static_cast<ptrdiff_t>(end))] {
      for (TrackedAutoscaler* tracked : batch) DecideNow(*tracked);
    });
  }
}

void Loop::DecideNow(TrackedAutoscaler& tracked) {
  static thread_local DecideScratch scratch;
  if (!IsOfThisTerm(tracked)) return Finish(tracked, /*decide_anew=*/true);
  const DecideStep::Times now = Now();
  CycleInputs& inputs = tracked.inputs;
  LastDecision& decided = tracked.decided;
  deps_.decide.TakeReadings(inputs, now.wall, scratch);
  // An autoscaler that is told of news is decided at each regular slot. Any other that is decided
  // on each sample has many slots in one period, and skips those at which nothing is new.
  const bool regular = tracked.due.told_of_news && !tracked.woken;
  const bool scale_is_known = inputs.scale.answer.failure == ScaleAnswer::Failure::kNone;
  const absl::Duration age = now.monotonic - decided.at;
  const bool retries = tracked.written.unfinished && age >= RetryAfter(tracked);
  if (inputs.managed->own.cadence.on_sample && !regular && age < PeriodOf(*inputs.managed) &&
      !(scale_is_known && (retries || DecideStep::IsNews(inputs, decided)))) {
    // Triggers are read only if the scale is known.
    if (scale_is_known) DecideStep::Prolong(now.monotonic, decided);
    return Finish(tracked);
  }
  deps_.decide.Decide(tracked, now, scratch);
  ++decisions_;
  if (decided.unchanged) ++unchanged_;
  const DecisionInput input = deps_.decide.InputOf(tracked, decided.decision.now);
  WriteOutcome write;
  if (decided.decision.rescale && !decided.unchanged) {
    if (inputs.mode == Mode::kAct) {
      const Lanes::Run run = deps_.write_lanes.For(tracked.key.ns, "scale");
      return run([this, &tracked] { WriteScale(tracked); });
    }
    write = deps_.act.Pretend(tracked, input);
  }
  // On an old scale less may have been decided than is published (views/advise.h).
  tracked.written.unfinished = write.unfinished() || (tracked.inputs.mode == Mode::kAdvise &&
                                                      ReadStep::MayBeOld(tracked.inputs));
  tracked.written.refusals = 0;
  deps_.report.Report(tracked, input, write, now.monotonic);
  deps_.steady.Note(tracked, now);
  Finish(tracked);
}

bool Loop::IsCurrent(const TrackedAutoscaler& tracked) const {
  absl::MutexLock lock(&mutex_);
  if (tracked.due.gone || !IsOfThisTerm(tracked)) return false;
  const ManagedPtr now = ScheduledAt(tracked.due.latest, options_.mode, deps_.clock.WallNow());
  return now->spec_hash == tracked.inputs.managed->spec_hash &&
         EffectiveMode(*now, options_.mode) == tracked.inputs.mode;
}

void Loop::WriteScale(TrackedAutoscaler& tracked) {
  const DecisionInput input = deps_.decide.InputOf(tracked, tracked.decided.decision.now);
  const WriteOutcome write =
      deps_.act.WriteScale(tracked, input, [&] { return IsCurrent(tracked); });
  tracked.written.unfinished = write.unfinished();
  tracked.written.refusals = write.refused ? tracked.written.refusals + 1 : 0;
  if (!IsOfThisTerm(tracked)) {
    if (write.kind != WriteOutcome::Kind::kWritten) return Finish(tracked, /*decide_anew=*/true);
    // The write is reported, but the decision was made without what other owners saved meanwhile,
    // and must not replace that.
    tracked.decided.restored = false;
  }
  deps_.report.Report(tracked, input, write, deps_.clock.MonotonicNow());
  Finish(tracked, write.kind == WriteOutcome::Kind::kOutdated);
}

void Loop::Finish(TrackedAutoscaler& tracked, bool decide_anew) {
  TrackedAutoscaler* const only = &tracked;
  FinishAll(absl::MakeConstSpan(&only, 1), decide_anew);
}

void Loop::FinishAll(absl::Span<TrackedAutoscaler* const> autoscalers, bool decide_anew) {
  bool again = false;
  const MonotonicTime now = deps_.clock.MonotonicNow();
  {
    absl::MutexLock lock(&mutex_);
    for (TrackedAutoscaler* tracked : autoscalers) {
      tracked->due.busy = false;
      tracked->due.steady = tracked->steady_on != nullptr;
      if (!tracked->due.steady) again |= FollowNews(*tracked);  // a steady one is not told of news
      if (std::exchange(tracked->due.again, false) || decide_anew) {
        schedule_.Set(*tracked, now);
        again = true;
      } else if (!tracked->due.steady && IsToBeTriedAgain(*tracked)) {
        schedule_.Set(*tracked, std::min(tracked->due.regular_slot, now + RetryAfter(*tracked)));
      }
    }
  }
  if (again) deps_.wake_up();
}

Loop::Stats Loop::stats() const {
  Stats stats;
  stats.decisions = decisions_.load();
  stats.unchanged = unchanged_.load();
  const MonotonicTime now = deps_.clock.MonotonicNow();
  absl::MutexLock lock(&mutex_);
  stats.autoscalers = tracked_.size();
  for (const auto& [key, tracked] : tracked_) {
    const CycleWaiter* due = tracked.get();
    if (tracked->due.group != nullptr) due = tracked->due.group;
    if (IsBusy(tracked->due) || Schedule::IsDue(*due, now)) ++stats.busy;
    if (tracked->due.steady) ++stats.steady;
    if (deps_.ownership.Owns(key)) ++stats.owned;
  }
  return stats;
}

}  // namespace flyball::scaler
