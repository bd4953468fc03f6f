// One target: fetches its page and takes the samples.
//
// One thread at a time, except for Shutdown. Everything passed to it outlives it.
#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "adapter/live/scrape/page_fetcher.h"
#include "adapter/live/scrape/target_samples.h"
#include "base/clock.h"

namespace flyball::scrape {

class TargetScraper {
 public:
  TargetScraper(std::shared_ptr<const Job> job, Target target, const MakeFetcher& make_fetcher,
                SampleStore& store, TargetBudgets budgets, Clock& clock);

  // If `refusal` is not OK, the target is not asked, and the scrape fails with that error. The
  // stamp is `tick` if that is about now.
  ScrapeResult Scrape(absl::Time tick, const absl::Status& refusal);
  void End(absl::Time stamp);
  // Ends the scrape under way.
  void Shutdown();

  const Job& job() const { return *job_; }
  const Target& target() const { return target_; }

 private:
  absl::StatusOr<Page> Fetch();

  const std::shared_ptr<const Job> job_;
  const Target target_;
  const MakeFetcher& make_fetcher_;
  Clock& clock_;
  TargetSamples samples_;
  absl::Mutex mutex_;
  std::shared_ptr<PageFetcher> fetcher_ ABSL_GUARDED_BY(mutex_);
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace flyball::scrape
