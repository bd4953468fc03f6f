// Past samples of the series that match a selector, from another server.
//
// Implementations are thread-safe.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "promql/engine/series.h"
#include "promql/labels.h"

namespace flyball::adapter {

struct PastSeries {
  promql::LabelSet labels;
  std::vector<promql::Point> points;  // in rising time; no staleness markers
};

class PastSamples {
 public:
  virtual ~PastSamples() = default;

  // The samples in (at - range, at] of the series that match the selector; `range` in whole
  // milliseconds. Errors are those of MetricSource::Query; kUnavailable also if they are too many
  // for one answer.
  virtual absl::StatusOr<std::vector<PastSeries>> Past(absl::string_view selector, absl::Time at,
                                                       absl::Duration range,
                                                       absl::Duration timeout) = 0;
};

}  // namespace flyball::adapter
