#include "adapter/live/scrape/sample_labels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "base/status_macros.h"

namespace flyball::scrape {

using promql::LabelSet;

namespace {

absl::Status OverLimit(absl::string_view what, uint64_t limit, absl::string_view metric) {
  return absl::ResourceExhaustedError(absl::StrCat(
      what, " is over its limit of ", limit, ": a series of ", go::Quote(metric.substr(0, 100))));
}

absl::string_view MetricOf(const std::vector<formats::LabelView>& labels) {
  for (const auto& [name, value] : labels) {
    if (name == "__name__") return value;
  }
  return "";
}

}  // namespace

// A label of the page with the name of a target's label is renamed, or kept if labels are honored.
// Then an empty one also removes the target's label: pages that report for others, such as
// /federate, say in this way that a series has no such label.
void SampleLabels::AddTargetLabels(const formats::SeriesLabels& page,
                                   relabel::LabelEditor& editor) const {
  const std::vector<absl::string_view>& empty = page.empty_names();
  LabelSet renamed;
  for (const auto& [name, value] : target_) {
    const absl::string_view exposed = editor.Get(name);
    const bool is_there =
        !exposed.empty() || std::find(empty.begin(), empty.end(), name) != empty.end();
    if (job_->honor_labels && is_there) continue;
    if (!exposed.empty()) renamed.emplace_back(name, std::string(exposed));
    editor.Set(name, value);
  }
  std::stable_sort(renamed.begin(), renamed.end(),
                   [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  for (auto& [name, value] : renamed) {
    std::string free = absl::StrCat("exported_", name);
    while (!editor.Get(free).empty()) free.insert(0, "exported_");
    editor.Set(free, std::move(value));
  }
}

absl::Status SampleLabels::Check(const LabelSet& labels) const {
  const absl::string_view metric = promql::LabelValue(labels, "__name__");
  if (metric.empty()) {
    return absl::InvalidArgumentError("a series has no name, or the rules have taken it");
  }
  const Limits& limits = job_->limits;
  if (limits.labels > 0 && labels.size() > limits.labels) {
    return OverLimit("label_limit", limits.labels, metric);
  }
  for (const auto& [name, value] : labels) {
    if (!relabel::IsLabelName(name, job_->legacy_names)) {
      return absl::InvalidArgumentError(
          absl::StrCat(go::Quote(name.substr(0, 100)), " is no name of a label"));
    }
    RETURN_IF_ERROR(CheckLengths(name, value, metric));
  }
  return absl::OkStatus();
}

absl::Status SampleLabels::CheckLengths(absl::string_view name, absl::string_view value,
                                        absl::string_view metric) const {
  const Limits& limits = job_->limits;
  if (limits.label_name_bytes > 0 && name.size() > limits.label_name_bytes) {
    return OverLimit("label_name_length_limit", limits.label_name_bytes, metric);
  }
  if (limits.label_value_bytes > 0 && value.size() > limits.label_value_bytes) {
    return OverLimit("label_value_length_limit", limits.label_value_bytes, metric);
  }
  return absl::OkStatus();
}

// The limits hold for what the rules leave. Without rules every label of the page stays, at most
// with a longer name, so too many labels are noticed before any is copied.
absl::Status SampleLabels::Read(absl::string_view series, formats::MetricType type,
                                formats::SeriesLabels& reader) const {
  const bool all_stay = job_->metric_relabel_rules.empty();
  const uint64_t limit = job_->limits.labels;
  const bool counts = all_stay && limit > 0 && limit <= formats::kMaxSentLabels;
  const absl::Status status =
      reader.Read(series, type, job_->canonical_bounds, counts ? limit : formats::kMaxSentLabels);
  if (absl::IsOutOfRange(status)) {
    const bool too_many = reader.labels().size() > limit;
    return counts && too_many ? OverLimit("label_limit", limit, MetricOf(reader.labels()))
                              : absl::ResourceExhaustedError(status.message());
  }
  RETURN_IF_ERROR(status);
  if (!all_stay) return absl::OkStatus();
  const absl::string_view metric = MetricOf(reader.labels());
  for (const auto& [name, value] : reader.labels()) {
    RETURN_IF_ERROR(CheckLengths(name, value, metric));
  }
  return absl::OkStatus();
}

absl::StatusOr<LabelSet> SampleLabels::Of(absl::string_view series,
                                          formats::MetricType type) const {
  formats::SeriesLabels reader;
  RETURN_IF_ERROR(Read(series, type, reader));
  LabelSet exposed;
  exposed.reserve(reader.labels().size());
  for (const formats::LabelView& label : reader.labels()) {
    exposed.emplace_back(std::string(label.name), std::string(label.value));
  }
  relabel::LabelEditor editor(std::move(exposed));
  AddTargetLabels(reader, editor);
  if (!relabel::Apply(job_->metric_relabel_rules, editor)) return LabelSet();
  LabelSet labels = editor.Take();
  if (labels.empty()) return labels;
  RETURN_IF_ERROR(Check(labels));
  return labels;
}

}  // namespace flyball::scrape
