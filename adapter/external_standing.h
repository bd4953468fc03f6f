// Requests for external metrics that one holder repeats.
//
// Requests that differ only in the value of one label become one query if the template is known to
// keep that label's values apart (rules/query_shape.h): each gets the samples that its own query
// would have given. A query is for max_names values at most, and about max_url_bytes long if it is
// part of a URL. If a query for several values is refused, perhaps because of its size, each value
// is asked for separately for a minute. If it fails, each half of its values is, unless the source
// answers nothing at all.
//
// One thread at a time. What `answering` refers to, and the pool, outlive this.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapter/answering.h"
#include "adapter/provider.h"
#include "base/worker_pool.h"

namespace flyball::adapter {

class ExternalStanding : public StandingExternal {
 public:
  // `pool` may be nullptr: then queries are asked one after the other.
  ExternalStanding(const Answering& answering, WorkerPool* pool,
                   std::vector<ExternalMetricRequest> requests)
      : answering_(answering), pool_(pool), requests_(std::move(requests)) {}

  using Answers = std::vector<absl::StatusOr<StandingAnswer<ExternalMetricList>>>;
  Answers Ask(absl::Duration timeout) override;

 private:
  // Requests that are answered by one query.
  struct Together {
    MetricSeries found;
    std::string label = "";            // the label whose values differ; "": one request alone
    std::vector<size_t> members = {};  // indices of requests, by value
    absl::Status failure = {};         // why there is no query
    std::unique_ptr<StandingQuery> query = nullptr;
    size_t values = 0;                 // in its last answer
    std::vector<Together> apart = {};  // while they are asked for separately
    MonotonicTime apart_until = absl::ZeroDuration();
  };

  void Group();
  // Splits into queries of at most max_names values and max_url_bytes each.
  void AddSplit(Together all);
  // Whether the query would be too long for a URL.
  bool IsTooLong(const Together& together) const;
  void AddQuery(Together& together) const;
  absl::StatusOr<std::string> QueryOf(const Together& together) const;
  void AskTogether(Together& together, MonotonicTime deadline, Answers& answers) const;
  // For a while, asks for its members in queries of `members` each.
  void SetApart(Together& together, size_t members) const;
  bool IsApart(const Together& together) const;
  // Adds the queries that replace it, or itself.
  void Collect(Together& together, std::vector<Together*>& asked) const;
  void HandOut(Together& together, const StandingResult& result, Answers& answers) const;

  const Answering answering_;
  WorkerPool* const pool_;
  const std::vector<ExternalMetricRequest> requests_;
  std::shared_ptr<const SeriesRegistry> registry_;  // with which the queries were made
  std::vector<Together> queries_;
};

}  // namespace flyball::adapter
