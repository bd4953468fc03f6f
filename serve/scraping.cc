#include "serve/scraping.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/thread_limit.h"

namespace flyball::serve {
namespace {

scrape::SchedulerOptions OptionsOfThisServer(const Scraping::Deps& deps) {
  std::random_device random;
  return {.first_at_most = deps.first_at_most,
          .seed = (uint64_t{random()} << 32) | random(),
          .max_bytes = deps.max_bytes};
}

bool AsksCluster(const scrape::Config& config) {
  return std::any_of(config.jobs.begin(), config.jobs.end(),
                     [](const scrape::Job& job) { return !job.kubernetes_discoveries.empty(); });
}

}  // namespace

Scraping::Scraping(const Deps& deps)
    : deps_(deps), scheduler_(deps.clock, deps.store, deps.fetch, OptionsOfThisServer(deps)) {}

absl::StatusOr<Scraping::Discovery> Scraping::Discover(const scrape::Config& config) {
  Discovery made;
  RETURN_IF_ERROR(UnlessNoThread([&] { return Begin(config, made); }));
  return made;
}

absl::Status Scraping::Begin(const scrape::Config& config, Discovery& made) {
  made.board = std::make_unique<scrape::TargetBoard>(deps_.clock, scheduler_, config.jobs,
                                                     deps_.max_bytes / 2);
  for (size_t job = 0; job < config.jobs.size(); ++job) {
    for (size_t i = 0; i < config.jobs[job].file_discoveries.size(); ++i) {
      made.files.push_back(
          std::make_unique<discovery::FileDiscovery>(deps_.clock, *made.board, job, i));
    }
    for (size_t i = 0; i < config.jobs[job].kubernetes_discoveries.size(); ++i) {
      ASSIGN_OR_RETURN(auto cluster,
                       discovery::KubernetesDiscovery::Make(deps_.clock, deps_.connect, *made.board,
                                                            job, i, deps_.own_namespace));
      made.clusters.push_back(std::move(cluster));
    }
  }
  return absl::OkStatus();
}

absl::Status Scraping::Apply(const scrape::Config& config) {
  // The connection is tried before the old configuration is dropped. The two cannot exist at the
  // same time, since two boards would remove each other's targets.
  if (AsksCluster(config)) RETURN_IF_ERROR(deps_.connect().status());
  discovery_ = {};
  absl::StatusOr<Discovery> discovery = Discover(config);
  if (!discovery.ok()) {
    absl::StatusOr<Discovery> before = Discover(config_);
    if (!before.ok()) {
      return absl::Status(before.status().code(),
                          absl::StrCat("nothing is scraped until the file is written again, as the "
                                       "last good one cannot be followed either: ",
                                       before.status().message()));
    }
    discovery_ = *std::move(before);
    return discovery.status();
  }
  discovery_ = *std::move(discovery);
  for (const scrape::Job& before : config_.jobs) {
    const auto has_name = [&before](const scrape::Job& job) { return job.name == before.name; };
    if (std::none_of(config.jobs.begin(), config.jobs.end(), has_name)) {
      scheduler_.Remove(before.name);
    }
  }
  config_ = config;
  return absl::OkStatus();
}

}  // namespace flyball::serve
