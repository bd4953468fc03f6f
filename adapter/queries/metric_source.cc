#include "adapter/queries/metric_source.h"

#include "base/status_macros.h"

namespace flyball::adapter {

const std::string& StandingQuery::Encoded(std::string (*encode)(absl::string_view)) {
  if (encoded_.empty()) encoded_ = encode(promql);
  return encoded_;
}

absl::StatusOr<StandingResult> MetricSource::Ask(StandingQuery& query, absl::Time at,
                                                 absl::Duration timeout) {
  ASSIGN_OR_RETURN(std::shared_ptr<const QueryResult> result, Query(query.promql, at, timeout));
  SamplesRead read = result->read;
  const rules::SourceChoice source = result->source;
  return StandingResult{.result = std::move(result), .read = std::move(read), .source = source};
}

}  // namespace flyball::adapter
