#include "adapter/live/scrape/scheduler.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "adapter/live/scrape/timing.h"

namespace flyball::scrape {
namespace {

// The wall clock may differ from a tick by this much although nobody set it: it is slewed, and two
// clocks are not read at the same moment.
constexpr absl::Duration kClockStep = absl::Milliseconds(100);

// The annotated pods of one namespace get no more threads than are left for all.
Lanes::Limits LimitsOfPods(int threads) {
  return {.threads = threads, .of_server = threads, .part_of_threads = 1, .part_of_server = 0};
}

}  // namespace

// A target and when it is due. The scraper is used by the thread that runs it; the rest is under
// the scheduler's lock.
struct Scheduler::Scheduled {
  Scheduled(std::shared_ptr<const Job> of, const Target& target, const MakeFetcher& make_fetcher,
            SampleStore& store, std::string of_ns, TargetBudgets budgets, Clock& clock)
      : job(of),
        ns(std::move(of_ns)),
        scraper(std::move(of), target, make_fetcher, store, std::move(budgets), clock) {}

  void EndIfActive() {
    if (life == Life::kActive) life = Life::kGone;
  }

  const std::shared_ptr<const Job> job;
  const std::string ns;  // of the pod that asked for it; "": the operator did
  TargetScraper scraper;
  MonotonicTime due;  // the next tick
  absl::Time tick;    // the wall time of `due`
  bool early = true;  // the next scrape is the first, before the first tick
  enum class Life {
    kActive,
    kGone,    // there is no such target any more
    kEnding,  // nor will there be: it waits for the time of its markers
  };
  Life life = Scheduled::Life::kActive;
  std::weak_ptr<Scheduled> successor;  // with another hash, if there is one
  bool has_waited = false;             // with its markers
  bool slow = false;
  bool told = false;     // that it fails
  absl::Status refusal;  // not OK: why it is not to be asked
  absl::Time last_scrape = absl::InfinitePast();
  ScrapeResult last;
};

Scheduler::Scheduler(Clock& clock, SampleStore& store, MakeFetcher make_fetcher,
                     SchedulerOptions options)
    : clock_(clock),
      store_(store),
      make_fetcher_(std::move(make_fetcher)),
      options_(options),
      series_of_pods_(options.max_bytes),
      samples_of_pods_(options.max_bytes / 8),
      others_({.series = std::make_shared<ByteBudget>(options.max_bytes),
               .samples = std::make_shared<ByteBudget>(options.max_bytes / 2)}),
      complaints_(clock, absl::Seconds(10)),
      quick_(options.quick_threads),
      slow_(options.slow_threads),
      quick_lanes_([this](std::function<void()> task) { quick_.Submit(std::move(task)); },
                   LimitsOfPods(options.quick_threads)),
      slow_lanes_([this](std::function<void()> task) { slow_.Submit(std::move(task)); },
                  LimitsOfPods(options.slow_threads)),
      thread_(clock, [this] { return BeginDue(); }) {
  thread_.Start();
}

Scheduler::~Scheduler() {
  thread_.Stop();
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, scheduled] : targets_) scheduled->scraper.Shutdown();
  }
  quick_.Stop();
  slow_.Stop();
}

TargetBudgets Scheduler::BudgetsFor(const Job& job, const std::string& ns) {
  if (!job.asked_for_by_pods) return others_;
  return {.series = series_of_pods_.Of(ns), .samples = samples_of_pods_.Of(ns)};
}

void Scheduler::Enqueue(const ScheduledPtr& scheduled, absl::Duration later) {
  const MonotonicTime at = scheduled->due + later;
  const bool first = due_.empty() || at < due_.begin()->first;
  due_.emplace(at, scheduled);
  if (first) thread_.Wake();
}

void Scheduler::ScheduleFirst(const ScheduledPtr& scheduled, size_t new_targets) {
  const Target& target = scheduled->scraper.target();
  const absl::Duration for_all =
      absl::Seconds(1) * static_cast<double>(new_targets) / options_.new_targets_per_second;
  const absl::Duration at_most = std::max(options_.first_within, options_.first_at_most);
  const absl::Duration window =
      std::min(target.interval, std::clamp(for_all, options_.first_within, at_most));
  const absl::Time now = clock_.WallNow();
  absl::Duration wait = FirstWait(now, target.interval, target.hash, options_.seed);
  // A target whose first tick is near needs no earlier scrape.
  scheduled->early = wait > window;
  if (scheduled->early) wait = FirstWait(now, window, target.hash, options_.seed);
  scheduled->due = clock_.MonotonicNow() + wait;
  scheduled->tick = now + wait;
  Enqueue(scheduled);
}

