// The samples of an OpenMetrics file, as `promtool tsdb create-blocks-from openmetrics` takes it.
//
// Pure. Memory: 16 bytes for each sample and the labels of each series once.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "promql/engine/memory_series.h"

namespace flyball::query {

struct SampleFile {
  promql::MemorySeriesReader series{{}};
  std::optional<int64_t> newest_ms;  // of all samples; nullopt: there are none
};

// Each sample must have a timestamp. The samples of a series may come in any order; of those with
// the same time the first counts, if their values are equal.
//   kInvalidArgument  not OpenMetrics, with line and column; or what a store would refuse, with the
//                     series
absl::StatusOr<SampleFile> ReadSampleFile(absl::string_view text);

}  // namespace flyball::query
