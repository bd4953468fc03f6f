// Where numbers come from: the answer to one PromQL instant query, and the series that a selector
// matches.
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

#include "absl/base/call_once.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "promql/labels.h"

namespace flyball::adapter {

using promql::LabelSet;  // __name__ is among them where the source gives it

// The value of a label; "" where it is absent, as in Prometheus.
absl::string_view LabelValue(const LabelSet& labels, absl::string_view name);

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
};

// Stands for an answer whose samples all have one time, and for all it says but that time: equal
// marks, equal answers. Of use within the process that made it.
struct AnswerMark {
  std::array<uint8_t, 16> digest = {};
  uint64_t size = 0;  // bytes that the digest is of
  friend bool operator==(const AnswerMark&, const AnswerMark&) = default;
};

// A query that is asked again and again. What is made of its text, which may be long, is made once.
//
// Thread-safe.
class RepeatedQuery {
 public:
  explicit RepeatedQuery(std::string text);
  const std::string promql;
  const size_t hash;  // HashOf(promql)

  static size_t HashOf(absl::string_view promql);
  // The text as a source sends it: what `encode` makes of it, which is always the same.
  const std::string& Encoded(std::string (*encode)(absl::string_view)) const;

 private:
  mutable absl::once_flag encoded_once_;
  mutable std::string encoded_;
};
using RepeatedQueryPtr = std::shared_ptr<const RepeatedQuery>;

// The answer to one.
struct Requeried {
  // nullptr: what was marked `before`, at another time.
  std::shared_ptr<const QueryResult> result;
  std::optional<AnswerMark> mark = std::nullopt;  // nullopt: it can't be told from others
  std::optional<absl::Time> time = std::nullopt;  // of all samples; never without a mark
};

// Names only: what discovery needs of a series.
struct SeriesName {
  std::string name;                 // __name__
  std::vector<std::string> labels;  // label names other than __name__, sorted
};

class MetricSource {
 public:
  virtual ~MetricSource() = default;

  //   kUnavailable       the source is down, answers 5xx, or what it answers cannot be read
  //   kDeadlineExceeded  no whole answer within the timeout
  //   kInvalidArgument   the query is refused; the text is the source's
  virtual absl::StatusOr<std::shared_ptr<const QueryResult>> Query(absl::string_view promql,
                                                                   absl::Time at,
                                                                   absl::Duration timeout) = 0;

  // As Query, for a caller that asks the same again and again: an answer that says what the one
  // marked `before` said is not read again.
  virtual absl::StatusOr<Requeried> QueryAgain(const RepeatedQuery& query, absl::Time at,
                                               absl::Duration timeout,
                                               const std::optional<AnswerMark>& before) {
    (void)before;
    absl::StatusOr<std::shared_ptr<const QueryResult>> result = Query(query.promql, at, timeout);
    if (!result.ok()) return result.status();
    return Requeried{.result = *std::move(result)};
  }

  // Distinct (name, label names) of the series that match the selector since `start`. Errors are
  // those of Query; `data: null` is one.
  virtual absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector,
                                                         absl::Time start,
                                                         absl::Duration timeout) = 0;
};

}  // namespace flyball::adapter