void Scheduler::ScheduleNext(const ScheduledPtr& scheduled) {
  const Target& target = scheduled->scraper.target();
  const MonotonicTime now = clock_.MonotonicNow();
  if (scheduled->early) {
    scheduled->early = false;
    const absl::Duration wait =
        FirstWait(scheduled->tick, target.interval, target.hash, options_.seed);
    scheduled->due += wait;
    scheduled->tick += wait;
  } else {
    scheduled->due += target.interval;
    scheduled->tick += target.interval;
  }
  // If several ticks have passed meanwhile, only the last one is made up for, at once.
  if (scheduled->due < now) {
    const absl::Duration missed = absl::Floor(now - scheduled->due, target.interval);
    scheduled->due += missed;
    scheduled->tick += missed;
  }
  Enqueue(scheduled);
}

absl::Time Scheduler::TickOf(const Scheduled& scheduled) const {
  const absl::Time wall = clock_.WallNow() + (scheduled.due - clock_.MonotonicNow());
  return absl::AbsDuration(wall - scheduled.tick) < kClockStep ? scheduled.tick : wall;
}

RepeatingThread::Next Scheduler::BeginDue() {
  const MonotonicTime now = clock_.MonotonicNow();
  absl::MutexLock lock(&mutex_);
  while (!due_.empty() && due_.begin()->first <= now) {
    const ScheduledPtr scheduled = due_.begin()->second;
    due_.erase(due_.begin());
    if (scheduled->life == Scheduled::Life::kGone) {
      scheduled->life = Scheduled::Life::kEnding;
      due_.emplace(scheduled->due + 1.1 * scheduled->scraper.target().interval, scheduled);
      continue;
    }
    Lanes& lanes = scheduled->slow ? slow_lanes_ : quick_lanes_;
    const Lanes::Run run = lanes.For(scheduled->ns, scheduled->ns.empty() ? "" : "pods");
    run([this, scheduled] { Run(scheduled); });
  }
  return {due_.empty() ? absl::InfiniteDuration() : due_.begin()->first};
}

Scheduler::ScheduledPtr Scheduler::SuccessorOf(const Scheduled& ending) const {
  const auto known = targets_.find({ending.job->name, ending.scraper.target().hash});
  ScheduledPtr successor = known == targets_.end() ? nullptr : known->second;
  if (successor == nullptr || successor.get() == &ending) successor = ending.successor.lock();
  const bool active = successor != nullptr && successor->life == Scheduled::Life::kActive;
  return active ? successor : nullptr;
}

// It waits if its successor has not yet scraped at the tick of its markers or later: then the
// markers would end series that continue.
std::optional<absl::Duration> Scheduler::WaitForSuccessor(const Scheduled& ending) const {
  const ScheduledPtr successor = SuccessorOf(ending);
  if (successor == nullptr || ending.has_waited || successor->last_scrape >= ending.tick) {
    return std::nullopt;
  }
  return 2.1 * std::max(ending.scraper.target().interval, successor->scraper.target().interval);
}

void Scheduler::Run(const ScheduledPtr& scheduled) {
  TargetScraper& scraper = scheduled->scraper;
  absl::Time tick;
  absl::Status refusal;
  bool ending = false;
  {
    absl::MutexLock lock(&mutex_);
    tick = scheduled->tick = TickOf(*scheduled);
    refusal = scheduled->refusal;
    ending = scheduled->life == Scheduled::Life::kEnding;
    if (const auto wait = ending ? WaitForSuccessor(*scheduled) : std::nullopt) {
      scheduled->has_waited = true;
      return Enqueue(scheduled, *wait);
    }
    const auto known = targets_.find({scraper.job().name, scraper.target().hash});
    if (ending && known != targets_.end() && known->second == scheduled) targets_.erase(known);
  }
  if (ending) return scraper.End(tick);
  const absl::Time begin = clock_.WallNow();
  ScrapeResult result = scraper.Scrape(tick, refusal);
  const std::string failure(result.status.message());
  bool tells = false;
  {
    absl::MutexLock lock(&mutex_);
    ++totals_.scrapes;
    if (!result.status.ok()) ++totals_.failed;
    if (result.status.ok()) totals_.samples += result.kept;
    totals_.no_room += result.no_room;
    tells = IsNews(*scheduled, result.status);
    scheduled->slow = result.duration > options_.slow || absl::IsDeadlineExceeded(result.status);
    scheduled->last = std::move(result);
    scheduled->last_scrape = begin;
    ScheduleNext(scheduled);
  }
  if (tells) {
    const std::string& path = scraper.target().path;  // the parameters may have a password
    spdlog::warn("scrape: job {}: {}{} fails: {}", scraper.job().name, scraper.target().origin,
                 path.substr(0, path.find('?')), failure);
  }
}

