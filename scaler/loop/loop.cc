#include "scaler/loop/loop.h"

#include <algorithm>
#include <utility>

namespace flyball::scaler {
namespace {

// An answer that was asked for this much before a cycle began still counts for it.
constexpr absl::Duration kShareAnswers = absl::Milliseconds(100);
// How often autoscalers that are decided on each sample ask for their readings.
constexpr absl::Duration kSampleInterval = absl::Milliseconds(200);
// When what is not listed yet is looked for again.
constexpr absl::Duration kListWait = absl::Milliseconds(200);
constexpr absl::Duration kIdle = absl::Seconds(1);
// How many decisions are handed to a thread at once.
constexpr size_t kBatch = 32;

// Whether it has a trigger whose server tells of activity once somebody listens.
bool IsPushed(const Managed& managed) {
  return std::any_of(managed.own.triggers.begin(), managed.own.triggers.end(),
                     [](const TriggerSpec& trigger) { return trigger.type == "external-push"; });
}

}  // namespace

Loop::Loop(Parts parts, const Options& options) : parts_(std::move(parts)), options_(options) {}
Loop::~Loop() {
  // Ended outside the lock: a trigger's end waits for its callback, which may be about to Wake.
  decltype(entries_) gone;
  absl::MutexLock lock(&mutex_);
  gone.swap(entries_);
}

// ---- what there is ------------------------------------------------------------------------------

absl::Duration Loop::PeriodOf(const Managed& managed) const {
  return std::max(managed.own.cadence.interval.value_or(options_.sync_period), kSampleInterval);
}

absl::Duration Loop::SlotsOf(const Managed& managed) const {
  return managed.own.cadence.on_sample ? kSampleInterval : PeriodOf(managed);
}

void Loop::Schedule(Entry& entry, MonotonicTime now) {
  const absl::Duration slots = SlotsOf(*entry.latest);
  const bool regular =
      slots == entry.slots && entry.regular_slot <= now && entry.regular_slot + slots > now;
  entry.slots = slots;
  entry.regular_slot = regular ? entry.regular_slot + slots : NextSlot(entry.key.ns, slots, now);
  schedule_.Set(entry, entry.regular_slot);
}

// Our own kind is decided as soon as its spec is another one: who waits for a push may have a
// cadence of an hour. Of the first lists only what is pushed to: the rest keeps to its slots, as
// HorizontalPodAutoscalers always do.
bool Loop::IsNews(const Managed* before, const Managed& managed) const {
  if (managed.key.kind != AutoscalerKind::kOwn) return false;
  if (before != nullptr) return before->spec_hash != managed.spec_hash;
  return ticked_ || IsPushed(managed);
}

void Loop::OwnershipChanged() {
  ++ownership_epoch_;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, entry] : entries_) {
      if (IsPushed(*entry->latest)) WakeEntry(*entry);  // its streams are opened or closed
    }
  }
  parts_.wake_up();
}

void Loop::OnAutoscaler(ManagedPtr managed) {
  bool wake = false;
  ManagedPtr before;
  {
    absl::MutexLock lock(&mutex_);
    std::unique_ptr<Entry>& entry = entries_[managed->key];
    const bool fresh = entry == nullptr;
    if (fresh) entry = std::make_unique<Entry>(managed->key);
    const bool other_cadence =
        fresh || entry->latest == nullptr || SlotsOf(*entry->latest) != SlotsOf(*managed);
    before = std::exchange(entry->latest, managed);
    const bool was_gone = std::exchange(entry->gone, false);
    if (was_gone || (before != nullptr && before->autoscaler.uid != managed->autoscaler.uid)) {
      entry->recreated = true;
    }
    if (entry->group_at_rest != nullptr) {
      Leave(*entry, /*at_once=*/other_cadence);
    } else if (other_cadence) {
      Schedule(*entry, parts_.clock.MonotonicNow());
    }
    wake = other_cadence;
    if (IsNews(before.get(), *managed)) {
      WakeEntry(*entry);
      wake = true;
    }
  }
  if (wake) parts_.wake_up();
  // Of an HPA that we only watch, the status is the stock controller's.
  if (before == nullptr || managed->key.kind != AutoscalerKind::kHpa ||
      EffectiveMode(*managed, options_.mode) == Mode::kAct ||
      SemanticallyEqual(before->autoscaler.status, managed->autoscaler.status)) {
    return;
  }
  for (DecisionObserver* observer : parts_.observers) observer->OnForeignStatus(managed);
}

