#include "serve/scraping.h"

#include <random>
#include <utility>

#include "absl/memory/memory.h"
#include "base/status_macros.h"

namespace flyball::serve {
namespace {

scrape::SchedulerOptions OptionsOfThisServer() {
  std::random_device random;
  return {.seed = (uint64_t{random()} << 32) | random()};
}

}  // namespace

Scraping::Scraping(const scrape::Config& config, const Deps& deps)
    : scheduler_(deps.clock, deps.store, scrape::FetchOverHttp(deps.clock), OptionsOfThisServer()),
      board_(deps.clock, scheduler_, config.jobs) {}

absl::StatusOr<std::unique_ptr<Scraping>> Scraping::Make(const scrape::Config& config,
                                                         const Deps& deps) {
  auto made = absl::WrapUnique(new Scraping(config, deps));
  for (size_t job = 0; job < config.jobs.size(); ++job) {
    for (size_t i = 0; i < config.jobs[job].file_discoveries.size(); ++i) {
      made->files_.push_back(
          std::make_unique<discovery::FileDiscovery>(deps.clock, made->board_, job, i));
    }
    for (size_t i = 0; i < config.jobs[job].kubernetes_discoveries.size(); ++i) {
      ASSIGN_OR_RETURN(auto cluster,
                       discovery::KubernetesDiscovery::Make(deps.clock, deps.connect, made->board_,
                                                            job, i, deps.own_namespace));
      made->clusters_.push_back(std::move(cluster));
    }
  }
  return made;
}

}  // namespace flyball::serve
