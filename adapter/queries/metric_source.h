// The interface of metric sources: the answer to a PromQL instant query, and the series that a
// selector matches.
//
// Implementations are thread-safe: Prometheus over HTTP (adapter/prometheus), samples in memory
// (adapter/live).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/freshness.h"
#include "promql/labels.h"
#include "rules/source_choice.h"

namespace flyball::adapter {

using promql::LabelSet;  // __name__ is among them where the source gives it
using promql::LabelValue;

struct Sample {
  LabelSet labels;
  absl::Time time;
  double value = 0;  // may be NaN or infinite
};

struct QueryResult {
  enum class Type { kVector, kScalar, kMatrix, kString };
  Type type = Type::kVector;
  // In the order of the source; one without labels for a scalar; empty for matrix and string.
  std::vector<Sample> samples;
  bool null_result = false;  // `"result": null`
  SamplesRead read = {};     // the samples that it was made from
  // The source that answered; kAny: unknown.
  rules::SourceChoice source = rules::SourceChoice::kAny;
  // Counts the result's memory as long as the caller that asked for it has something long to make
  // of it. Only that caller takes it, before others see the result.
  mutable std::shared_ptr<const void> counted = nullptr;
};

// A digest of an answer without the time that all of its samples share: answers with equal marks
// are equal except for that time. Valid only within the process that made it.
struct AnswerMark {
  std::array<uint8_t, 16> digest = {};
  uint64_t size = 0;  // how many bytes were digested
  friend bool operator==(const AnswerMark&, const AnswerMark&) = default;
};

// A query that its holder will repeat. It keeps the encoded text, which may be long, and the mark
// of the last answer, so that the source can answer "unchanged".
//
// One thread at a time.
class StandingQuery {
 public:
  explicit StandingQuery(std::string text,
                         rules::SourceChoice source_choice = rules::SourceChoice::kAny)
      : promql(std::move(text)), choice(source_choice) {}

  // Makes sure that the next answer is not "unchanged".
  void Forget() { last.reset(); }

  const std::string promql;
  const rules::SourceChoice choice;  // the source to ask

  // ---- used by the source that is asked
  // The text as sent, made by `encode`, which is always the same function.
  const std::string& Encoded(std::string (*encode)(absl::string_view));
  std::optional<AnswerMark> last;  // of the last answer; nullopt: it has no mark
  std::shared_ptr<void> prepared;  // made from the text by a source in this process

 private:
  std::string encoded_;
};

// The answer to a standing query.
struct StandingResult {
  std::shared_ptr<const QueryResult> result;      // nullptr: unchanged, except for times
  std::optional<absl::Time> time = std::nullopt;  // of all samples; nullopt: each has its own
  SamplesRead read = {};                          // samples of the answer, also if unchanged
  rules::SourceChoice source = rules::SourceChoice::kAny;  // as in QueryResult
  absl::Time TimeOf(const Sample& sample) const { return time.value_or(sample.time); }
};

// The names in a series, which are all that discovery needs.
struct SeriesName {
  std::string name;                 // __name__
  std::vector<std::string> labels;  // label names other than __name__, sorted
};

class MetricSource {
 public:
  virtual ~MetricSource() = default;

  //   kUnavailable       the source is unreachable, answers 5xx, or its answer cannot be read
  //   kDeadlineExceeded  no complete answer within the timeout
  //   kInvalidArgument   the query is refused; the text is the source's
  //   kResourceExhausted there is no memory for the answer beside those that are being read
  virtual absl::StatusOr<std::shared_ptr<const QueryResult>> Query(absl::string_view promql,
                                                                   absl::Time at,
                                                                   absl::Duration timeout) = 0;

  // Like Query. Unless it fails it records the answer's mark in `query`.
  virtual absl::StatusOr<StandingResult> Ask(StandingQuery& query, absl::Time at,
                                             absl::Duration timeout);

  // Distinct (name, label names) of the series that match the selector since `start`. Errors are
  // those of Query; `data: null` is an error too.
  virtual absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector,
                                                         absl::Time start,
                                                         absl::Duration timeout) = 0;

  // Whether its answers say which samples they were made from (SamplesRead). If so, many queries,
  // each repeated only when one of its own samples arrives, cost less than a few large ones.
  virtual bool TellsOfSamples() const { return false; }

  // The source of that choice; this object if it is the only source.
  virtual MetricSource& Of(rules::SourceChoice choice) {
    (void)choice;
    return *this;
  }
};

}  // namespace flyball::adapter
