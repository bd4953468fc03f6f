#include "serve/live_source.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "adapter/live/store/store_file.h"
#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "promql/parser.h"
#include "rules/used_series.h"
#include "serve/live_metrics.h"

namespace flyball::serve {
namespace {

// How often it checks for new series: a metric is offered this soon after its first sample.
constexpr absl::Duration kLookEvery = absl::Milliseconds(500);
// Each pod that appears has new series with names that others already have, and a relist reads all
// series. So after it has reported such series it is silent for this many times the duration of the
// last relist, within these bounds.
constexpr int kSilentTimes = 20;
constexpr absl::Duration kSilentAtLeast = absl::Seconds(5);
constexpr absl::Duration kSilentAtMost = absl::Minutes(1);
constexpr absl::Duration kPruneEvery = absl::Seconds(5);
// If the wall clock moves against the monotonic clock by more than this, it was set, or the machine
// was suspended.
constexpr absl::Duration kClockStep = absl::Seconds(2);
// An API server that is unreachable must not keep series unknown for longer that do not need it.
constexpr absl::Duration kLookForTargets = absl::Minutes(1);
constexpr absl::Duration kSnapshotEvery = absl::Minutes(1);
constexpr absl::Duration kLookAtScrapeConfigEvery = absl::Seconds(1);

// A series with a later sample would not accept a present one.
int64_t LatestOfNow(const live::Store& store, int64_t now_ms) {
  return now_ms + store.options().out_of_order_ms;
}

// Since when the store has all samples of the series that a selector matches. Samples of a snapshot
// count if its newest one is no older than `warmup`, so that no gap matters, and none is so far in
// the future that the clock must have been set back.
int64_t KnownSince(const live::Store& store, const live::Selector& selector, int64_t now_ms,
                   absl::Duration warmup) {
  int64_t oldest_ms = now_ms;
  int64_t newest_ms = std::numeric_limits<int64_t>::min();
  std::vector<promql::Point> points;
  for (const auto& series : store.SelectInAnyOrder(selector)) {
    points.clear();
    series->Read(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), points);
    if (points.empty()) continue;
    oldest_ms = std::min(oldest_ms, points.front().time_ms);
    newest_ms = std::max(newest_ms, points.back().time_ms);
  }
  if (newest_ms > LatestOfNow(store, now_ms)) return now_ms;
  const bool goes_on = newest_ms >= now_ms - absl::ToInt64Milliseconds(warmup);
  return goes_on ? oldest_ms : now_ms;
}

// The jobs that flags ask for.
std::vector<scrape::Job> JobsOf(const LiveFlags& flags,
                                const http::TransportOptions& kubelet_access) {
  std::vector<scrape::Job> jobs;
  if (flags.scrape_annotated > absl::ZeroDuration()) {
    jobs.push_back(scrape::AnnotatedPods(flags.scrape_annotated));
  }
  if (flags.scrape_kubelets > absl::ZeroDuration()) {
    jobs.push_back(kubelet::KubeletJob(flags.scrape_kubelets, kubelet_access));
  }
  return jobs;
}

}  // namespace

// The live source's metrics, read at each scrape. The server that shows them is destroyed first.
class LiveSource::Metrics : public prometheus::Collectable {
 public:
  explicit Metrics(const LiveSource& source) : source_(source) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    absl::MutexLock lock(&source_.mutex_);
    const Scraping* const scraping = source_.scraping_.get();
    return LiveFamilies(
        source_.store_.counts(), source_.ingest_.totals(),
        scraping == nullptr ? scrape::Scheduler::Totals() : scraping->totals(),
        scraping == nullptr ? std::vector<scrape::TargetState>() : scraping->States(),
        source_.LastScrapeReload().ok());
  }

 private:
  const LiveSource& source_;
};

