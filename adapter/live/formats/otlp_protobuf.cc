#include "adapter/live/formats/otlp_protobuf.h"
#include "adapter/live/formats/otlp_readers.h"
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
  WireReader reader(message);
  metric.points = 0;
  while (const int field = reader.Next()) {
    uint64_t number = 0;
    metric.points += field == data::kPoints;
    if (field == data::kTemporality || field == data::kMonotonic) {
      if (!reader.ReadVarint(&number)) return false;
      if (field == data::kMonotonic) metric.monotonic = number != 0;
      if (field == data::kTemporality) metric.temporality = OtlpTemporalityOf(number);
    } else if (!reader.Skip()) {
      return false;
    }
  }
  return reader.AtEnd();
}

bool ReadPoints(absl::string_view message, OtlpKind kind, OtlpSink& sink) {
  WireReader reader(message);
  while (const int field = reader.Next()) {
    absl::string_view part;
    if (field != data::kPoints) {
      if (!reader.Skip()) return false;
      continue;
    }
    OtlpPoint point;
    if (!reader.ReadBytes(&part) || !ReadOtlpPoint(kind, part, point)) return false;
    sink.OnPoint(point);
  }
  return true;
}

bool ReadMetric(absl::string_view message, OtlpSink& sink) {
  OtlpMetric metric;
  absl::string_view data;
  WireReader reader(message);
  while (const int field = reader.Next()) {
    const OtlpKind kind = KindOfField(field);
    bool good = true;
    if (field == metric::kName) {
      good = reader.ReadText(&metric.name);
    } else if (field == metric::kDescription) {
      good = reader.ReadText(&metric.description);
    } else if (field == metric::kUnit) {
      good = reader.ReadText(&metric.unit);
    } else if (kind != OtlpKind::kNone) {
      metric.kind = kind;
      good = reader.ReadBytes(&data);
    } else {
      good = reader.Skip();
    }
    if (!good) return false;
  }
  if (!reader.AtEnd() || !ReadData(data, metric)) return false;
  sink.OnMetric(metric);
  return ReadPoints(data, metric.kind, sink);
}

bool ReadScope(absl::string_view message, OtlpSink& sink) {
  WireReader reader(message);
  while (const int field = reader.Next()) {
    absl::string_view part;
    if (field != scope_metrics::kMetrics) {
      if (!reader.Skip()) return false;
    } else if (!reader.ReadBytes(&part) || !ReadMetric(part, sink)) {
      return false;
    }
  }
  return reader.AtEnd();
}

bool ReadResource(absl::string_view message, OtlpAttributes& attributes) {
  WireReader reader(message);
  while (const int field = reader.Next()) {
    if (!(field == 1 ? ReadAttribute(reader, attributes) : reader.Skip())) return false;
  }
  return reader.AtEnd();
}

// Reads the message twice, since the resource applies to all metrics, wherever it is.
bool ReadResourceMetrics(absl::string_view message, OtlpSink& sink) {
  OtlpAttributes attributes;
  absl::string_view part;
  WireReader first(message);
  while (const int field = first.Next()) {
    if (field != resource_metrics::kResource) {
      if (!first.Skip()) return false;
    } else if (!first.ReadBytes(&part) || !ReadResource(part, attributes)) {
      return false;
    }
  }
  if (!first.AtEnd()) return false;
  sink.OnResource(attributes);
  WireReader second(message);
  while (const int field = second.Next()) {
    if (field != resource_metrics::kScopeMetrics) {
      if (!second.Skip()) return false;
    } else if (!second.ReadBytes(&part) || !ReadScope(part, sink)) {
      return false;
    }
  }
  sink.OnResourceEnd();
  return true;
}

}  // namespace

bool ReadOtlpProtobuf(absl::string_view message, OtlpSink& sink) {
  if (message.size() > INT32_MAX) return false;
  WireReader reader(message);
  while (const int field = reader.Next()) {
    absl::string_view part;
    if (field != request::kResourceMetrics) {
      if (!reader.Skip()) return false;
    } else if (!reader.ReadBytes(&part) || !ReadResourceMetrics(part, sink)) {
      return false;
    }
  }
  return reader.AtEnd();
}

}  // namespace flyball::formats
