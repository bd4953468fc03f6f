#include "adapter/live/formats/otlp_series.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "adapter/live/formats/otlp_names.h"
#include "adapter/live/formats/text_scanner.h"
#include "base/go/text.h"
#include "base/one_line.h"
#include "base/status_macros.h"
#include "promql/engine/series.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

constexpr absl::string_view kName = "__name__";
constexpr absl::string_view kServiceName = "service.name";
constexpr absl::string_view kServiceNamespace = "service.namespace";
constexpr absl::string_view kServiceInstance = "service.instance.id";

// The value of the label, which is made if there is none.
std::string& ValueOf(absl::string_view name, promql::LabelSet& labels) {
  const auto at = std::lower_bound(
      labels.begin(), labels.end(), name,
      [](const auto& label, absl::string_view wanted) { return label.first < wanted; });
  if (at != labels.end() && at->first == name) return at->second;
  return labels.emplace(at, name, "")->second;
}

absl::Status TooLong(absl::string_view name) {
  return absl::OutOfRangeError(absl::StrCat(
      "attribute ", promql::Quote(name.substr(0, kMaxLabelNameBytes)), " is longer than ",
      kMaxLabelNameBytes, " bytes of name or ", kMaxLabelValueBytes, " bytes of value"));
}

absl::Status CheckCount(const OtlpAttributes& attributes) {
  if (attributes.size() <= kMaxAttributes) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("a resource or point has more than ", kMaxAttributes, " attributes"));
}

absl::StatusOr<promql::LabelSet> LabelsOf(const OtlpAttributes& attributes) {
  RETURN_IF_ERROR(CheckCount(attributes));
  std::vector<const OtlpAttribute*> sorted;
  for (const OtlpAttribute& attribute : attributes) sorted.push_back(&attribute);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->key < b->key; });
  promql::LabelSet labels;
  size_t with_value = 0;
  for (const OtlpAttribute* attribute : sorted) {
    if (attribute->key == kName) continue;
    if (attribute->too_long) return TooLong(attribute->key);
    if (!go::IsUtf8(attribute->value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute ", promql::Quote(Abridged(attribute->key, kMaxLabelNameBytes)),
                       " is not UTF-8"));
    }
    ASSIGN_OR_RETURN(const std::string name, OtlpLabelName(attribute->key));
    std::string& value = ValueOf(name, labels);
    if (value.empty()) {
      value = attribute->value;
      if (!value.empty() && ++with_value > kMaxLabels) {
        return absl::OutOfRangeError(absl::StrCat("more than ", kMaxLabels, " attributes"));
      }
    } else {
      absl::StrAppend(&value, ";", attribute->value);
    }
    if (name.size() > kMaxLabelNameBytes || value.size() > kMaxLabelValueBytes) {
      return TooLong(name);
    }
  }
  return labels;
}

// Hands over the samples of one point.
class SampleMaker {
 public:
  SampleMaker(absl::string_view name, const promql::LabelSet& labels, bool stale,
              OnOtlpSample on_sample)
      : name_(name), labels_(labels), stale_(stale), on_sample_(on_sample) {}

  void Add(absl::string_view suffix, double value) { AddWith(suffix, "", "", value); }

  void AddWith(absl::string_view suffix, absl::string_view label, absl::string_view label_value,
               double value) {
    const std::string name = absl::StrCat(name_, suffix);
    views_.clear();
    views_.push_back({kName, name});
    if (!label.empty()) views_.push_back({label, label_value});
    for (const auto& [key, text] : labels_) {
      if (key != kName && key != label) views_.push_back({key, text});
    }
    on_sample_(views_, stale_ ? promql::StaleMarker() : value);
  }

  void AddBuckets(const std::vector<OtlpBucket>& buckets, double all) {
    double below = 0;
    for (const OtlpBucket& bucket : buckets) {
      below += bucket.count;
      AddWith("_bucket", "le", promql::FormatPlain(bucket.upper), below);
    }
    AddWith("_bucket", "le", "+Inf", all);
  }