LiveSource::LiveSource(const LiveFlags& flags, Deps deps, std::unique_ptr<ScrapeFile> scrape_file)
    : flags_(flags),
      deps_(std::move(deps)),
      store_(StoreOptionsFrom(flags)),
      live_(store_, deps_.clock, LiveOptionsFrom(flags)),
      ingest_(store_, live::Ingest::kKnownSeries, CanonicalBoundsFrom(flags)),
      push_pages_(ingest_, push_room_, deps_.clock, PushLimitsFrom(flags)),
      otlp_(ingest_, OtlpOptionsFrom(flags)),
      otlp_pages_(otlp_, push_room_, deps_.clock,
                  {.max_uncompressed_bytes = PushLimitsFrom(flags).max_uncompressed_bytes}),
      query_pages_(store_, ingest_.metadata(), deps_.clock, QueryPagesOptionsFrom(flags)),
      scraped_(store_, ingest_),
      metrics_(std::make_shared<Metrics>(*this)),
      scrape_file_(std::move(scrape_file)),
      next_prune_(deps_.clock.MonotonicNow() + kPruneEvery),
      end_past_from_(deps_.clock.MonotonicNow() + flags_.warmup),
      look_for_targets_until_(deps_.clock.MonotonicNow() + kLookForTargets),
      clock_began_(deps_.clock.WallNow() - deps_.clock.MonotonicNow()),
      thread_(deps_.clock, [this] { return Step(); }),
      snapshots_(deps_.clock, [this] {
        SaveSnapshot();
        return kSnapshotEvery;
      }) {
  if (flags_.scrape_kubelets > absl::ZeroDuration()) {
    kubelets_.emplace(deps_.clock, flags_.scrape_kubelets);
  }
  if (deps_.past != nullptr) {
    warm_start_.emplace(
        adapter::WarmStart::Deps{.store = store_,
                                 .past = *deps_.past,
                                 .clock = deps_.clock,
                                 .warmed_up = [this] { return HasWarmedUp(); },
                                 .known = [this](const adapter::WarmStart::Kept& kept,
                                                 int64_t since_ms) { Know(kept, since_ms); }},
        flags_.retention, flags_.warmup);
  }
}

absl::StatusOr<std::unique_ptr<LiveSource>> LiveSource::Make(const LiveFlags& flags, Deps deps) {
  ASSIGN_OR_RETURN(auto scrape_file,
                   ScrapeFile::Open(flags.scrape_config, JobsOf(flags, deps.kubelet_access)));
  auto made = absl::WrapUnique(new LiveSource(flags, std::move(deps), std::move(scrape_file)));
  made->LoadSnapshot();
  return made;
}

LiveSource::~LiveSource() { Stop(); }

std::shared_ptr<prometheus::Collectable> LiveSource::metrics() const { return metrics_; }

std::vector<http::Pages*> LiveSource::pages() {
  if (!flags_.push) return {&query_pages_};
  return {&query_pages_, &push_pages_, &otlp_pages_};
}

void LiveSource::SetRules(const rules::CompiledRules& rules) {
  std::optional<std::vector<live::Selector>> kept = rules::UsedSeries(rules);
  if (!kept) {
    spdlog::info("live source: every series is kept, as some rule does not show what it reads");
  } else {
    for (const std::string& selector : flags_.keep) {
      kept->push_back(promql::ParseSeriesSelector(selector)->matchers);
    }
  }
  const int64_t now_ms = absl::ToUnixMillis(deps_.clock.WallNow());
  std::vector<adapter::WarmStart::Kept> without_past;
  {
    absl::MutexLock lock(&rules_mutex_);
    if (!kept_since_) {
      kept_since_ = SinceSnapshot(kept, now_ms);
      first_rules_ms_ = now_ms;
      store_.DropLaterThan(LatestOfNow(store_, now_ms));
    }
    // Until the store keeps them, the beginning of newly kept series is not known.
    TellKept(kept_since_->After(kept, std::numeric_limits<int64_t>::max()));
    store_.Keep(kept);
    kept_since_ = kept_since_->After(kept, absl::ToUnixMillis(deps_.clock.WallNow()));
    TellKept(*kept_since_);
    for (const live::Selector& selector : kept.value_or(std::vector<live::Selector>())) {
      const int64_t since_ms = kept_since_->Of(selector);
      if (since_ms >= now_ms) without_past.push_back({selector, since_ms});
    }
  }
  if (warm_start_) warm_start_->Add(std::move(without_past));
}

