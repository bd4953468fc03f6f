#include "adapter/live/receive/otlp_receiver.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapter/live/formats/otlp_names.h"
#include "adapter/live/formats/otlp_series.h"
#include "adapter/live/store/times.h"
#include "base/one_line.h"
#include "base/status_macros.h"
#include "promql/text.h"

namespace flyball::live {
namespace {

using formats::LabelView;
using formats::OtlpKind;
using formats::OtlpMetric;
using formats::OtlpPoint;
using formats::OtlpTemporality;

// The interval at which target_info is repeated between the first and the last sample of a request,
// so that a query at any of these times finds it: half of a query's lookback.
constexpr int64_t kTargetInfoMs = 150'000;

// The bounds that the deltas of a request may get beside their own: this many, and one for each of
// its bytes, since a byte of an exponential histogram is a bound too. Exponential histograms that
// are sent as deltas need some, as each has other bounds.
constexpr size_t kFreeBounds = 500'000;

int64_t MillisecondsOf(int64_t time_ns) { return time_ns / 1'000'000; }

bool HasTemporality(OtlpKind kind) {
  return kind == OtlpKind::kSum || kind == OtlpKind::kHistogram ||
         kind == OtlpKind::kExponentialHistogram;
}

formats::MetricType TypeOf(const OtlpMetric& metric) {
  switch (metric.kind) {
    case OtlpKind::kSum:
      return metric.monotonic ? formats::MetricType::kCounter : formats::MetricType::kGauge;
    case OtlpKind::kGauge: return formats::MetricType::kGauge;
    case OtlpKind::kHistogram:
    case OtlpKind::kExponentialHistogram: return formats::MetricType::kHistogram;
    case OtlpKind::kSummary: return formats::MetricType::kSummary;
    case OtlpKind::kNone: break;
  }
  return formats::MetricType::kUnknown;
}

// Each point has the name for a label of its series, and the unit becomes a part of that.
absl::Status CheckLength(absl::string_view what, absl::string_view text) {
  if (text.size() <= formats::kMaxLabelValueBytes) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("the ", what, " of a metric is longer than ",
                                            formats::kMaxLabelValueBytes, " bytes"));
}

// For an error, since a name may be nearly as long as the request.
std::string QuotedName(const OtlpMetric& metric) {
  return promql::Quote(Abridged(metric.name, formats::kMaxLabelNameBytes));
}

absl::Status CheckMetric(const OtlpMetric& metric) {
  if (!HasTemporality(metric.kind)) return absl::OkStatus();
  if (metric.temporality == OtlpTemporality::kUnspecified) {
    return absl::InvalidArgumentError(
        absl::StrCat("metric ", QuotedName(metric), " is neither cumulative nor delta"));
  }
  const bool delta = metric.temporality == OtlpTemporality::kDelta;
  if (delta && metric.kind == OtlpKind::kSum && !metric.monotonic) {
    return absl::InvalidArgumentError(absl::StrCat(
        "metric ", QuotedName(metric), " is a delta sum that may fall: send it cumulative"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> NameOf(const OtlpMetric& metric) {
  RETURN_IF_ERROR(CheckLength("name", metric.name));
  RETURN_IF_ERROR(CheckLength("unit", metric.unit));
  ASSIGN_OR_RETURN(std::string name, formats::OtlpMetricName(metric));
  RETURN_IF_ERROR(CheckLength("name", name));
  return name;
}

}  // namespace

// Takes the points of one request.
class OtlpReceiver::PointTaker : public formats::OtlpSink {
 public:
  PointTaker(OtlpReceiver& receiver, size_t message_bytes, int64_t now_ms)
      : receiver_(receiver),
        now_ms_(now_ms),
        max_samples_(std::max(receiver.options_.max_samples, message_bytes / 16)),
        deltas_{.now_ms = now_ms, .bounds_left = kFreeBounds + message_bytes},
        labels_(receiver.options_.promote_resource_attributes) {}

  void OnResource(const formats::OtlpAttributes& attributes) override {
    labels_.SetResource(attributes);
    earliest_ms_ = std::numeric_limits<int64_t>::max();
    latest_ms_ = std::numeric_limits<int64_t>::min();
  }

  void OnMetric(const OtlpMetric& metric) override {
    metric_ = metric;
    absl::StatusOr<std::string> name = NameOf(metric);
    metric_status_ = name.status();
    metric_status_.Update(CheckMetric(metric));
    if (name.ok()) {
      name_ = *std::move(name);
      receiver_.ingest_.Note(
          {.name = name_, .type = TypeOf(metric), .help = metric.description, .unit = metric.unit});
    }
    if (metric.points == 0 && received_.reason.empty()) {
      received_.reason = absl::StrCat("metric ", QuotedName(metric), " has no data points");
    }
  }

  void OnPoint(OtlpPoint& point) override {
    const absl::Status status = TakePoint(point);
    if (status.ok()) {
      ++received_.taken;
      const int64_t time_ms = MillisecondsOf(point.time_ns);
      earliest_ms_ = std::min(earliest_ms_, time_ms);
      latest_ms_ = std::max(latest_ms_, time_ms);
      return;
    }
    if (received_.rejected + received_.no_room == 0) {
      received_.reason = Abridged(status.message(), kMaxErrorBytes);
    }
    ++(absl::IsResourceExhausted(status) ? received_.no_room : received_.rejected);
  }

  void OnResourceEnd() override {
    if (earliest_ms_ > latest_ms_) return;
    const auto labels = labels_.OfTarget();
    if (!labels.ok() || labels->empty()) return;
    OtlpPoint info;
    info.value = 1;
    // Times for which the store accepts no sample are skipped.
    const StoreOptions& limits = receiver_.ingest_.store_options();
    const int64_t first_ms = std::max(earliest_ms_, Earlier(now_ms_, limits.retention_ms));
    const int64_t last_ms = std::min(latest_ms_, now_ms_ + limits.max_ahead_ms);
    if (first_ms > last_ms) return;
    for (int64_t at_ms = first_ms; at_ms < last_ms; at_ms += kTargetInfoMs) {
      Store("target_info", OtlpKind::kGauge, *labels, info, at_ms).IgnoreError();
    }
    Store("target_info", OtlpKind::kGauge, *labels, info, last_ms).IgnoreError();
  }

  const OtlpReceived& received() const { return received_; }
  const Received& samples() const { return samples_; }

 private:
  absl::Status TakePoint(OtlpPoint& point) {
    RETURN_IF_ERROR(metric_status_);
    RETURN_IF_ERROR(point.status);
    if (metric_.kind == OtlpKind::kExponentialHistogram) {
      RETURN_IF_ERROR(formats::ExpandExponents(point));
    }
    const absl::StatusOr<promql::LabelSet> read = labels_.OfPoint(point.attributes);
    if (absl::IsOutOfRange(read.status())) receiver_.ingest_.CountRefusedLabels();
    RETURN_IF_ERROR(read.status());
    const promql::LabelSet& labels = *read;
    const auto store = [&] {
      const size_t taken = samples_.taken;
      const absl::Status status =
          Store(name_, metric_.kind, labels, point, MillisecondsOf(point.time_ns));
      return DeltaTotals::Stored{status, samples_.taken > taken};
    };
    const bool delta = HasTemporality(metric_.kind) &&
                       metric_.temporality == OtlpTemporality::kDelta && !point.no_value;
    if (!delta) return store().status;
    key_.clear();
    promql::AppendLabel("", name_, &key_);
    for (const auto& [name, value] : labels) promql::AppendLabel(name, value, &key_);
    return receiver_.totals_.Add(key_, point, deltas_, store);
  }

  // All samples, and the first error; or none, if the request has made too many.
  absl::Status Store(absl::string_view name, OtlpKind kind, const promql::LabelSet& labels,
                     const OtlpPoint& point, int64_t time_ms) {
    if (samples_.all() >= max_samples_) {
      return absl::OutOfRangeError(absl::StrCat("the request makes more than ", max_samples_,
                                                " samples: send fewer points at once"));
    }
    absl::Status status;
    formats::ForEachOtlpSample(
        name, kind, labels, point, [&](const std::vector<LabelView>& views, double value) {
          status.Update(receiver_.ingest_.Append(views, {time_ms, value}, now_ms_, samples_));
        });
    return status;
  }

  OtlpReceiver& receiver_;
  const int64_t now_ms_;
  const size_t max_samples_;
  DeltaTotals::Request deltas_;
  formats::OtlpLabels labels_;
  int64_t earliest_ms_ = 0, latest_ms_ = 0;  // of the resource's points that were taken
  OtlpMetric metric_;
  absl::Status metric_status_;
  std::string name_;
  std::string key_;
  OtlpReceived received_;
  Received samples_;
};

absl::StatusOr<OtlpReceived> OtlpReceiver::Take(formats::OtlpEncoding encoding,
                                                absl::string_view message, int64_t now_ms) {
  PointTaker taker(*this, message.size(), now_ms);
  const absl::Status status = formats::ReadOtlp(encoding, message, taker);
  ingest_.Count(taker.samples());
  if (!status.ok()) return status;
  return taker.received();
}

}  // namespace flyball::live
