// Takes usage from the kubelets' pages while they are scraped.
//
// Thread-safe; the fetchers that it makes do not outlive it. Nodes are scraped as targets of a job
// like any other, found by discovery, each at its own ticks. This class wraps the job's fetcher: it
// reads each page and passes on an empty one. So the samples do not enter the store, which would
// get millions of samples that no rule reads; whoever wants them there configures another job.
//
// The values of a node whose kubelet fails are kept for kForgetAfter intervals, and are unknown
// after that; in metrics-server they are unknown after one (longer) interval. A node that is gone
// is forgotten together with its target.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/live/kubelet/kubelet_usage.h"
#include "adapter/live/scrape/config.h"
#include "adapter/live/scrape/page_fetcher.h"
#include "base/clock.h"

namespace flyball::kubelet {

inline constexpr char kKubeletJob[] = "kubelets";

// The job that scrapes /metrics/resource of each node's kubelet, with the credentials in `http`.
scrape::Job KubeletJob(absl::Duration interval, http::TransportOptions http);

class KubeletPages {
 public:
  static constexpr int kForgetAfter = 3;

  // `interval` is how often pages come; the clock outlives it.
  KubeletPages(Clock& clock, absl::Duration interval);

  // Wraps the fetchers of `inner`, and reads the pages that those of kKubeletJob fetch.
  scrape::MakeFetcher Reading(scrape::MakeFetcher inner);

  // The next two return what those of KubeletUsage do.
  std::optional<TimedUsage> Node(const std::string& node) const;
  std::optional<PodUsage> Pod(const PodId& pod) const;
  // OK, or why nothing is known: no kubelet has been scraped.
  absl::Status Known() const;

 private:
  class Fetcher;
  // The target whose pages count for a node: of two targets with the same name, the newer one.
  struct Taker {
    uint64_t id = 0;
    MonotonicTime taken = absl::ZeroDuration();  // the last good page
    bool known = false;
  };

  uint64_t Begin(const std::string& node);
  void Take(const std::string& node, uint64_t id, const absl::StatusOr<scrape::Page>& page);
  void End(const std::string& node, uint64_t id);

  Clock& clock_;
  const absl::Duration interval_;
  mutable absl::Mutex mutex_;
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Taker> takers_ ABSL_GUARDED_BY(mutex_);  // by node
  absl::Status last_failure_ ABSL_GUARDED_BY(mutex_);
  KubeletUsage usage_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::kubelet