 private:
  const absl::string_view name_;
  const promql::LabelSet& labels_;
  const bool stale_;
  const OnOtlpSample on_sample_;
  std::vector<LabelView> views_;
};

}  // namespace

void OtlpLabels::SetResource(const OtlpAttributes& attributes) {
  status_ = CheckCount(attributes);
  job_.clear();
  instance_.clear();
  resource_labels_.clear();
  described_.clear();
  if (!status_.ok()) return;
  const OtlpAttribute *service = nullptr, *space = nullptr, *instance = nullptr;
  for (const OtlpAttribute& attribute : attributes) {
    if (attribute.key == kServiceName) {
      service = &attribute;
    } else if (attribute.key == kServiceNamespace) {
      space = &attribute;
    } else if (attribute.key == kServiceInstance) {
      instance = &attribute;
    } else {
      described_.push_back(attribute);
    }
    if (std::find(promoted_.begin(), promoted_.end(), attribute.key) == promoted_.end()) continue;
    if (attribute.too_long) status_ = TooLong(attribute.key);
    const auto name = OtlpLabelName(attribute.key);
    if (name.ok() && go::IsUtf8(attribute.value))
      ValueOf(*name, resource_labels_) = attribute.value;
  }
  SetSender(service, space, instance);
}

void OtlpLabels::SetSender(const OtlpAttribute* service, const OtlpAttribute* space,
                           const OtlpAttribute* instance) {
  if (service != nullptr) {
    job_ = space != nullptr ? absl::StrCat(space->value, "/", service->value) : service->value;
    const bool too_long = service->too_long || (space != nullptr && space->too_long);
    if (too_long || job_.size() > kMaxLabelValueBytes) status_ = TooLong(kServiceName);
  }
  if (instance != nullptr) {
    instance_ = instance->value;
    if (instance->too_long) status_ = TooLong(kServiceInstance);
  }
  if (!go::IsUtf8(job_) || !go::IsUtf8(instance_)) {
    status_ = absl::InvalidArgumentError("the name of the service or its instance is not UTF-8");
  }
}

absl::StatusOr<promql::LabelSet> OtlpLabels::OfPoint(const OtlpAttributes& attributes) const {
  RETURN_IF_ERROR(status_);
  ASSIGN_OR_RETURN(promql::LabelSet labels, LabelsOf(attributes));
  for (const auto& [name, text] : resource_labels_) {
    std::string& value = ValueOf(name, labels);
    if (value.empty()) value = text;
  }
  if (!job_.empty()) ValueOf("job", labels) = job_;
  if (!instance_.empty()) ValueOf("instance", labels) = instance_;
  return labels;
}

absl::StatusOr<promql::LabelSet> OtlpLabels::OfTarget() const {
  RETURN_IF_ERROR(status_);
  if (described_.empty()) return promql::LabelSet();
  ASSIGN_OR_RETURN(promql::LabelSet labels, LabelsOf(described_));
  if (!job_.empty()) ValueOf("job", labels) = job_;
  if (!instance_.empty()) ValueOf("instance", labels) = instance_;
  if (promql::LabelValue(labels, "job").empty() && promql::LabelValue(labels, "instance").empty()) {
    return promql::LabelSet();
  }
  return labels;
}

void ForEachOtlpSample(absl::string_view name, OtlpKind kind, const promql::LabelSet& labels,
                       const OtlpPoint& point, OnOtlpSample on_sample) {
  SampleMaker samples(name, labels, point.no_value, on_sample);
  if (kind == OtlpKind::kGauge || kind == OtlpKind::kSum) {
    samples.Add("", point.value);
    return;
  }
  if (point.sum) samples.Add("_sum", *point.sum);
  samples.Add("_count", point.count);
  if (kind != OtlpKind::kSummary) return samples.AddBuckets(point.buckets, point.count);
  for (const OtlpQuantile& quantile : point.quantiles) {
    samples.AddWith("", "quantile", promql::FormatPlain(quantile.quantile), quantile.value);
  }
}

}  // namespace flyball::formats
