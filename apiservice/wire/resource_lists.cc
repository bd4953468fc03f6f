#include "apiservice/wire/resource_lists.h"

#include "absl/strings/str_cat.h"
#include "apiservice/wire/proto_writer.h"
#include "apiservice/wire/text.h"
#include "base/go/arithmetic.h"
#include "base/go/duration.h"

namespace flyball::apiservice::wire {
namespace {

constexpr absl::string_view kApiVersion = "metrics.k8s.io/v1beta1";

void AppendQuantity(int64_t milli, QuantityForm form, std::string* out) {
  out->push_back('"');
  AppendMilliQuantity(milli, form, out);
  out->push_back('"');
}

void AppendUsage(const adapter::Usage& usage, std::string* out) {
  out->append("{\"cpu\":");
  AppendQuantity(usage.cpu_milli, QuantityForm::kDecimal, out);
  out->append(",\"memory\":");
  AppendQuantity(usage.memory_milli, QuantityForm::kBinary, out);
  out->push_back('}');
}

void AppendMetadata(const kube::ObjectMeta& meta, absl::Time now, std::string* out) {
  out->append("\"metadata\":{\"name\":");
  AppendJsonString(meta.name, out);
  if (!meta.ns.empty()) {
    out->append(",\"namespace\":");
    AppendJsonString(meta.ns, out);
  }
  out->append(",\"creationTimestamp\":");
  AppendJsonTime(now, out);
  if (!meta.labels.empty()) {
    out->append(",\"labels\":{");
    for (const auto& [key, value] : meta.labels) {
      if (out->back() != '{') out->push_back(',');
      AppendJsonString(key, out);
      out->push_back(':');
      AppendJsonString(value, out);
    }
    out->push_back('}');
  }
  out->push_back('}');
}

void AppendSampleTimes(absl::Time timestamp, absl::Duration window, std::string* out) {
  out->append(",\"timestamp\":");
  AppendJsonTime(timestamp, out);
  out->append(",\"window\":\"");
  go::AppendDuration(window, *out);
  out->push_back('"');
}

// The fields of one object, from metadata on, with the closing brace.
void AppendFields(const adapter::PodMetrics& pod, absl::Time now, std::string* out) {
  AppendMetadata(*pod.pod, now, out);
  AppendSampleTimes(pod.timestamp, pod.window, out);
  out->append(",\"containers\":[");
  for (const adapter::ContainerUsage& container : pod.containers) {
    if (out->back() != '[') out->push_back(',');
    out->append("{\"name\":");
    AppendJsonString(container.name, out);
    out->append(",\"usage\":");
    AppendUsage(container.usage, out);
    out->push_back('}');
  }
  out->append("]}");
}

void AppendFields(const adapter::NodeMetrics& node, absl::Time now, std::string* out) {
  AppendMetadata(*node.node, now, out);
  AppendSampleTimes(node.timestamp, node.window, out);
  out->append(",\"usage\":");
  AppendUsage(node.usage, out);
  out->push_back('}');
}

void AppendKind(absl::string_view kind, std::string* out) {
  absl::StrAppend(out, "{\"kind\":\"", kind, "\",\"apiVersion\":\"", kApiVersion, "\",");
}

template <typename T>
std::string ListJson(absl::string_view kind, const std::vector<T>& items, absl::Time now) {
  std::string out;
  out.reserve(128 + items.size() * 512);
  AppendKind(kind, &out);
  out.append("\"metadata\":{},\"items\":[");
  for (size_t i = 0; i < items.size(); ++i) {
    out.append(i > 0 ? ",{" : "{");
    AppendFields(items[i], now, &out);
  }
  out.append("]}\n");
  return out;
}

template <typename T>
std::string ObjectJson(absl::string_view kind, const T& item, absl::Time now) {
  std::string out;
  AppendKind(kind, &out);
  AppendFields(item, now, &out);
  out.push_back('\n');
  return out;
}

// ---- protobuf ----

ProtoWriter MetadataProto(const kube::ObjectMeta& meta, absl::Time now) {
  ProtoWriter out;
  out.String(1, meta.name);
  out.String(2, "");  // Go writes its texts and numbers also when they are empty
  out.String(3, meta.ns);
  for (const int empty_text : {4, 5, 6}) out.String(empty_text, "");
  out.Int(7, 0);
  out.Time(8, now);
  for (const auto& [key, value] : meta.labels) out.MapEntry(11, key, value);
  return out;
}

void UsageEntry(int field, absl::string_view name, int64_t milli, QuantityForm form,
                ProtoWriter* out) {
  std::string text;
  AppendMilliQuantity(milli, form, &text);
  ProtoWriter entry;
  entry.String(1, name);
  entry.Quantity(2, text);
  out->Message(field, entry);
}

void UsageProto(int field, const adapter::Usage& usage, ProtoWriter* out) {
  UsageEntry(field, "cpu", usage.cpu_milli, QuantityForm::kDecimal, out);
  UsageEntry(field, "memory", usage.memory_milli, QuantityForm::kBinary, out);
}

ProtoWriter WindowProto(absl::Duration window) {
  ProtoWriter out;
  out.Int(1, absl::ToInt64Nanoseconds(window));
  return out;
}

ProtoWriter ObjectProto(const adapter::PodMetrics& pod, absl::Time now) {
  ProtoWriter out;
  out.Message(1, MetadataProto(*pod.pod, now));
  out.Time(2, pod.timestamp);
  out.Message(3, WindowProto(pod.window));
  for (const adapter::ContainerUsage& container : pod.containers) {
    ProtoWriter item;
    item.String(1, container.name);
    UsageProto(2, container.usage, &item);
    out.Message(4, item);
  }
  return out;
}

ProtoWriter ObjectProto(const adapter::NodeMetrics& node, absl::Time now) {
  ProtoWriter out;
  out.Message(1, MetadataProto(*node.node, now));
  out.Time(2, node.timestamp);
  out.Message(3, WindowProto(node.window));
  UsageProto(4, node.usage, &out);
  return out;
}

template <typename T>
std::string ListProto(absl::string_view kind, const std::vector<T>& items, absl::Time now) {
  ProtoWriter out;
  out.Message(1, EmptyListMeta());
  for (const T& item : items) out.Message(2, ObjectProto(item, now));
  return ProtoEnvelope(kApiVersion, kind, out);
}

// ---- tables ----

adapter::Usage UsageOf(const adapter::PodMetrics& pod) {
  adapter::Usage sum;
  for (const adapter::ContainerUsage& container : pod.containers) {
    sum.cpu_milli = WrapAdd(sum.cpu_milli, container.usage.cpu_milli);
    sum.memory_milli = WrapAdd(sum.memory_milli, container.usage.memory_milli);
  }
  return sum;
}
const kube::ObjectMeta& MetaOf(const adapter::PodMetrics& pod) { return *pod.pod; }
absl::string_view KindOf(const adapter::PodMetrics&) { return "PodMetrics"; }
adapter::Usage UsageOf(const adapter::NodeMetrics& node) { return node.usage; }
const kube::ObjectMeta& MetaOf(const adapter::NodeMetrics& node) { return *node.node; }
absl::string_view KindOf(const adapter::NodeMetrics&) { return "NodeMetrics"; }

constexpr absl::string_view kColumns =
    R"({"name":"Name","type":"string","format":"name",)"
    R"("description":"Name of the resource","priority":0},)"
    R"({"name":"cpu","type":"string","format":"quantity","description":"","priority":0},)"
    R"({"name":"memory","type":"string","format":"quantity","description":"","priority":0},)"
    R"({"name":"Window","type":"string","format":"duration","description":"","priority":0})";

// What stands behind a row.
template <typename T>
void AppendRowObject(const T& item, absl::string_view version, IncludeObject include,
                     absl::Time now, std::string* out) {
  switch (include) {
    case IncludeObject::kNone:
      out->append("null");
      return;
    case IncludeObject::kObject:
      AppendKind(KindOf(item), out);
      AppendFields(item, now, out);
      return;
    case IncludeObject::kMetadata:
      absl::StrAppend(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/",
                      version, "\",");
      AppendMetadata(MetaOf(item), now, out);
      out->push_back('}');
      return;
  }
}

template <typename T>
std::string TableJson(const std::vector<T>& items, absl::string_view version, IncludeObject include,
                      absl::Time now) {
  std::string out = absl::StrCat("{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/", version,
                                 "\",\"metadata\":{},\"columnDefinitions\":");
  // The original names its columns at the first row.
  if (items.empty()) return absl::StrCat(out, "null,\"rows\":null}\n");
  absl::StrAppend(&out, "[", kColumns, "],\"rows\":[");
  for (size_t i = 0; i < items.size(); ++i) {
    const adapter::Usage usage = UsageOf(items[i]);
    out.append(i > 0 ? ",{\"cells\":[" : "{\"cells\":[");
    AppendJsonString(MetaOf(items[i]).name, &out);
    out.push_back(',');
    AppendQuantity(usage.cpu_milli, QuantityForm::kDecimal, &out);
    out.push_back(',');
    AppendQuantity(usage.memory_milli, QuantityForm::kBinary, &out);
    out.append(",\"");
    go::AppendDuration(items[i].window, out);
    out.append("\"],\"object\":");
    AppendRowObject(items[i], version, include, now, &out);
    out.push_back('}');
  }
  out.append("]}\n");
  return out;
}

}  // namespace

std::string PodMetricsListJson(const std::vector<adapter::PodMetrics>& pods, absl::Time now) {
  return ListJson("PodMetricsList", pods, now);
}
std::string PodMetricsJson(const adapter::PodMetrics& pod, absl::Time now) {
  return ObjectJson("PodMetrics", pod, now);
}
std::string PodMetricsListProtobuf(const std::vector<adapter::PodMetrics>& pods, absl::Time now) {
  return ListProto("PodMetricsList", pods, now);
}
std::string PodMetricsProtobuf(const adapter::PodMetrics& pod, absl::Time now) {
  return ProtoEnvelope(kApiVersion, "PodMetrics", ObjectProto(pod, now));
}

std::string NodeMetricsListJson(const std::vector<adapter::NodeMetrics>& nodes, absl::Time now) {
  return ListJson("NodeMetricsList", nodes, now);
}
std::string NodeMetricsJson(const adapter::NodeMetrics& node, absl::Time now) {
  return ObjectJson("NodeMetrics", node, now);
}
std::string NodeMetricsListProtobuf(const std::vector<adapter::NodeMetrics>& nodes,
                                    absl::Time now) {
  return ListProto("NodeMetricsList", nodes, now);
}
std::string NodeMetricsProtobuf(const adapter::NodeMetrics& node, absl::Time now) {
  return ProtoEnvelope(kApiVersion, "NodeMetrics", ObjectProto(node, now));
}

std::string PodTableJson(const std::vector<adapter::PodMetrics>& pods, absl::string_view version,
                         IncludeObject include, absl::Time now) {
  return TableJson(pods, version, include, now);
}
std::string NodeTableJson(const std::vector<adapter::NodeMetrics>& nodes, absl::string_view version,
                          IncludeObject include, absl::Time now) {
  return TableJson(nodes, version, include, now);
}

}  // namespace flyball::apiservice::wire
