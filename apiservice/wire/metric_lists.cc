#include "apiservice/wire/metric_lists.h"

#include <map>

#include "apiservice/wire/text.h"

namespace flyball::apiservice::wire {
namespace {

using kube::Operator;
using kube::Requirement;

constexpr absl::string_view kExternalApiVersion = "external.metrics.k8s.io/v1beta1";

absl::string_view ApiVersionOf(CustomVersion version) {
  return version == CustomVersion::kV1Beta1 ? "custom.metrics.k8s.io/v1beta1"
                                            : "custom.metrics.k8s.io/v1beta2";
}

void Append(absl::string_view text, std::string* out) { out->append(text.data(), text.size()); }

// "" for operators that LabelSelector has no word for.
absl::string_view ExpressionOperator(Operator op) {
  switch (op) {
    case Operator::kIn:
      return "In";
    case Operator::kNotIn:
      return "NotIn";
    case Operator::kExists:
      return "Exists";
    case Operator::kDoesNotExist:
      return "DoesNotExist";
    default:
      return "";
  }
}

struct SplitSelector {
  std::map<std::string, std::string> labels;
  std::vector<const Requirement*> expressions;
};

SplitSelector Split(const kube::Selector& selector) {
  SplitSelector split;
  for (const Requirement& r : selector.requirements()) {
    if (r.op == Operator::kEquals || r.op == Operator::kDoubleEquals) {
      split.labels[r.key] = r.values.empty() ? "" : r.values.front();
    } else if (!ExpressionOperator(r.op).empty()) {
      split.expressions.push_back(&r);
    }
  }
  return split;
}

void AppendExpression(const Requirement& r, std::string* out) {
  out->append("{\"key\":");
  AppendJsonString(r.key, out);
  out->append(",\"operator\":");
  AppendJsonString(ExpressionOperator(r.op), out);
  if (!r.values.empty()) {
    out->append(",\"values\":[");
    for (const std::string& value : r.values) {
      if (out->back() != '[') out->push_back(',');
      AppendJsonString(value, out);
    }
    out->push_back(']');
  }
  out->push_back('}');
}

ProtoWriter LabelSelectorProto(const kube::Selector& selector) {
  const SplitSelector split = Split(selector);
  ProtoWriter out;
  for (const auto& [key, value] : split.labels) out.MapEntry(1, key, value);
  for (const Requirement* r : split.expressions) {
    ProtoWriter expression;
    expression.String(1, r->key);
    expression.String(2, ExpressionOperator(r->op));
    for (const std::string& value : r->values) expression.String(3, value);
    out.Message(2, expression);
  }
  return out;
}

void AppendDescribedObject(const adapter::DescribedObject& object, std::string* out) {
  out->append("{\"describedObject\":{\"kind\":");
  AppendJsonString(object.kind, out);
  if (!object.ns.empty()) {
    out->append(",\"namespace\":");
    AppendJsonString(object.ns, out);
  }
  out->append(",\"name\":");
  AppendJsonString(object.name, out);
  out->append(",\"apiVersion\":");
  AppendJsonString(object.api_version, out);
  out->push_back('}');
}

void AppendHead(absl::string_view kind, absl::string_view api_version, std::string* out) {
  out->append("{\"kind\":\"");
  Append(kind, out);
  out->append("\",\"apiVersion\":\"");
  Append(api_version, out);
  out->append("\",\"metadata\":{},\"items\":[");
}

std::string MilliText(int64_t milli) {
  std::string text;
  AppendMilliQuantity(milli, QuantityForm::kDecimal, &text);
  return text;
}

ProtoWriter ObjectReference(const adapter::DescribedObject& object) {
  ProtoWriter out;
  out.String(1, object.kind);
  out.String(2, object.ns);
  out.String(3, object.name);
  out.String(4, "");
  out.String(5, object.api_version);
  out.String(6, "");
  out.String(7, "");
  return out;
}

void AppendLabels(const std::optional<adapter::LabelSet>& labels, std::string* out) {
  if (!labels.has_value()) {
    out->append("null");
    return;
  }
  out->push_back('{');
  for (const auto& [name, value] : *labels) {
    if (out->back() != '{') out->push_back(',');
    AppendJsonString(name, out);
    out->push_back(':');
    AppendJsonString(value, out);
  }
  out->push_back('}');
}

}  // namespace

std::string LabelSelectorJson(const kube::Selector& selector) {
  if (selector.empty()) return "null";
  const SplitSelector split = Split(selector);
  std::string out = "{";
  if (!split.labels.empty()) {
    out.append("\"matchLabels\":{");
    for (const auto& [key, value] : split.labels) {
      if (out.back() != '{') out.push_back(',');
      AppendJsonString(key, &out);
      out.push_back(':');
      AppendJsonString(value, &out);
    }
    out.push_back('}');
  }
  if (!split.expressions.empty()) {
    if (out.size() > 1) out.push_back(',');
    out.append("\"matchExpressions\":[");
    for (const Requirement* r : split.expressions) {
      if (out.back() != '[') out.push_back(',');
      AppendExpression(*r, &out);
    }
    out.push_back(']');
  }
  out.push_back('}');
  return out;
}

std::string ToJson(const adapter::CustomMetricList& list, CustomVersion version) {
  // What every item has in common is put together once.
  const std::string selector = LabelSelectorJson(list.metric_selector);
  std::string before_value;
  if (version == CustomVersion::kV1Beta2) {
    before_value = ",\"metric\":{\"name\":";
    AppendJsonString(list.metric, &before_value);
    before_value += ",\"selector\":" + selector + "},\"timestamp\":";
  } else {
    before_value = ",\"metricName\":";
    AppendJsonString(list.metric, &before_value);
    before_value += ",\"timestamp\":";
  }
  AppendJsonTime(list.timestamp, &before_value);
  before_value += ",\"value\":\"";
  const std::string after_value =
      version == CustomVersion::kV1Beta2 ? "\"}" : "\",\"selector\":" + selector + "}";

  std::string out;
  out.reserve(128 + list.items.size() * (before_value.size() + after_value.size() + 128));
  AppendHead("MetricValueList", ApiVersionOf(version), &out);
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) out.push_back(',');
    AppendDescribedObject(list.items[i].object, &out);
    out += before_value;
    AppendMilliQuantity(list.items[i].value_milli, QuantityForm::kDecimal, &out);
    out += after_value;
  }
  out.append("]}\n");
  return out;
}

