// links: formats
//
// Bodies of OTLP metrics of any bytes, as protobuf and as JSON: what a reader hands over is in
// order and within its limits, names are names, and the series of a point have labels of their own.
#include <cstdint>
#include <cstdlib>
#include <set>

#include "adapter/live/formats/otlp.h"
#include "adapter/live/formats/otlp_names.h"
#include "adapter/live/formats/otlp_series.h"
#include "promql/text.h"

namespace {

namespace formats = flyball::formats;

void Require(bool holds) {
  if (!holds) std::abort();
}

class Checker : public formats::OtlpSink {
 public:
  void OnResource(const formats::OtlpAttributes& attributes) override {
    labels_.SetResource(attributes);
    CheckLabels(labels_.OfTarget());
  }
  void OnMetric(const formats::OtlpMetric& metric) override {
    left_ = metric.points;
    kind_ = metric.kind;
    const auto name = formats::OtlpMetricName(metric);
    if (name.ok()) Require(flyball::promql::IsIdentifier(*name, /*colon_allowed=*/true));
  }
  void OnPoint(formats::OtlpPoint& point) override {
    Require(left_-- > 0);
    if (kind_ == formats::OtlpKind::kExponentialHistogram) {
      point.status.Update(formats::ExpandExponents(point));
    }
    const auto labels = labels_.OfPoint(point.attributes);
    CheckLabels(labels);
    if (!labels.ok() || !point.status.ok()) return;
    Require(point.buckets.size() <= 2 * formats::kMaxBuckets + 3);
    for (size_t i = 1; i < point.buckets.size(); ++i) {
      Require(point.buckets[i - 1].upper < point.buckets[i].upper);
    }
    formats::ForEachOtlpSample("m", kind_, *labels, point,
                               [](const std::vector<formats::LabelView>& views, double) {
                                 std::set<absl::string_view> names;
                                 for (const auto& view : views) {
                                   Require(names.insert(view.name).second);
                                 }
                               });
  }
  void OnResourceEnd() override { Require(left_ == 0); }

 private:
  static void CheckLabels(const absl::StatusOr<flyball::promql::LabelSet>& labels) {
    if (!labels.ok()) return;
    for (size_t i = 0; i < labels->size(); ++i) {
      Require(flyball::promql::IsIdentifier((*labels)[i].first, /*colon_allowed=*/false));
      Require(i == 0 || (*labels)[i - 1].first < (*labels)[i].first);
    }
  }

  formats::OtlpLabels labels_{{"service.name", "a"}};
  formats::OtlpKind kind_ = formats::OtlpKind::kNone;
  size_t left_ = 0;  // points of the metric
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view body(reinterpret_cast<const char*>(data), size);
  for (const auto encoding : {formats::OtlpEncoding::kProtobuf, formats::OtlpEncoding::kJson}) {
    Checker checker;
    (void)formats::ReadOtlp(encoding, body, checker);
  }
  return 0;
}
