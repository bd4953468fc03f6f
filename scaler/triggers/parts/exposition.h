// One sample of a page in Prometheus's text format.
//
// Pure. Source: exposition format 0.0.4. Lines of other metrics are not checked. Histograms and
// summaries are found by the names of their samples (`x_count`). Memory: only the page, whatever it
// holds.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::scaler {

// `name{label="value",…}`: a sample fits if it has this name and these labels, and perhaps more.
struct SampleSelector {
  static constexpr size_t kMaxLabels = 64;

  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;

  // The text is a selector of PromQL, as KEDA reads it: `{__name__="name",label='value'}` too.
  // kInvalidArgument: it has another form, or more than kMaxLabels labels; operators other than `=`
  // are refused too.
  static absl::StatusOr<SampleSelector> Parse(absl::string_view text);
};

// The first sample that fits; it may be NaN or infinite.
//   kNotFound            none fits
//   kFailedPrecondition  `line N: …`: a line of that metric is malformed, or has more than
//                        kMaxLabels labels
absl::StatusOr<double> FindSample(absl::string_view page, const SampleSelector& selector);

}  // namespace flyball::scaler