void Loop::OnGone(const AutoscalerKey& key) {
  parts_.pods.Retire(key);  // it is nobody's rival any more
  absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second->gone = true;  // forgotten at its next slot
  if (found->second->group_at_rest != nullptr) Leave(*found->second, /*at_once=*/false);
}

void Loop::WakeEntry(Entry& entry) {
  entry.woken = true;
  if (entry.busy) {
    entry.again = true;
  } else if (entry.group_at_rest != nullptr) {
    Leave(entry, /*at_once=*/true);
  } else {
    schedule_.Set(entry, parts_.clock.MonotonicNow());
  }
}

void Loop::Wake(const AutoscalerKey& key) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    WakeEntry(*found->second);
  }
  parts_.wake_up();
}

// Of an object that was made anew while this one is forgotten, the entry begins anew too.
void Loop::Erase(Entry& entry) {
  parts_.pods.Forget(entry.key);
  for (DecisionObserver* observer : parts_.observers) observer->OnForgotten(entry.key);
  std::unique_ptr<Entry> forgotten;  // ends outside the lock
  {
    absl::MutexLock lock(&mutex_);
    const auto found = entries_.find(entry.key);
    schedule_.Remove(entry);
    forgotten = std::move(found->second);
    if (forgotten->gone) {
      entries_.erase(found);
      return;
    }
    found->second = std::make_unique<Entry>(forgotten->key);
    found->second->latest = forgotten->latest;
    Schedule(*found->second, parts_.clock.MonotonicNow());
  }
  parts_.wake_up();
}

// ---- a cycle ------------------------------------------------------------------------------------

DecideStep::Times Loop::Now() const {
  return {.wall = parts_.clock.WallNow(), .monotonic = parts_.clock.MonotonicNow()};
}

// Its slot has come, or its rest is over.
void Loop::TakeDue(Entry& entry, MonotonicTime now, std::vector<Entry*>& due,
                   std::vector<Entry*>& gone) {
  entry.group_at_rest = nullptr;
  Schedule(entry, now);
  if (entry.busy) return;  // it is late; its next slot is its next chance
  entry.busy = true;
  if (entry.gone) {
    gone.push_back(&entry);
    return;
  }
  entry.managed = entry.latest;
  if (std::exchange(entry.recreated, false)) {
    entry.status_is_old = true;
    entry.group = nullptr;  // it was retired among those that select the same pods
  }
  entry.not_before = now;
  if (!std::exchange(entry.woken, false)) {
    entry.not_before -= std::min(kShareAnswers, entry.slots / 4);
  }
  due.push_back(&entry);
}

MonotonicTime Loop::Tick(MonotonicTime now) {
  std::vector<Entry*> due;
  std::vector<Entry*> gone;
  std::vector<DueGroup> groups;
  MonotonicTime next;
  {
    absl::MutexLock lock(&mutex_);
    ticked_ = true;
    for (Schedule::Item* item : schedule_.PopDue(now)) {
      TakeDue(static_cast<Entry&>(*item), now, due, gone);
    }
    groups = DueGroups(now, due, gone);
    const MonotonicTime idle = now + kIdle;
    next = std::min({schedule_.Next().value_or(idle), rounds_.Next().value_or(idle), idle});
  }
  for (DueGroup& one : groups) {
    const std::vector<Entry*> leaving = parts_.rest.Begin(
        *one.group, std::move(one.change), {.wall = parts_.clock.WallNow(), .monotonic = now});
    absl::MutexLock lock(&mutex_);
    for (Entry* entry : leaving) TakeDue(*entry, now, due, gone);
  }
  for (Entry* entry : gone) Erase(*entry);
  if (!due.empty() || !groups.empty()) parts_.plan.board.SetContext(parts_.ask_context());
  if (!due.empty()) BeginAll(due, now);
  AskRounds(groups, now);
  return next;
}

