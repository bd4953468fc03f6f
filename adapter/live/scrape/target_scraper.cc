#include "adapter/live/scrape/target_scraper.h"

#include <utility>

#include "adapter/live/scrape/timing.h"
#include "base/status_macros.h"

namespace flyball::scrape {

TargetScraper::TargetScraper(std::shared_ptr<const Job> job, Target target,
                             const MakeFetcher& make_fetcher, SampleStore& store,
                             TargetBudgets budgets, Clock& clock)
    : job_(job),
      target_(std::move(target)),
      make_fetcher_(make_fetcher),
      clock_(clock),
      samples_(std::move(job), target_.sample_labels, store, std::move(budgets)) {}

absl::StatusOr<Page> TargetScraper::Fetch() {
  std::shared_ptr<PageFetcher> fetcher;
  {
    absl::MutexLock lock(&mutex_);
    if (shut_down_) return absl::CancelledError("shutting down");
    if (fetcher_ == nullptr) {
      ASSIGN_OR_RETURN(fetcher_, make_fetcher_(*job_, target_));
    }
    fetcher = fetcher_;
  }
  return fetcher->Fetch();
}

void TargetScraper::Shutdown() {
  absl::MutexLock lock(&mutex_);
  shut_down_ = true;
  if (fetcher_ != nullptr) fetcher_->Shutdown();
}

ScrapeResult TargetScraper::Scrape(absl::Time tick, const absl::Status& refusal) {
  const absl::Time now = clock_.WallNow();
  const int64_t stamp_ms = absl::ToUnixMillis(StampOf(tick, now, target_.interval));
  const MonotonicTime begin = clock_.MonotonicNow();
  const absl::StatusOr<Page> page = refusal.ok() ? Fetch() : refusal;
  ScrapeResult result;
  if (page.ok()) {
    const int64_t now_ms = absl::ToUnixMillis(clock_.WallNow());
    result = samples_.TakePage(
        [&page](formats::ScrapeSink& sink) { return ParsePage(*page, sink); }, stamp_ms, now_ms);
    result.body_bytes = static_cast<int64_t>(page->body.size());
  } else {
    result.status = page.status();
    // A scrape that Shutdown has interrupted says nothing about the target.
    if (absl::IsCancelled(result.status)) return result;
    samples_.TakeFailure(stamp_ms, stamp_ms);
    if (refusal.ok() && absl::IsResourceExhausted(result.status)) result.body_bytes = -1;
  }
  result.duration = clock_.MonotonicNow() - begin;
  samples_.Report(result, target_.timeout, stamp_ms, absl::ToUnixMillis(clock_.WallNow()));
  return result;
}

void TargetScraper::End(absl::Time stamp) {
  samples_.End(absl::ToUnixMillis(stamp), absl::ToUnixMillis(clock_.WallNow()));
}

}  // namespace flyball::scrape