bool Scheduler::IsNews(Scheduled& scheduled, const absl::Status& failure) {
  // One that Shutdown has interrupted says nothing of the target.
  if (absl::IsCancelled(failure)) return false;
  const bool told = std::exchange(scheduled.told, !failure.ok());
  if (failure.ok() || told) return false;
  scheduled.told = complaints_.Due(scheduled.job->name);
  return scheduled.told;
}

void Scheduler::Activate(const std::shared_ptr<const Job>& job, const Targets& targets) {
  const absl::Status refusal =
      targets.over_limit
          ? absl::ResourceExhaustedError("the job has more targets than target_limit")
          : absl::OkStatus();
  std::vector<ScheduledPtr> added;
  for (const Target& target : targets.active) {
    ScheduledPtr& scheduled = targets_[{job->name, target.hash}];
    // Markers that are about to be written can't be taken back.
    const bool goes_on = scheduled != nullptr && scheduled->job == job &&
                         scheduled->life != Scheduled::Life::kEnding;
    if (!goes_on) {
      // Another scraper replaces it, with the same ticks. When this one's markers are due, the
      // series that continue have newer samples, so only the others end.
      if (scheduled != nullptr) {
        scheduled->EndIfActive();
        scheduled->scraper.Shutdown();
      }
      const std::string ns = NamespaceOf(*job, target);
      scheduled = std::make_shared<Scheduled>(job, target, make_fetcher_, store_, ns,
                                              BudgetsFor(*job, ns), clock_);
      added.push_back(scheduled);
    }
    scheduled->life = Scheduled::Life::kActive;
    scheduled->refusal = refusal;
  }
  for (const ScheduledPtr& scheduled : added) ScheduleFirst(scheduled, added.size());
  NameSuccessors(job->name, targets);
}

// A target with another interval, for example, has another hash but the same series.
void Scheduler::NameSuccessors(const std::string& job_name, const Targets& targets) {
  if (targets.active.empty()) return;
  absl::flat_hash_map<promql::LabelSet, uint64_t> hashes;
  for (const Target& target : targets.active) hashes[target.sample_labels] = target.hash;
  for (auto place = targets_.lower_bound({job_name, 0});
       place != targets_.end() && place->first.first == job_name; ++place) {
    Scheduled& gone = *place->second;
    if (gone.life == Scheduled::Life::kActive) continue;
    const auto found = hashes.find(gone.scraper.target().sample_labels);
    if (found != hashes.end()) gone.successor = targets_[{job_name, found->second}];
  }
}

void Scheduler::Replace(const std::shared_ptr<const Job>& job, const Targets& targets) {
  absl::flat_hash_set<uint64_t> hashes;
  for (const Target& target : targets.active) hashes.insert(target.hash);
  absl::MutexLock lock(&mutex_);
  incomplete_.erase(job->name);
  if (targets.incomplete) incomplete_.insert(job->name);
  for (auto place = targets_.lower_bound({job->name, 0});
       place != targets_.end() && place->first.first == job->name; ++place) {
    // What was discovered for this very job and is missing now is gone.
    const bool may_come = targets.incomplete && place->second->job != job;
    if (!may_come && !hashes.contains(place->first.second)) place->second->EndIfActive();
  }
  Activate(job, targets);
}

void Scheduler::Change(const std::shared_ptr<const Job>& job, const Targets& targets,
                       const std::vector<uint64_t>& gone) {
  absl::MutexLock lock(&mutex_);
  for (const uint64_t hash : gone) {
    const auto found = targets_.find({job->name, hash});
    // A target of an earlier object may still be discovered.
    if (found != targets_.end() && found->second->job == job) found->second->EndIfActive();
  }
  Activate(job, targets);
}

bool Scheduler::HasAllTargets() const {
  absl::MutexLock lock(&mutex_);
  return incomplete_.empty();
}

void Scheduler::Remove(const std::string& job_name) {
  auto job = std::make_shared<Job>();
  job->name = job_name;
  Replace(job, {});
}

Scheduler::Totals Scheduler::totals() const {
  absl::MutexLock lock(&mutex_);
  return totals_;
}

std::vector<TargetState> Scheduler::States() const {
  std::vector<TargetState> states;
  absl::MutexLock lock(&mutex_);
  for (const auto& [key, scheduled] : targets_) {
    if (scheduled->life != Scheduled::Life::kActive) continue;
    states.push_back(
        {scheduled->scraper.target(), key.first, scheduled->last_scrape, scheduled->last});
  }
  return states;
}

}  // namespace flyball::scrape
