// One sample of a page in Prometheus's text format.
//
// Pure. Source: exposition format 0.0.4. Lines of other metrics are not looked into. Histograms and
// summaries are found by the names of their samples (`x_count`).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::scaler {

// `name{label="value",…}`: a sample that has these labels, and perhaps more.
struct SampleSelector {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;

  // kInvalidArgument; operators other than `=` are refused.
  static absl::StatusOr<SampleSelector> Parse(absl::string_view text);
};

// The first sample that fits; it may be NaN or infinite.
//   kNotFound            none does
//   kFailedPrecondition  `line N: …`: a line of that metric is malformed
absl::StatusOr<double> FindSample(absl::string_view page, const SampleSelector& selector);

}  // namespace flyball::scaler
