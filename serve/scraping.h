// Scraping, as one object: a configuration's jobs, the discovery of their targets, and the scrapes.
//
// Scrapes from the time that it is made until it is destroyed. Thread-safe. Threads: those of
// scheduler.h, target_board.h, file_discovery.h and kubernetes_discovery.h.
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
  };

  // Errors are those of `connect`, and kResourceExhausted where no thread can be made.
  static absl::StatusOr<std::unique_ptr<Scraping>> Make(const scrape::Config& config,
                                                        const Deps& deps);

  std::vector<scrape::TargetState> States() const { return scheduler_.States(); }

 private:
  Scraping(const scrape::Config& config, const Deps& deps);

  scrape::Scheduler scheduler_;
  scrape::TargetBoard board_;
  std::vector<std::unique_ptr<discovery::FileDiscovery>> files_;
  std::vector<std::unique_ptr<discovery::KubernetesDiscovery>> clusters_;
};

}  // namespace flyball::serve
