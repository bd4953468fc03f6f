// Turns OpenTelemetry's data points into series and samples.
//
// Pure. Source: Prometheus 3.15.0 storage/remote/otlptranslator/prometheusremotewrite. Exponential
// histograms are samples of classic ones here (ExpandExponents).
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/otlp.h"
#include "adapter/live/formats/samples.h"
#include "promql/labels.h"

namespace flyball::formats {

// The labels of the series of one resource. Not thread-safe.
class OtlpLabels {
 public:
  // `promoted`: the keys of resource attributes that each series gets as labels.
  explicit OtlpLabels(std::vector<std::string> promoted) : promoted_(std::move(promoted)) {}

  void SetResource(const OtlpAttributes& attributes);

  // The labels of a point's series, without `__name__`, `le` and `quantile`: its attributes, `job`
  // (service.namespace/service.name), `instance` (service.instance.id) and promoted attributes.
  // If several attributes have the same label name, their values are joined by `;`.
  //   kInvalidArgument  an attribute without a name that a label could have, or not UTF-8
  //   kOutOfRange       more than kMaxAttributes, more than kMaxLabels, or one that is too long
  absl::StatusOr<promql::LabelSet> OfPoint(const OtlpAttributes& attributes) const;

  // The labels of target_info: the resource's other attributes. Empty if there are none, or neither
  // job nor instance. Errors as above.
  absl::StatusOr<promql::LabelSet> OfTarget() const;

 private:
  // Attributes of the resource, or null.
  void SetSender(const OtlpAttribute* service, const OtlpAttribute* space,
                 const OtlpAttribute* instance);

  absl::Status status_;  // of attributes that every point gets from the resource
  std::string job_, instance_;
  promql::LabelSet resource_labels_;  // the promoted ones
  OtlpAttributes described_;          // of the resource, without those of job and instance
  const std::vector<std::string> promoted_;
};

using OnOtlpSample = absl::FunctionRef<void(const std::vector<LabelView>& labels, double value)>;

// Calls on_sample for each sample of a point of that kind; labels are in no order and may have
// empty values. If the point has no value, the samples are staleness markers.
void ForEachOtlpSample(absl::string_view name, OtlpKind kind, const promql::LabelSet& labels,
                       const OtlpPoint& point, OnOtlpSample on_sample);

}  // namespace flyball::formats
