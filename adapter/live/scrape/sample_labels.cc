#include "adapter/live/scrape/sample_labels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "base/status_macros.h"

namespace flyball::scrape {

using promql::LabelSet;

namespace {

constexpr bool kCanonicalBounds = true;

absl::Status OverLimit(absl::string_view what, uint64_t limit, const LabelSet& labels) {
  return absl::ResourceExhaustedError(
      absl::StrCat(what, " is over its limit of ", limit, ": a series of ",
                   go::Quote(promql::LabelValue(labels, "__name__").substr(0, 100))));
}

}  // namespace

// A label of the page that has the name of a target's is renamed, or stays if labels are honored.
void SampleLabels::AddTargetLabels() {
  LabelSet renamed;
  for (const auto& [name, value] : target_) {
    const absl::string_view exposed = editor_.Get(name);
    if (job_->honor_labels && !exposed.empty()) continue;
    if (!exposed.empty()) renamed.emplace_back(name, std::string(exposed));
    editor_.Set(name, value);
  }
  std::stable_sort(renamed.begin(), renamed.end(),
                   [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  for (auto& [name, value] : renamed) {
    std::string free = absl::StrCat("exported_", name);
    while (!editor_.Get(free).empty()) free.insert(0, "exported_");
    editor_.Set(free, std::move(value));
  }
}

absl::Status SampleLabels::Check(const LabelSet& labels) const {
  if (promql::LabelValue(labels, "__name__").empty()) {
    return absl::InvalidArgumentError("a series has no name, or the rules have taken it");
  }
  const Limits& limits = job_->limits;
  if (limits.labels > 0 && labels.size() > limits.labels) {
    return OverLimit("label_limit", limits.labels, labels);
  }
  for (const auto& [name, value] : labels) {
    if (!relabel::IsLabelName(name, job_->legacy_names)) {
      return absl::InvalidArgumentError(
          absl::StrCat(go::Quote(name.substr(0, 100)), " is no name of a label"));
    }
    if (limits.label_name_bytes > 0 && name.size() > limits.label_name_bytes) {
      return OverLimit("label_name_length_limit", limits.label_name_bytes, labels);
    }
    if (limits.label_value_bytes > 0 && value.size() > limits.label_value_bytes) {
      return OverLimit("label_value_length_limit", limits.label_value_bytes, labels);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<LabelSet> SampleLabels::Of(absl::string_view series, formats::MetricType type) {
  RETURN_IF_ERROR(reader_.Read(series, type, kCanonicalBounds));
  LabelSet exposed;
  exposed.reserve(reader_.labels().size());
  for (const formats::LabelView& label : reader_.labels()) {
    exposed.emplace_back(std::string(label.name), std::string(label.value));
  }
  editor_.Reset(std::move(exposed));
  AddTargetLabels();
  if (!relabel::Apply(job_->metric_relabel_rules, editor_)) return LabelSet();
  LabelSet labels = editor_.Build();
  if (labels.empty()) return labels;
  RETURN_IF_ERROR(Check(labels));
  return labels;
}

}  // namespace flyball::scrape
