// Computes the labels of one target's samples from those on its page.
//
// Pure; one thread at a time. Nothing is kept for each series, since there is one object for each
// target. Source: Prometheus 3.15.0 scrape/scrape.go (mutateSampleLabels,
// resolveConflictingExposedLabels, verifyLabelLimits).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"
#include "adapter/live/formats/series_labels.h"
#include "adapter/live/relabel/label_editor.h"
#include "adapter/live/scrape/config.h"
#include "promql/labels.h"

namespace flyball::scrape {

class SampleLabels {
 public:
  SampleLabels(std::shared_ptr<const Job> job, promql::LabelSet target)
      : job_(std::move(job)), target_(std::move(target)) {}

  // `series` as in formats::ScrapedSample. An empty result: the rules drop the series.
  //   kInvalidArgument, kResourceExhausted  the whole scrape fails because of this series
  absl::StatusOr<promql::LabelSet> Of(absl::string_view series, formats::MetricType type) const;

  const promql::LabelSet& target() const { return target_; }

 private:
  absl::Status Read(absl::string_view series, formats::MetricType type,
                    formats::SeriesLabels& reader) const;
  void AddTargetLabels(const formats::SeriesLabels& page, relabel::LabelEditor& editor) const;
  absl::Status Check(const promql::LabelSet& labels) const;
  absl::Status CheckLengths(absl::string_view name, absl::string_view value,
                            absl::string_view metric) const;

  const std::shared_ptr<const Job> job_;
  const promql::LabelSet target_;
};

}  // namespace flyball::scrape
