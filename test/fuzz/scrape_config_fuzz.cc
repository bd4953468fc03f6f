// Any bytes as a scrape configuration and as a file of targets: errors have their place within the
// file, and what is read without errors makes targets.
// links: live_scrape
#include <cstdint>
#include <cstdlib>
#include <string>

#include "adapter/live/scrape/config.h"
#include "adapter/live/scrape/targets.h"

namespace {

using namespace flyball::scrape;
using flyball::rules::Findings;

void Expect(bool condition) {
  if (!condition) std::abort();
}

void CheckPlaces(Findings findings, size_t size) {
  for (const auto& finding : std::move(findings).Take()) {
    Expect(!finding.message.empty() && finding.line >= 0);
    Expect(static_cast<size_t>(finding.line) <= size + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 14) return 0;  // larger files hold nothing new, only take longer
  const std::string text(reinterpret_cast<const char*>(data), size);
  Findings findings("f"), of_targets("t");
  const Config config = ReadScrapeConfig(text, findings);
  const auto groups = ReadTargetFile(text, "t", of_targets);
  for (const Job& job : config.jobs) {
    if (findings.has_errors()) break;
    Expect(job.interval >= kMinInterval && job.timeout <= job.interval);
    for (const Target& target : MakeTargets(job, job.static_groups).active) {
      Expect(!target.path.empty() && target.path[0] == '/');
      Expect(target.interval >= kMinInterval);
    }
    MakeTargets(job, groups);
  }
  CheckPlaces(std::move(findings), size);
  CheckPlaces(std::move(of_targets), size);
  return 0;
}
