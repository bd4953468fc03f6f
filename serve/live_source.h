// The live source of one serving process: a store with everything that fills and queries it.
//
// Start and Stop are called once each, the rest from any thread. Threads: one that prunes and
// reports new series; one that writes the snapshot, since a disk may hang; one that calls the
// followers of answers; one that checks the scrape configuration each second; one that fetches past
// samples (warm_start.h); those of scraping (scraping.h).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "adapter/live/api/query_pages.h"
#include "adapter/live/kept_since.h"
#include "adapter/live/kubelet/kubelet_pages.h"
#include "adapter/live/live.h"
#include "adapter/live/receive/ingest.h"
#include "adapter/live/receive/otlp_pages.h"
#include "adapter/live/receive/otlp_receiver.h"
#include "adapter/live/receive/push_pages.h"
#include "adapter/live/receive/scraped_samples.h"
#include "adapter/live/scrape/config.h"
#include "adapter/live/store/store.h"
#include "adapter/live/warm_start.h"
#include "adapter/queries/past_samples.h"
#include "base/clock.h"
#include "base/repeating_thread.h"
#include "http/server/pages.h"
#include "rules/compiled_rules.h"
#include "serve/live_flags.h"
#include "serve/scrape_file.h"
#include "serve/scraping.h"

namespace prometheus {
class Collectable;
}

namespace flyball::serve {

class LiveSource {
 public:
  struct Deps {  // all outlive it
    Clock& clock;
    // As of Scraping.
    discovery::KubernetesDiscovery::MakeTransport connect;
    std::string own_namespace;
    // Called from Start to Stop: soon after series with a new combination of metric name and label
    // names arrive, and within seconds after other new ones, or within a minute if a relist takes
    // long.
    std::function<void()> on_new_series;
    // The duration of the last relist, over all series queries.
    std::function<absl::Duration()> relist_took;
    // The source of past samples; nullptr: there is none.
    adapter::PastSamples* past = nullptr;
    // The credentials for kubelets, if the flags have them scraped.
    http::TransportOptions kubelet_access = {};
  };

  // Reads the scrape configuration and the snapshot. kInvalidArgument: the flag and what is wrong.
  static absl::StatusOr<std::unique_ptr<LiveSource>> Make(const LiveFlags& flags, Deps deps);
  ~LiveSource();  // stops
  LiveSource(const LiveSource&) = delete;
  LiveSource& operator=(const LiveSource&) = delete;

  adapter::MetricSource& source() { return live_; }
  // The kubelets' values; nullptr: they are not scraped.
  const kubelet::KubeletPages* kubelets() const { return kubelets_ ? &*kubelets_ : nullptr; }
  // Pages to be mounted behind authentication and authorization.
  std::vector<http::Pages*> pages();
  std::shared_ptr<prometheus::Collectable> metrics() const;

  // From now on the series that these rules read are kept, and those of --live-keep. Series that
  // the earlier rules did not read are unknown until a query's window has passed. One call at a
  // time; the first one comes before the first query.
  void SetRules(const rules::CompiledRules& rules);

  // Errors are those of Scraping::Apply.
  absl::Status Start();
  void Stop();

  // Reads the scrape configuration now.
  void ReloadScrapeConfig() { scrape_file_->Reload(); }
  // OK, or why the present file is not in force.
  absl::Status LastScrapeReload() const { return scrape_file_->LastReload(); }

 private:
  class Metrics;

  LiveSource(const LiveFlags& flags, Deps deps, std::unique_ptr<ScrapeFile> scrape_file);
  absl::Status Scrape(const scrape::Config& config);
  // Throws std::system_error if no thread can be made.
  std::unique_ptr<Scraping> MakeScraping();
  scrape::MakeFetcher Fetch();
  void LoadSnapshot();
  void SaveSnapshot();
  // Tells the live source since when which series are kept.
  void TellKept(const adapter::KeptSince& kept) ABSL_EXCLUSIVE_LOCKS_REQUIRED(rules_mutex_);
  // Since when the snapshot has all samples of these selectors.
  adapter::KeptSince SinceSnapshot(const std::optional<std::vector<live::Selector>>& selectors,
                                   int64_t now_ms) const;
  // To be called when the store has all samples of these series since `since_ms`.
  void Know(const adapter::WarmStart::Kept& kept, int64_t since_ms);
  // Starts again if the wall clock was set: samples' times then do not show how much time has
  // passed.
  void LookAtClock();
  // Begins the warm-up once all targets have been discovered.
  void LookForTargets();
  // Whether each series should have arrived since then.
  bool HasWarmedUp() ABSL_LOCKS_EXCLUDED(rules_mutex_);
  void LookForNewSeries(MonotonicTime now);
  absl::Duration Step();

  const LiveFlags flags_;
  const Deps deps_;
  live::Store store_;
  adapter::Live live_;
  live::Ingest ingest_;
  live::PushRoom push_room_;
  live::PushPages push_pages_;
  live::OtlpReceiver otlp_;
  live::OtlpPages otlp_pages_;
  live::QueryPages query_pages_;
  live::ScrapedSamples scraped_;
  std::optional<kubelet::KubeletPages> kubelets_;
  // The selectors whose samples the snapshot has in full; written before other threads begin.
  std::vector<live::KeptSelector> snapshot_kept_;
  absl::Mutex rules_mutex_;
  std::optional<adapter::KeptSince> kept_since_ ABSL_GUARDED_BY(rules_mutex_);
  int64_t first_rules_ms_ ABSL_GUARDED_BY(rules_mutex_) = 0;  // when they were set
  // The last time at which not all targets had been discovered. What is kept since the first rules
  // counts as beginning then, but not what is known of the past.
  int64_t lacked_targets_ms_ ABSL_GUARDED_BY(rules_mutex_) = std::numeric_limits<int64_t>::min();
  std::optional<adapter::WarmStart> warm_start_;  // calls Know
  mutable absl::Mutex mutex_;
  std::unique_ptr<Scraping> scraping_ ABSL_GUARDED_BY(mutex_);  // nullptr: nothing was scraped yet
  std::shared_ptr<Metrics> metrics_;
  const std::unique_ptr<ScrapeFile> scrape_file_;  // calls Scrape

  // The thread's own.
  uint64_t made_before_ = 0;  // number of series at the last check
  uint64_t series_told_ = 0;  // of these, those reported
  uint64_t names_told_ = 0;
  bool tell_again_ = false;
  MonotonicTime next_known_names_ = -absl::InfiniteDuration();
  MonotonicTime next_prune_;
  bool ends_past_ = false;  // series of the snapshot may have ended before the start
  const MonotonicTime end_past_from_;
  const MonotonicTime look_for_targets_until_;
  absl::Time clock_began_;  // the wall time at which the monotonic clock was 0
  // Last: they use the others.
  RepeatingThread thread_;
  RepeatingThread snapshots_;
};

}  // namespace flyball::serve
