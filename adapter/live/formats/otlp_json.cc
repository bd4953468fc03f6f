#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "adapter/live/formats/otlp_readers.h"
#include "base/go/number.h"
#include "simdjson.h"

namespace flyball::formats {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// The functions here return false if the text is no such message. null counts as an absent field.

absl::string_view ViewOf(std::string_view text) { return {text.data(), text.size()}; }

// Whether `-0` stands at `at` as a whole number.
bool IsNegativeZero(absl::string_view text, size_t at) {
  return text.substr(at, 2) == "-0" && (at == 0 || absl::StrContains(":,[ \t\r\n", text[at - 1])) &&
         (at + 2 == text.size() || absl::StrContains(",]} \t\r\n", text[at + 2]));
}

// Whether `-0` may occur as a number; true also if it occurs within a string.
bool HasNegativeZero(absl::string_view json) {
  for (size_t at = json.find("-0"); at != absl::string_view::npos; at = json.find("-0", at + 1)) {
    if (IsNegativeZero(json, at)) return true;
  }
  return false;
}

// Replaces `-0` by `-0.0`, since the parser reads `-0` as the integer 0, without its sign.
std::string WithSignedZeros(absl::string_view json) {
  std::string written;
  written.reserve(json.size() + 64);
  bool quoted = false;
  for (size_t at = 0; at < json.size(); ++at) {
    written.push_back(json[at]);
    if (json[at] == '"') {
      quoted = !quoted;
    } else if (quoted && json[at] == '\\' && at + 1 < json.size()) {
      written.push_back(json[++at]);
    } else if (!quoted && IsNegativeZero(json, at)) {
      written.append("0.0");
      ++at;
    }
  }
  return written;
}

// The field of that name, or nothing.
std::optional<element> FieldOf(const object& from, absl::string_view name) {
  element field;
  if (from.at_key(std::string_view(name.data(), name.size())).get(field) || field.is_null()) {
    return std::nullopt;
  }
  return field;
}

bool ReadObject(const object& from, absl::string_view name, std::optional<object>& into) {
  const auto field = FieldOf(from, name);
  return !field || !field->get_object().get(into.emplace());
}

// Calls on_item(element) for each item of a list, until it returns false.
template <typename OnItem>
bool ForEach(const object& from, absl::string_view name, OnItem on_item) {
  const auto field = FieldOf(from, name);
  if (!field) return true;
  array items;
  if (field->get_array().get(items)) return false;
  for (const element item : items) {
    if (!on_item(item)) return false;
  }
  return true;
}

template <typename OnObject>
bool ForEachObject(const object& from, absl::string_view name, OnObject on_object) {
  return ForEach(from, name, [&](const element& item) {
    object inner;
    return !item.get_object().get(inner) && on_object(inner);
  });
}

bool ReadText(const object& from, absl::string_view name, absl::string_view& text) {
  const auto field = FieldOf(from, name);
  std::string_view view;
  if (field && field->get_string().get(view)) return false;
  if (field) text = ViewOf(view);
  return true;
}

// Integers of 64 bits are usually written as strings.
template <typename Int>
bool IntOf(const element& field, Int& number) {
  std::string_view text;
  if (!field.get_string().get(text)) return absl::SimpleAtoi(ViewOf(text), &number);
  if (!field.get(number)) return true;
  double zero = 1;  // -0, as WithSignedZeros has written it
  number = 0;
  return !field.get_double().get(zero) && zero == 0;
}

bool DoubleOf(const element& field, double& number) {
  std::string_view text;
  if (field.get_string().get(text)) return !field.get_double().get(number);
  const auto parsed = go::ParseFloat(ViewOf(text));
  if (parsed) number = *parsed;
  return parsed.has_value();
}

template <typename Int>
bool ReadInt(const object& from, absl::string_view name, Int& number) {
  const auto field = FieldOf(from, name);
  return !field || IntOf(*field, number);
}

bool ReadCount(const object& from, absl::string_view name, double& count) {
  uint64_t number = 0;
  if (!ReadInt(from, name, number)) return false;
  count = static_cast<double>(number);
  return true;
}

bool ReadDouble(const object& from, absl::string_view name, double& number) {
  const auto field = FieldOf(from, name);
  return !field || DoubleOf(*field, number);
}

bool ReadInt32(const object& from, absl::string_view name, int32_t& number) {
  int64_t wide = 0;
  if (!ReadInt(from, name, wide) || wide != static_cast<int32_t>(wide)) return false;
  number = static_cast<int32_t>(wide);
  return true;
}

bool ReadValue(const object& from, Place place, OtlpValue& value);

bool ReadKeyValue(const object& from, Place place, absl::string_view& key, OtlpValue& value) {
  std::optional<object> inner;
  return ReadText(from, "key", key) && ReadObject(from, "value", inner) &&
         (!inner || ReadValue(*inner, place, value));
}

bool ReadList(const object& from, Place place, OtlpList& list) {
  return ForEachObject(from, "values", [&](const object& item) {
    return !place.TakeItem() || ReadValue(item, place, list.emplace_back());
  });
}

bool ReadMap(const object& from, Place place, OtlpMap& map) {
  return ForEachObject(from, "values", [&](const object& item) {
    if (!place.TakeItem()) return true;
    absl::string_view key;
    OtlpEntry& entry = map.emplace_back();
    if (!ReadKeyValue(item, place, key, entry.value)) return false;
    if (place.TakeText(key)) entry.key = std::string(key);
    return true;
  });
}

bool ReadBytes(const element& field, Place place, OtlpValue& value) {
  std::string_view text;
  OtlpBytes bytes;
  if (field.get_string().get(text)) return false;
  if (!place.TakeText(ViewOf(text))) return true;
  if (!absl::Base64Unescape(ViewOf(text), &bytes.bytes)) return false;
  value.value = std::move(bytes);
  return true;
}

bool ReadValue(const object& from, Place place, OtlpValue& value) {
  if (place.nesting > kMaxAttributeNesting) return false;
  std::string_view text;
  object inner;
  if (const auto field = FieldOf(from, "stringValue")) {
    if (field->get_string().get(text)) return false;
    if (place.TakeText(ViewOf(text))) value.value = std::string(text);
  } else if (const auto field = FieldOf(from, "boolValue")) {
    return !field->get_bool().get(value.value.emplace<bool>());
  } else if (const auto field = FieldOf(from, "intValue")) {
    return IntOf(*field, value.value.emplace<int64_t>());
  } else if (const auto field = FieldOf(from, "doubleValue")) {
    return DoubleOf(*field, value.value.emplace<double>());
  } else if (const auto field = FieldOf(from, "arrayValue")) {
    return !field->get_object().get(inner) &&
           ReadList(inner, place.Within(), value.value.emplace<OtlpList>());
  } else if (const auto field = FieldOf(from, "kvlistValue")) {
    return !field->get_object().get(inner) &&
           ReadMap(inner, place.Within(), value.value.emplace<OtlpMap>());
  } else if (const auto field = FieldOf(from, "bytesValue")) {
    return ReadBytes(*field, place, value);
  }
  return true;
}

bool ReadAttributes(const object& from, OtlpAttributes& attributes) {
  return ForEachObject(from, "attributes", [&](const object& item) {
    if (attributes.size() > kMaxAttributes) return true;
    absl::string_view key;
    OtlpValue value;
    ValueSize size;
    if (!ReadKeyValue(item, {1, size}, key, value)) return false;
    SetAttribute(key, value, size, attributes.emplace_back());
    return true;
  });
}

// Keeps one more than the limit, so that the excess is noticed.
template <typename Number, typename Read>
bool ReadNumbers(const object& from, absl::string_view name, size_t limit,
                 std::vector<Number>& numbers, Read read) {
  return ForEach(from, name, [&](const element& item) {
    Number number = {};
    if (!read(item, number)) return false;
    if (numbers.size() <= limit) numbers.push_back(number);
    return true;
  });
}

bool ReadExponents(const object& from, absl::string_view name, OtlpExponents& exponents) {
  std::optional<object> inner;
  int32_t offset = 0;
  if (!ReadObject(from, name, inner)) return false;
  if (!inner) return true;
  if (!ReadInt32(*inner, "offset", offset)) return false;
  exponents.offset = offset;
  return ReadNumbers(*inner, "bucketCounts", kMaxExponents, exponents.counts, IntOf<uint64_t>);
}

bool ReadSum(const object& from, OtlpPoint& point) {
  return !FieldOf(from, "sum") || ReadDouble(from, "sum", point.sum.emplace());
}

bool ReadClassicBuckets(const object& from, OtlpPoint& point) {
  std::vector<double> bounds;
  std::vector<uint64_t> counts;
  if (!ReadNumbers(from, "explicitBounds", kMaxBuckets, bounds, DoubleOf) ||
      !ReadNumbers(from, "bucketCounts", kMaxBuckets, counts, IntOf<uint64_t>)) {
    return false;
  }
  SetBuckets(bounds, counts, point);
  return true;
}

bool ReadNumberValue(const object& from, OtlpPoint& point) {
  int64_t number = 0;
  if (!FieldOf(from, "asInt")) return ReadDouble(from, "asDouble", point.value);
  if (!ReadInt(from, "asInt", number)) return false;
  point.value = static_cast<double>(number);
  return true;
}

bool ReadQuantiles(const object& from, OtlpPoint& point) {
  point.sum = point.sum.value_or(0);  // a summary always has a sum
  return ForEachObject(from, "quantileValues", [&](const object& item) {
    if (point.quantiles.size() == kMaxBuckets) {
      point.status = TooMany("quantiles", kMaxBuckets);
      return true;
    }
    OtlpQuantile& quantile = point.quantiles.emplace_back();
    return ReadDouble(item, "quantile", quantile.quantile) &&
           ReadDouble(item, "value", quantile.value);
  });
}

bool ReadKindOfPoint(OtlpKind kind, const object& from, OtlpPoint& point) {
  if (kind == OtlpKind::kGauge || kind == OtlpKind::kSum) return ReadNumberValue(from, point);
  if (!ReadCount(from, "count", point.count) || !ReadSum(from, point)) return false;
  if (kind == OtlpKind::kSummary) return ReadQuantiles(from, point);
  if (kind == OtlpKind::kHistogram) return ReadClassicBuckets(from, point);
  return ReadInt32(from, "scale", point.scale) && ReadCount(from, "zeroCount", point.zero_count) &&
         ReadDouble(from, "zeroThreshold", point.zero_threshold) &&
         ReadExponents(from, "positive", point.positive) &&
         ReadExponents(from, "negative", point.negative);
}

bool ReadPoint(OtlpKind kind, const object& from, OtlpPoint& point) {
  uint64_t start_ns = 0, time_ns = 0, flags = 0;
  if (!ReadInt(from, "startTimeUnixNano", start_ns) || !ReadInt(from, "timeUnixNano", time_ns) ||
      !ReadInt(from, "flags", flags) || !ReadAttributes(from, point.attributes)) {
    return false;
  }
  point.start_ns = static_cast<int64_t>(start_ns);
  point.time_ns = static_cast<int64_t>(time_ns);
  point.no_value = (flags & kOtlpNoRecordedValue) != 0;
  return ReadKindOfPoint(kind, from, point);
}

// The object beside the name of a metric that has its points.
bool FindData(const object& from, OtlpMetric& metric, std::optional<object>& data) {
  constexpr std::pair<absl::string_view, OtlpKind> kFields[] = {
      {"gauge", OtlpKind::kGauge},
      {"sum", OtlpKind::kSum},
      {"histogram", OtlpKind::kHistogram},
      {"exponentialHistogram", OtlpKind::kExponentialHistogram},
      {"summary", OtlpKind::kSummary},
  };
  for (const auto& [name, kind] : kFields) {
    if (!FieldOf(from, name)) continue;
    metric.kind = kind;
    return ReadObject(from, name, data);
  }
  return true;
}

bool ReadMetric(const object& from, OtlpSink& sink) {
  OtlpMetric metric;
  std::optional<object> data;
  uint64_t temporality = 0;
  if (!ReadText(from, "name", metric.name) || !ReadText(from, "unit", metric.unit) ||
      !ReadText(from, "description", metric.description) || !FindData(from, metric, data)) {
    return false;
  }
  if (!data) {
    sink.OnMetric(metric);
    return true;
  }
  if (!ReadInt(*data, "aggregationTemporality", temporality)) return false;
  metric.temporality = OtlpTemporalityOf(temporality);
  if (const auto field = FieldOf(*data, "isMonotonic")) {
    if (field->get_bool().get(metric.monotonic)) return false;
  }
  if (!ForEach(*data, "dataPoints", [&](const element&) { return ++metric.points > 0; })) {
    return false;
  }
  sink.OnMetric(metric);
  return ForEachObject(*data, "dataPoints", [&](const object& item) {
    OtlpPoint point;
    if (!ReadPoint(metric.kind, item, point)) return false;
    sink.OnPoint(point);
    return true;
  });
}

bool ReadResourceMetrics(const object& from, OtlpSink& sink) {
  OtlpAttributes attributes;
  std::optional<object> resource;
  if (!ReadObject(from, "resource", resource)) return false;
  if (resource && !ReadAttributes(*resource, attributes)) return false;
  sink.OnResource(attributes);
  const bool good = ForEachObject(from, "scopeMetrics", [&](const object& scope) {
    return ForEachObject(scope, "metrics",
                         [&](const object& metric) { return ReadMetric(metric, sink); });
  });
  if (good) sink.OnResourceEnd();
  return good;
}

}  // namespace

bool ReadOtlpJson(absl::string_view message, OtlpSink& sink) {
  simdjson::dom::parser parser;
  object root;
  std::string signed_zeros;
  if (HasNegativeZero(message)) {
    signed_zeros = WithSignedZeros(message);
    message = signed_zeros;
  }
  if (parser.parse(message.data(), message.size()).get_object().get(root)) return false;
  return ForEachObject(root, "resourceMetrics",
                       [&](const object& item) { return ReadResourceMetrics(item, sink); });
}

}  // namespace flyball::formats
