#include "apiservice/wire/metric_lists.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "apiservice/wire/text.h"

namespace flyball::apiservice::wire {
namespace {

using kube::Operator;
using kube::Requirement;

constexpr absl::string_view kExternalApiVersion = "external.metrics.k8s.io/v1beta1";

std::string ApiVersionOf(absl::string_view version) {
  return absl::StrCat("custom.metrics.k8s.io/", version);
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
    } else if (r.op != Operator::kNotEquals && !SelectorOperator(r.op).empty()) {
      split.expressions.push_back(&r);
    }
  }
  return split;
}

ProtoWriter LabelSelectorProto(const kube::Selector& selector) {
  const SplitSelector split = Split(selector);
  ProtoWriter out;
  for (const auto& [key, value] : split.labels) out.MapEntry(1, key, value);
  for (const Requirement* r : split.expressions) {
    ProtoWriter expression;
    expression.String(1, r->key);
    expression.String(2, SelectorOperator(r->op));
    for (const std::string& value : r->values) expression.String(3, value);
    out.Message(2, expression);
  }
  return out;
}

void AppendDescribedObject(const adapter::DescribedObject& object, std::string* out) {
  out->append("{\"describedObject\":{\"kind\":");
  AppendJsonString(object.kind, out);
  AppendField("namespace", object.ns, out);
  out->append(",\"name\":");
  AppendJsonString(object.name, out);
  out->append(",\"apiVersion\":");
  AppendJsonString(object.api_version, out);
  out->push_back('}');
}

void AppendHead(absl::string_view kind, absl::string_view api_version, std::string* out) {
  absl::StrAppend(out, "{\"kind\":\"", kind, "\",\"apiVersion\":\"", api_version,
                  "\",\"metadata\":{},\"items\":[");
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

}  // namespace

void AppendRequirement(const Requirement& r, std::string* out) {
  out->push_back('{');
  AppendField("key", r.key, out);
  AppendField("operator", SelectorOperator(r.op), out);
  if (!r.values.empty()) {
    AppendKey("values", out);
    AppendStrings(r.values, out);
  }
  out->push_back('}');
}

absl::string_view SelectorOperator(Operator op) {
  switch (op) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals: return "In";
    case Operator::kNotIn:
    case Operator::kNotEquals: return "NotIn";
    case Operator::kExists: return "Exists";
    case Operator::kDoesNotExist: return "DoesNotExist";
    default: return "";
  }
}

std::string LabelSelectorJson(const kube::Selector& selector) {
  if (selector.empty()) return "null";
  const SplitSelector split = Split(selector);
  std::string out = "{";
  if (!split.labels.empty()) {
    AppendKey("matchLabels", &out);
    AppendStringMap(split.labels, &out);
  }
  if (!split.expressions.empty()) {
    AppendKey("matchExpressions", &out);
    out.push_back('[');
    for (const Requirement* r : split.expressions) {
      AppendComma(&out);
      AppendRequirement(*r, &out);
    }
    out.push_back(']');
  }
  out.push_back('}');
  return out;
}

std::string ToJson(const adapter::CustomMetricList& list, absl::string_view version) {
  // What every item has in common is put together once.
  const std::string selector = LabelSelectorJson(list.metric_selector);
  const bool newer = version == "v1beta2";
  std::string before_value = newer ? ",\"metric\":{\"name\":" : ",\"metricName\":";
  AppendJsonString(list.metric, &before_value);
  if (newer) before_value += ",\"selector\":" + selector + "}";
  before_value += ",\"timestamp\":";
  AppendJsonTime(list.timestamp, &before_value);
  before_value += ",\"value\":\"";
  const std::string after_value = newer ? "\"}" : "\",\"selector\":" + selector + "}";

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

std::string ToProtobuf(const adapter::CustomMetricList& list, absl::string_view version) {
  const bool newer = version == "v1beta2";
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
    if (newer) {
      item.Message(2, identifier);
    } else {
      item.String(2, list.metric);
    }
    item.Time(3, list.timestamp);
    item.Quantity(5, MilliText(value.value_milli));
    if (!newer && has_selector) item.Message(6, selector);
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
    if (item.labels.has_value()) {
      AppendStringMap(*item.labels, &out);
    } else {
      out.append("null");
    }
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