void LiveSource::Know(const adapter::WarmStart::Kept& kept, int64_t since_ms) {
  absl::MutexLock lock(&rules_mutex_);
  // The clock was set, or a reload dropped them and another one took them back, without samples.
  if (kept_since_->Of(kept.selector) != kept.since_ms) return;
  kept_since_ = kept_since_->Earlier(kept.selector, since_ms);
  TellKept(*kept_since_);
}

adapter::KeptSince LiveSource::SinceSnapshot(
    const std::optional<std::vector<live::Selector>>& selectors, int64_t now_ms) const {
  // Samples of some series say nothing about other series that a wider selector matches.
  std::vector<adapter::KeptSince::Kept> kept =
      adapter::KeptSince(snapshot_kept_).After(selectors, now_ms).kept();
  for (adapter::KeptSince::Kept& one : kept) {
    one.since_ms =
        one.since_ms < now_ms
            ? std::max(one.since_ms, KnownSince(store_, one.selector, now_ms, flags_.warmup))
            : now_ms;
  }
  return adapter::KeptSince(std::move(kept));
}

absl::Status LiveSource::Scrape(const scrape::Config& config) {
  Scraping* scraping = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    if (scraping_ == nullptr && !config.jobs.empty()) {
      ASSIGN_OR_RETURN(scraping_, UnlessNoThread([&] { return MakeScraping(); }));
    }
    scraping = scraping_.get();
  }
  // Stop takes it away only after the last call.
  if (scraping == nullptr) return absl::OkStatus();
  scrape::Config of_dialect = config;
  for (scrape::Job& job : of_dialect.jobs) job.canonical_bounds = CanonicalBoundsFrom(flags_);
  return scraping->Apply(of_dialect);
}

std::unique_ptr<Scraping> LiveSource::MakeScraping() {
  // When the warm-up is over, each target must have been scraped, and not only be under way.
  const bool warms_up = flags_.warmup > absl::ZeroDuration();
  return std::make_unique<Scraping>(
      Scraping::Deps{.clock = deps_.clock,
                     .store = scraped_,
                     .connect = deps_.connect,
                     .own_namespace = deps_.own_namespace,
                     .fetch = Fetch(),
                     .max_bytes = store_.options().max_bytes,
                     .first_at_most = warms_up ? flags_.warmup / 2 : absl::InfiniteDuration()});
}

scrape::MakeFetcher LiveSource::Fetch() {
  scrape::MakeFetcher over_http = scrape::FetchOverHttp(deps_.clock);
  return kubelets_ ? kubelets_->Reading(std::move(over_http)) : over_http;
}

absl::Status LiveSource::Start() {
  RETURN_IF_ERROR(
      scrape_file_->Watch(deps_.clock, kLookAtScrapeConfigEvery,
                          [this](const scrape::Config& config) { return Scrape(config); }));
  live_.Start();
  thread_.Start();
  if (!flags_.snapshot.empty()) snapshots_.Start(kSnapshotEvery);
  if (warm_start_) warm_start_->Start();
  return absl::OkStatus();
}

void LiveSource::Stop() {
  scrape_file_->StopWatching();
  std::unique_ptr<Scraping> scraping;
  {
    absl::MutexLock lock(&mutex_);
    scraping = std::move(scraping_);
  }
  scraping.reset();
  if (warm_start_) warm_start_->Stop();
  const bool first = !thread_.stopping();
  thread_.Stop();
  live_.Stop();
  snapshots_.Stop();
  if (first) SaveSnapshot();
}

void LiveSource::LoadSnapshot() {
  if (flags_.snapshot.empty()) return;
  auto loaded =
      live::LoadStoreFile(flags_.snapshot, absl::ToUnixMillis(deps_.clock.WallNow()), store_);
  if (absl::IsNotFound(loaded.status())) {
    spdlog::info("--live-snapshot: there is no {} yet", flags_.snapshot);
  } else if (!loaded.ok()) {
    // The server starts even if it cannot read its past.
    spdlog::error("--live-snapshot: {}", std::string(loaded.status().message()));
  } else {
    spdlog::info("--live-snapshot: {} series are known from {}, {} were outdated, {} refused",
                 loaded->series, flags_.snapshot, loaded->outdated, loaded->refused);
    ends_past_ = loaded->series > 0;
    // Missing samples could belong to any selector.
    if (loaded->damage.ok() && loaded->refused == 0) snapshot_kept_ = std::move(loaded->kept);
    if (!loaded->damage.ok()) {
      spdlog::error("--live-snapshot: {}", std::string(loaded->damage.message()));
    }
  }
}

