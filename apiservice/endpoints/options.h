// The options of the endpoints: limits of requests and answers.
#pragma once

#include <cstddef>
#include <string>

#include "absl/time/time.h"

namespace flyball::apiservice {

struct LimitOptions {
  int max_in_flight = 400;  // more is 429, except for system:masters and probes
  absl::Duration request_timeout = absl::Seconds(60);  // also the cap of ?timeout=
  size_t response_cache_entries = 4096;                // 0 turns the cache of answers off
  size_t response_cache_bytes = 6u << 20;
  // --max-reviews-inflight: the most requests that wait for a TokenReview, and the most that wait
  // for a SubjectAccessReview; more is 429.
  int max_reviews = 128;
  size_t max_selector_bytes = 64u << 10;  // --max-selector-bytes: see ParseSelector; more is 400
  size_t max_answer_bytes = 32u << 20;    // --max-answer-bytes: of a list of metrics; more is 413
};

// The program's version in /version.
struct ProgramVersion {
  std::string version = "v0.0.0";  // gitVersion
  std::string commit = {};         // "": unknown
  std::string date = {};           // of the commit
};

}  // namespace flyball::apiservice
