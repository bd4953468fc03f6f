// links: adapter
//
// Whatever the bytes: an answer or an error with a text, and what was parsed keeps its promises.
// What is said to be the same but for the time reads the same but for the time; two answers to
// compare stand on both sides of a 0 byte, else one is compared with itself.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "adapter/prometheus/answer_mark.h"
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

// Unless the second is said to be the first at another time, nothing.
void CompareTimes(const std::string& first, const std::string& second) {
  using flyball::adapter::prometheus::MarkAnswer;
  using flyball::adapter::prometheus::ParseQueryAnswer;
  const auto before = ParseQueryAnswer(first);
  const auto marked = MarkAnswer(first), again = MarkAnswer(second);
  if (!before.ok() || !marked.has_value() || !again.has_value()) return;
  if (marked->mark != again->mark) return;
  // As the client does with what it read.
  if (marked->points != before->samples.size()) return;
  for (const auto& sample : before->samples) {
    if (sample.time != marked->time) return;
  }
  const auto time = std::optional(again->time);
  const auto after = ParseQueryAnswer(second);
  Require(after.ok() && after->type == before->type &&
          after->samples.size() == before->samples.size());
  for (size_t i = 0; i < after->samples.size(); ++i) {
    const auto& a = before->samples[i];
    const auto& b = after->samples[i];
    Require(a.labels == b.labels && b.time == *time);
    Require(a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);

  const auto version = flyball::adapter::prometheus::ParseBuildInfoAnswer(body);
  Require(version.ok() ? version->size() < 100 : !version.status().message().empty());
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

  const size_t divide = body.find('\0');
  CompareTimes(body.substr(0, divide),
               divide == std::string::npos ? body : body.substr(divide + 1));

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
