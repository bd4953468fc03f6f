#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "adapter/live/scrape/config.h"

namespace flyball::scrape {

// A job `web` with these further fields in YAML. A finding fails the test.
inline Job JobOf(const std::string& more) {
  rules::Findings findings("f");
  Config config = ReadScrapeConfig("scrape_configs:\n- job_name: web\n" + more, findings);
  for (const auto& finding : std::move(findings).Take()) ADD_FAILURE() << finding.ToString();
  return std::move(config.jobs.at(0));
}

}  // namespace flyball::scrape