std::string ToProtobuf(const adapter::CustomMetricList& list, CustomVersion version) {
  ProtoWriter message;
  message.Message(1, EmptyListMeta());
  const bool has_selector = !list.metric_selector.empty();
  const ProtoWriter selector = LabelSelectorProto(list.metric_selector);
  ProtoWriter identifier;
  identifier.String(1, list.metric);
  if (has_selector) identifier.Message(2, selector);
  for (const adapter::CustomMetricValue& value : list.items) {
    ProtoWriter item;
    item.Message(1, ObjectReference(value.object));
    if (version == CustomVersion::kV1Beta2) {
      item.Message(2, identifier);
    } else {
      item.String(2, list.metric);
    }
    item.Time(3, list.timestamp);
    item.Quantity(5, MilliText(value.value_milli));
    if (version == CustomVersion::kV1Beta1 && has_selector) item.Message(6, selector);
    message.Message(2, item);
  }
  return ProtoEnvelope(ApiVersionOf(version), "MetricValueList", message);
}

std::string ToJson(const adapter::ExternalMetricList& list) {
  std::string name;
  AppendJsonString(list.metric, &name);
  std::string out;
  out.reserve(128 + list.items.size() * (name.size() + 192));
  AppendHead("ExternalMetricValueList", kExternalApiVersion, &out);
  for (size_t i = 0; i < list.items.size(); ++i) {
    const adapter::ExternalMetricValue& item = list.items[i];
    if (i > 0) out.push_back(',');
    out.append("{\"metricName\":");
    out.append(name);
    out.append(",\"metricLabels\":");
    AppendLabels(item.labels, &out);
    out.append(",\"timestamp\":");
    AppendJsonTime(item.timestamp, &out);
    out.append(",\"value\":\"");
    AppendMilliQuantity(item.value_milli, QuantityForm::kDecimal, &out);
    out.append("\"}");
  }
  out.append("]}\n");
  return out;
}

std::string ToProtobuf(const adapter::ExternalMetricList& list) {
  ProtoWriter message;
  message.Message(1, EmptyListMeta());
  for (const adapter::ExternalMetricValue& value : list.items) {
    ProtoWriter item;
    item.String(1, list.metric);
    if (value.labels.has_value()) {
      for (const auto& [key, text] : *value.labels) item.MapEntry(2, key, text);
    }
    item.Time(3, value.timestamp);
    item.Quantity(5, MilliText(value.value_milli));
    message.Message(2, item);
  }
  return ProtoEnvelope(kExternalApiVersion, "ExternalMetricValueList", message);
}

}  // namespace flyball::apiservice::wire