void LiveSource::SaveSnapshot() {
  if (flags_.snapshot.empty()) return;
  std::vector<live::KeptSelector> kept;
  {
    absl::MutexLock lock(&rules_mutex_);
    if (kept_since_) kept = kept_since_->NotBefore(first_rules_ms_, lacked_targets_ms_).kept();
  }
  // A file does not tell which series have lost their beginning.
  for (live::KeptSelector& one : kept) {
    if (store_.HasForgotten(one.selector, one.since_ms)) {
      one.since_ms = store_.ForgottenUntilMs(one.selector) + 1;
    }
  }
  const auto written = live::WriteStoreFile(store_, flags_.snapshot, kept);
  if (!written.ok()) spdlog::error("--live-snapshot: {}", std::string(written.status().message()));
}

void LiveSource::LookAtClock() {
  const absl::Time now = deps_.clock.WallNow();
  const absl::Time began = now - deps_.clock.MonotonicNow();
  const absl::Duration step = began - std::exchange(clock_began_, began);
  if (step > -kClockStep && step < kClockStep) return;
  spdlog::warn("live source: the clock was set by {}: samples of before do not count any more",
               absl::FormatDuration(step));
  const int64_t now_ms = absl::ToUnixMillis(now);
  if (step < absl::ZeroDuration()) store_.DropLaterThan(now_ms);
  absl::MutexLock lock(&rules_mutex_);
  first_rules_ms_ = std::min(first_rules_ms_, now_ms);
  lacked_targets_ms_ = std::min(lacked_targets_ms_, now_ms);
  if (!kept_since_) return;
  kept_since_ = kept_since_->Anew(now_ms);
  TellKept(*kept_since_);
}

void LiveSource::TellKept(const adapter::KeptSince& kept) {
  live_.SetKept(kept.NotBefore(first_rules_ms_, lacked_targets_ms_));
}

void LiveSource::LookForTargets() {
  if (deps_.clock.MonotonicNow() >= look_for_targets_until_) return;
  {
    absl::MutexLock lock(&mutex_);
    if (scraping_ == nullptr || scraping_->HasAllTargets()) return;
  }
  absl::MutexLock lock(&rules_mutex_);
  lacked_targets_ms_ = absl::ToUnixMillis(deps_.clock.WallNow());
  if (kept_since_) TellKept(*kept_since_);
}

bool LiveSource::HasWarmedUp() {
  absl::MutexLock lock(&rules_mutex_);
  return absl::FromUnixMillis(lacked_targets_ms_) + flags_.warmup <= deps_.clock.WallNow();
}

void LiveSource::LookForNewSeries(MonotonicTime now) {
  const live::StoreCounts counts = store_.counts();
  // A series is made a moment before its first sample, without which a relist does not find it. So
  // new names are reported twice. Other new series may be new to a rule too, if its series query
  // matches values or if the other series have no recent samples: they are reported once, after the
  // next check.
  const bool new_names = counts.new_names != names_told_;
  const bool others = made_before_ != series_told_ && now >= next_known_names_;
  if (new_names || tell_again_ || others) {
    deps_.on_new_series();
    series_told_ = made_before_;
    next_known_names_ =
        now + std::clamp(kSilentTimes * deps_.relist_took(), kSilentAtLeast, kSilentAtMost);
  }
  names_told_ = counts.new_names;
  tell_again_ = new_names;
  made_before_ = counts.made;
}

absl::Duration LiveSource::Step() {
  LookAtClock();
  LookForTargets();
  const MonotonicTime now = deps_.clock.MonotonicNow();
  LookForNewSeries(now);
  if (now >= next_prune_) {
    const int64_t now_ms = absl::ToUnixMillis(deps_.clock.WallNow());
    store_.Prune(now_ms);
    if (ends_past_ && now >= end_past_from_ && HasWarmedUp()) ends_past_ = store_.EndPast(now_ms);
    ingest_.ForgetDropped();
    next_prune_ = now + kPruneEvery;
  }
  return kLookEvery;
}

}  // namespace flyball::serve
