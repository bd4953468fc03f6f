// Parses the bytes that name a scraped series.
//
// Pure. Source: Prometheus 3.15.0 model/textparse (Labels, normalizeFloatsInLabelValues).
// Limits: kMaxSeriesText, and a number of labels, beyond which no memory is taken.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"

namespace flyball::formats {

// The error of a series whose text is longer than kMaxSeriesText.
absl::Status SeriesTextTooLong();

// Labels sorted by name, including `__name__`, with the text that they point into if that is not
// the text of the series. A reader of many series reuses one object, so that memory is taken once.
class SeriesLabels {
 public:
  // `series` as in ScrapedSample; it must outlive the labels. Labels with an empty value are left
  // out. `canonical_bounds`: a `1` in `le` of histograms and `quantile` of summaries becomes `1.0`,
  // as since Prometheus 3.
  //   kInvalidArgument  a malformed series, a repeated label or one without a name
  //   kOutOfRange       a text of more than kMaxSeriesText, or more than `most` labels: these are
  //                     not kept, and labels() has the first ones and the metric's name, unsorted
  absl::Status Read(absl::string_view series, MetricType type, bool canonical_bounds,
                    size_t most = kMaxSentLabels);

  const std::vector<LabelView>& labels() const { return labels_; }

  // The names of labels with an empty value, unsorted; at most the first kMaxSentLabels of them.
  const std::vector<absl::string_view>& empty_names() const { return empty_names_; }

 private:
  friend class SeriesLabelsVisitor;
  absl::string_view Own(absl::string_view text);

  std::vector<LabelView> labels_;
  std::vector<absl::string_view> empty_names_;
  std::string scratch_;  // unescaped text; reserved before views point into it
};

}  // namespace flyball::formats
