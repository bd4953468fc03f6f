// Scraping, as one object: a configuration's jobs, the discovery of their targets, and the scrapes.
//
// Scrapes from the first Apply until it is destroyed. Thread-safe, except for Apply: one call at a
// time. Threads: those of scheduler.h, target_board.h, file_discovery.h and kubernetes_discovery.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapter/live/discovery/file_discovery.h"
#include "adapter/live/discovery/kubernetes_discovery.h"
#include "adapter/live/scrape/scheduler.h"
#include "adapter/live/scrape/target_board.h"
#include "base/clock.h"

namespace flyball::serve {

class Scraping {
 public:
  struct Deps {  // all outlive it
    Clock& clock;
    scrape::SampleStore& store;
    // A connection to the cluster whose pods, nodes and endpoints are discovered.
    discovery::KubernetesDiscovery::MakeTransport connect;
    std::string own_namespace;
    scrape::MakeFetcher fetch;  // how pages are fetched
    // See SchedulerOptions, as for the next one. The targets that pods ask for take at most half of
    // it.
    size_t max_bytes;
    absl::Duration first_at_most;
  };

  explicit Scraping(const Deps& deps);

  // Scrapes by this configuration from now on. Targets that are also in it start again and their
  // series continue; others get their staleness markers once the cluster has been listed and each
  // file with targets has been read. Errors are those of `connect`, and kResourceExhausted if no
  // thread can be made: then the previous configuration stays.
  absl::Status Apply(const scrape::Config& config);

  // Whether all targets are known, not only those that were discovered first.
  bool HasAllTargets() const { return scheduler_.HasAllTargets(); }
  scrape::Scheduler::Totals totals() const { return scheduler_.totals(); }
  std::vector<scrape::TargetState> States() const { return scheduler_.States(); }

 private:
  // The discoveries of one configuration.
  struct Discovery {
    std::unique_ptr<scrape::TargetBoard> board;
    std::vector<std::unique_ptr<discovery::FileDiscovery>> files;
    std::vector<std::unique_ptr<discovery::KubernetesDiscovery>> clusters;
  };

  absl::StatusOr<Discovery> Discover(const scrape::Config& config);
  // Throws std::system_error if no thread can be made.
  absl::Status Begin(const scrape::Config& config, Discovery& made);

  const Deps deps_;
  scrape::Scheduler scheduler_;
  scrape::Config config_;  // the one in force
  Discovery discovery_;
};

}  // namespace flyball::serve
