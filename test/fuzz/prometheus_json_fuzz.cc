// links: adapter
//
// Whatever the bytes: an answer or an error with a text, and what was parsed keeps its promises.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "adapter/prometheus/json.h"

namespace {

using flyball::adapter::QueryResult;

void Require(bool holds) {
  if (!holds) std::abort();
}

bool ByName(const std::pair<std::string, std::string>& a,
            const std::pair<std::string, std::string>& b) {
  return a.first < b.first;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);

  const auto query = flyball::adapter::prometheus::ParseQueryAnswer(body);
  if (query.ok()) {
    Require(!query->null_result || query->samples.empty());
    Require(query->type != QueryResult::Type::kScalar || query->null_result ||
            query->samples.size() == 1);
    for (const auto& sample : query->samples) {
      Require(std::is_sorted(sample.labels.begin(), sample.labels.end(), ByName));
    }
  } else {
    Require(!query.status().message().empty());
  }

  const auto series = flyball::adapter::prometheus::ParseSeriesAnswer(body);
  if (series.ok()) {
    // Each distinct entry takes at least `{},`.
    Require(series->size() <= size);
    for (const auto& entry : *series) {
      Require(std::is_sorted(entry.labels.begin(), entry.labels.end()));
    }
  } else {
    Require(!series.status().message().empty());
  }
  return 0;
}
