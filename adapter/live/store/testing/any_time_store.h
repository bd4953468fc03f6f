// A store that forgets nothing and takes samples of any time, for tests that invent samples.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "adapter/live/store/store.h"

namespace flyball::live {

class AnyTimeStore final : public promql::SeriesReader {
 public:
  absl::Status Append(const promql::LabelSet& labels, int64_t time_ms, double value) {
    return store_.Append(labels, {time_ms, value}, time_ms);
  }

  absl::StatusOr<promql::SeriesList> SelectUnless(
      const promql::Interrupted& interrupted,
      const std::vector<promql::Matcher>& matchers) const override {
    return store_.SelectUnless(interrupted, matchers);
  }

 private:
  Store store_{{.retention_ms = std::numeric_limits<int64_t>::max(), .out_of_order_ms = 0}};
};

}  // namespace flyball::live