// Autoscalers that are due together learn of each other's selectors before any of them asks.
void Loop::BeginAll(const std::vector<Entry*>& entries, MonotonicTime now) {
  std::vector<Entry*> asking;
  std::vector<Entry*> ready;
  std::vector<QuestionBoard::Handle> to_ask;
  for (Entry* entry : entries) {
    if (!Prepare(*entry, now)) {
      Finish(*entry);  // it may have become ours meanwhile
      continue;
    }
    switch (parts_.read.FindScale(*entry)) {
      case ReadStep::Found::kNotYet: {
        absl::MutexLock lock(&mutex_);
        entry->busy = false;
        schedule_.Set(*entry, now + kListWait);
        break;
      }
      case ReadStep::Found::kScale:
        parts_.read.SelectPods(*entry);
        asking.push_back(entry);
        break;
      case ReadStep::Found::kToBeAsked:
        entry->phase = CyclePhase::kReadingScale;
        if (parts_.read.AskScale(*entry) && Continue(*entry, to_ask)) ready.push_back(entry);
        break;
    }
  }
  for (Entry* entry : asking) {
    if (parts_.read.AskMetrics(*entry, to_ask)) ready.push_back(entry);
  }
  parts_.plan.board.AskAll(std::move(to_ask));
  DecideAll(std::move(ready));
}

// False: it is not decided now.
bool Loop::Prepare(Entry& entry, MonotonicTime now) {
  const Managed& managed = *entry.managed;
  const Mode mode = EffectiveMode(managed, options_.mode);
  // Any replica may be asked for the counts that are advised: each of them decides those.
  if (mode != Mode::kAdvise && !parts_.ownership.Owns(entry.key)) {
    Disown(entry);
    return false;
  }
  const uint64_t epoch = ownership_epoch_.load();
  if (entry.ownership_epoch != epoch) {
    entry.ownership_epoch = epoch;
    // Whoever advises has seen all that others would remember.
    if (mode != Mode::kAdvise || entry.mode != Mode::kAdvise) entry.restored = false;
  }
  if (!managed.refused.empty() || !parts_.autoscalers.Unusable(entry.key).empty()) return false;
  const bool other_target = entry.planned_hash != managed.spec_hash;
  if (other_target) {
    entry.planned_hash = managed.spec_hash;
    entry.target = ScaleTarget();
    entry.scale.scale = nullptr;
  }
  entry.plan.Follow(entry.managed, parts_.plan, [this, key = entry.key] { Wake(key); });
  entry.mode = mode;
  entry.pace = SlotsOf(managed);
  entry.began = now;
  entry.scale_written = false;
  entry.scale_error.clear();
  entry.dropped = false;
  return true;
}

// What another replica decides from now on is not remembered here, nor are its triggers listened
// to.
void Loop::Disown(Entry& entry) {
  entry.plan.Drop();
  if (!entry.decided) return;
  entry.decided = false;
  entry.restored = false;
  entry.decision = Decision();
  entry.marks = StatusMarks();
  for (DecisionObserver* observer : parts_.observers) observer->OnReleased(entry.key);
}

// All answers of a phase are there. True: those of the last one, so that it can be decided.
bool Loop::Continue(Entry& entry, std::vector<QuestionBoard::Handle>& to_ask) {
  if (entry.phase == CyclePhase::kReadingMetrics) return true;
  parts_.read.TakeAskedScale(entry);
  parts_.read.SelectPods(entry);
  return parts_.read.AskMetrics(entry, to_ask);
}

