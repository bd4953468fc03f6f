#include "query/sample_file.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/formats/samples.h"
#include "adapter/live/formats/series_labels.h"
#include "adapter/live/formats/text.h"
#include "base/status_macros.h"
#include "promql/labels.h"
#include "promql/text.h"

namespace flyball::query {
namespace {

using promql::Labels;
using promql::Point;

// Gathers the points of each series.
class SeriesCollector : public formats::ScrapeSink {
 public:
  void OnSample(const formats::ScrapedSample& sample) override {
    if (!status_.ok()) return;
    if (!sample.time_ms) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("a sample of ", sample.series, " has no time stamp"));
      return;
    }
    const auto [known, inserted] = by_text_.try_emplace(std::string(sample.series), points_.size());
    if (inserted) known->second = PointsOf(sample);
    if (!status_.ok()) return;
    points_[known->second].push_back({*sample.time_ms, sample.value});
  }
  void OnMetadata(const formats::FamilyMetadata&) override {}

  absl::StatusOr<SampleFile> Finish() {
    RETURN_IF_ERROR(status_);
    SampleFile file;
    std::vector<std::shared_ptr<const promql::Series>> series;
    for (size_t i = 0; i < points_.size(); ++i) {
      RETURN_IF_ERROR(PutInOrder(labels_[i], &points_[i]));
      file.newest_ms =
          std::max(file.newest_ms.value_or(points_[i].back().time_ms), points_[i].back().time_ms);
      series.push_back(std::make_shared<promql::MemorySeries>(labels_[i], std::move(points_[i])));
    }
    file.series = promql::MemorySeriesReader(std::move(series));
    return file;
  }

 private:
  // Which points are those of a series that is read for the first time in this spelling.
  size_t PointsOf(const formats::ScrapedSample& sample) {
    // As the file says, in both dialects: only a scrape makes `1.0` of the bound `1`.
    status_ = reader_.Read(sample.series, sample.type, /*canonical_bounds=*/false);
    if (!status_.ok()) return 0;
    promql::LabelsBuilder builder;
    for (const formats::LabelView& label : reader_.labels()) builder.Add(label.name, label.value);
    Labels labels = builder.Build();
    const auto [at, inserted] = by_labels_.try_emplace(labels, points_.size());
    if (inserted) {
      labels_.push_back(std::move(labels));
      points_.emplace_back();
    }
    return at->second;
  }

  static absl::Status PutInOrder(const Labels& labels, std::vector<Point>* points) {
    const auto earlier = [](const Point& a, const Point& b) { return a.time_ms < b.time_ms; };
    if (!std::is_sorted(points->begin(), points->end(), earlier)) {
      std::stable_sort(points->begin(), points->end(), earlier);
    }
    for (size_t i = 1; i < points->size(); ++i) {
      const Point &before = (*points)[i - 1], &now = (*points)[i];
      if (before.time_ms != now.time_ms) continue;
      if (absl::bit_cast<uint64_t>(before.value) == absl::bit_cast<uint64_t>(now.value)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          promql::FormatLabels(labels), " has two values at the time stamp ", now.time_ms, " ms"));
    }
    points->erase(
        std::unique(points->begin(), points->end(),
                    [](const Point& a, const Point& b) { return a.time_ms == b.time_ms; }),
        points->end());
    return absl::OkStatus();
  }

  formats::SeriesLabels reader_;
  absl::Status status_;
  absl::flat_hash_map<std::string, size_t> by_text_;  // as the file spells a series
  absl::flat_hash_map<Labels, size_t> by_labels_;
  std::vector<Labels> labels_;
  std::vector<std::vector<Point>> points_;
};

}  // namespace

absl::StatusOr<SampleFile> ReadSampleFile(absl::string_view text) {
  SeriesCollector collector;
  RETURN_IF_ERROR(formats::ParseOpenMetrics(text, collector));
  return collector.Finish();
}

}  // namespace flyball::query
