#include "adapter/live/formats/otlp_protobuf.h"
#include "adapter/live/formats/wire_reader.h"

namespace flyball::formats {
namespace {

// Field numbers, by message.
namespace request {
constexpr int kResourceMetrics = 1;
}
namespace resource_metrics {
constexpr int kResource = 1, kScopeMetrics = 2;
}
namespace scope_metrics {
constexpr int kMetrics = 2;
}
namespace metric {
constexpr int kName = 1, kDescription = 2, kUnit = 3;
constexpr int kGauge = 5, kSum = 7, kHistogram = 9, kExponentialHistogram = 10, kSummary = 11;
}  // namespace metric
namespace data {  // of each kind
constexpr int kPoints = 1, kTemporality = 2, kMonotonic = 3;
}
OtlpKind KindOfField(int field) {
  return field == metric::kGauge                  ? OtlpKind::kGauge
         : field == metric::kSum                  ? OtlpKind::kSum
         : field == metric::kHistogram            ? OtlpKind::kHistogram
         : field == metric::kExponentialHistogram ? OtlpKind::kExponentialHistogram
         : field == metric::kSummary              ? OtlpKind::kSummary
                                                  : OtlpKind::kNone;
}

// Reads the fields beside the points, and counts the points.
bool ReadData(absl::string_view message, OtlpMetric& metric) {
  metric.points = 0;
  return ReadFields(message, [&](WireReader& reader, int field) {
    metric.points += field == data::kPoints;
    if (field != data::kTemporality && field != data::kMonotonic) return reader.Skip();
    uint64_t number = 0;
    if (!reader.ReadVarint(&number)) return false;
    if (field == data::kMonotonic) metric.monotonic = number != 0;
    if (field == data::kTemporality) metric.temporality = OtlpTemporalityOf(number);
    return true;
  });
}

bool ReadPoints(absl::string_view message, OtlpKind kind, OtlpSink& sink) {
  return ForEachPart(message, data::kPoints, [&](absl::string_view part) {
    OtlpPoint point;
    if (!ReadOtlpPoint(kind, part, point)) return false;
    sink.OnPoint(point);
    return true;
  });
}

bool ReadMetric(absl::string_view message, OtlpSink& sink) {
  OtlpMetric metric;
  absl::string_view data;
  const bool good = ReadFields(message, [&](WireReader& reader, int field) {
    if (field == metric::kName) return reader.ReadBytes(&metric.name);
    if (field == metric::kDescription) return reader.ReadBytes(&metric.description);
    if (field == metric::kUnit) return reader.ReadBytes(&metric.unit);
    const OtlpKind kind = KindOfField(field);
    if (kind == OtlpKind::kNone) return reader.Skip();
    metric.kind = kind;
    return reader.ReadBytes(&data);
  });
  if (!good || !ReadData(data, metric)) return false;
  sink.OnMetric(metric);
  return ReadPoints(data, metric.kind, sink);
}

bool ReadScope(absl::string_view message, OtlpSink& sink) {
  return ForEachPart(message, scope_metrics::kMetrics,
                     [&](absl::string_view part) { return ReadMetric(part, sink); });
}

bool ReadResource(absl::string_view message, OtlpAttributes& attributes) {
  return ReadFields(message, [&](WireReader& reader, int field) {
    return field == 1 ? ReadAttribute(reader, attributes) : reader.Skip();
  });
}

// Reads the message twice, since the resource applies to all metrics, wherever it is.
bool ReadResourceMetrics(absl::string_view message, OtlpSink& sink) {
  OtlpAttributes attributes;
  const auto on_resource = [&](absl::string_view part) { return ReadResource(part, attributes); };
  if (!ForEachPart(message, resource_metrics::kResource, on_resource)) return false;
  sink.OnResource(attributes);
  const auto on_scope = [&](absl::string_view part) { return ReadScope(part, sink); };
  if (!ForEachPart(message, resource_metrics::kScopeMetrics, on_scope)) return false;
  sink.OnResourceEnd();
  return true;
}

}  // namespace

bool ReadOtlpProtobuf(absl::string_view message, OtlpSink& sink) {
  if (message.size() > INT32_MAX) return false;
  return ForEachPart(message, request::kResourceMetrics,
                     [&](absl::string_view part) { return ReadResourceMetrics(part, sink); });
}

}  // namespace flyball::formats