void Loop::OnReady(absl::Span<AnswerWaiter* const> waiters) {
  std::vector<Entry*> ready;
  ready.reserve(waiters.size());
  std::vector<QuestionBoard::Handle> to_ask;
  for (AnswerWaiter* waiter : waiters) {
    if (static_cast<CycleWaiter*>(waiter)->of_many) {
      EndRound(static_cast<RestGroup&>(*waiter));
      continue;
    }
    Entry& entry = static_cast<Entry&>(*waiter);
    if (Continue(entry, to_ask)) ready.push_back(&entry);
  }
  if (!to_ask.empty()) parts_.plan.board.AskAll(std::move(to_ask));
  if (ready.size() > kBatch) return DecideAll(std::move(ready));
  // A few are decided where they are: handing them on would cost more.
  for (Entry* entry : ready) DecideNow(*entry);
}

void Loop::DecideAll(std::vector<Entry*> entries) {
  for (size_t first = 0; first < entries.size(); first += kBatch) {
    const size_t end = std::min(first + kBatch, entries.size());
    parts_.run_decisions(
        [this, batch = std::vector<Entry*>(entries.begin() + static_cast<ptrdiff_t>(first),
                                           entries.begin() + static_cast<ptrdiff_t>(end))] {
          for (Entry* entry : batch) DecideNow(*entry);
        });
  }
}

void Loop::DecideNow(Entry& entry) {
  static thread_local DecideScratch scratch;
  const DecideStep::Times now = Now();
  parts_.decide.TakeReadings(entry, now, scratch);
  if (entry.managed->own.cadence.on_sample &&
      now.monotonic - entry.decided_at < PeriodOf(*entry.managed) &&
      (entry.scale.answer.failure != ScaleAnswer::Failure::kNone || !DecideStep::IsNews(entry))) {
    return Finish(entry);  // nothing new was sampled
  }
  parts_.decide.Decide(entry, now, scratch);
  ++decisions_;
  if (entry.unchanged) ++unchanged_;
  const DecisionInput input = parts_.decide.InputOf(entry, entry.decision.now);
  if (entry.decision.rescale && !entry.unchanged) {
    if (entry.mode == Mode::kAct) {
      return parts_.run_writes([this, &entry] { WriteScale(entry); });
    }
    ActStep::Pretend(input, entry.decision);
  }
  parts_.report.Report(entry, input, now.monotonic);
  std::optional<RestMember> member = parts_.rest.MayRest(entry, now);
  if (member.has_value()) return PutToRest(*std::move(member));
  Finish(entry);
}

bool Loop::IsCurrent(const Entry& entry) const {
  absl::MutexLock lock(&mutex_);
  return !entry.gone && entry.latest->spec_hash == entry.managed->spec_hash &&
         EffectiveMode(*entry.latest, options_.mode) == entry.mode;
}

void Loop::WriteScale(Entry& entry) {
  const DecisionInput input = parts_.decide.InputOf(entry, entry.decision.now);
  parts_.act.WriteScale(entry, input, [&] { return IsCurrent(entry); });
  const MonotonicTime now = parts_.clock.MonotonicNow();
  if (entry.dropped) {
    parts_.report.ReportDropped(entry, now);
  } else {
    parts_.report.Report(entry, input, now);
  }
  Finish(entry);
}

void Loop::Finish(Entry& entry) {
  bool again = false;
  {
    absl::MutexLock lock(&mutex_);
    entry.busy = false;
    again = std::exchange(entry.again, false) || std::exchange(entry.decide_anew, false);
    if (again) schedule_.Set(entry, parts_.clock.MonotonicNow());
  }
  if (again) parts_.wake_up();
}

Loop::Stats Loop::stats() const {
  Stats stats;
  stats.decisions = decisions_.load();
  stats.unchanged = unchanged_.load();
  absl::MutexLock lock(&mutex_);
  stats.autoscalers = entries_.size();
  for (const auto& [key, entry] : entries_) {
    if (entry->busy) ++stats.busy;
    if (entry->group_at_rest != nullptr) ++stats.resting;
    if (parts_.ownership.Owns(key)) ++stats.owned;
  }
  return stats;
}

}  // namespace flyball::scaler
