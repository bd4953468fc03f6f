#include "apiservice/wire/resource_lists.h"

#include "absl/strings/str_cat.h"
#include "apiservice/wire/proto_writer.h"
#include "apiservice/wire/text.h"
#include "base/go/arithmetic.h"
#include "base/go/duration.h"

namespace flyball::apiservice::wire {
namespace {

std::string ApiVersion(absl::string_view version) {
  return absl::StrCat("metrics.k8s.io/", version);
}

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
  AppendField("namespace", meta.ns, out);
  out->append(",\"creationTimestamp\":");
  AppendJsonTime(now, out);
  if (!meta.labels.empty()) {
    out->append(",\"labels\":");
    AppendStringMap(meta.labels, out);
  }
  out->push_back('}');
}

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

template <typename Item>
void AppendHead(const Item& item, absl::Time now, std::string* out) {
  AppendMetadata(MetaOf(item), now, out);
  out->append(",\"timestamp\":");
  AppendJsonTime(item.timestamp, out);
  out->append(",\"window\":\"");
  go::AppendDuration(item.window, *out);
  out->push_back('"');
}

// The fields of one object, from metadata on, with the closing brace.
void AppendFields(const adapter::PodMetrics& pod, absl::Time now, std::string* out) {
  AppendHead(pod, now, out);
  out->append(",\"containers\":[");
  for (const adapter::ContainerUsage& container : pod.containers) {
    AppendComma(out);
    out->append("{\"name\":");
    AppendJsonString(container.name, out);
    out->append(",\"usage\":");
    AppendUsage(container.usage, out);
    out->push_back('}');
  }
  out->append("]}");
}

void AppendFields(const adapter::NodeMetrics& node, absl::Time now, std::string* out) {
  AppendHead(node, now, out);
  out->append(",\"usage\":");
  AppendUsage(node.usage, out);
  out->push_back('}');
}

void AppendKind(absl::string_view kind, absl::string_view version, std::string* out) {
  absl::StrAppend(out, "{\"kind\":\"", kind, "\",\"apiVersion\":\"", ApiVersion(version), "\",");
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

template <typename Item>
ProtoWriter ProtoHead(const Item& item, absl::Time now) {
  ProtoWriter window;
  window.Int(1, absl::ToInt64Nanoseconds(item.window));
  ProtoWriter out;
  out.Message(1, MetadataProto(MetaOf(item), now));
  out.Time(2, item.timestamp);
  out.Message(3, window);
  return out;
}

ProtoWriter ObjectProto(const adapter::PodMetrics& pod, absl::Time now) {
  ProtoWriter out = ProtoHead(pod, now);
  for (const adapter::ContainerUsage& container : pod.containers) {
    ProtoWriter item;
    item.String(1, container.name);
    UsageProto(2, container.usage, &item);
    out.Message(4, item);
  }
  return out;
}

ProtoWriter ObjectProto(const adapter::NodeMetrics& node, absl::Time now) {
  ProtoWriter out = ProtoHead(node, now);
  UsageProto(4, node.usage, &out);
  return out;
}

// ---- tables ----

constexpr absl::string_view kColumns =
    R"({"name":"Name","type":"string","format":"name",)"
    R"("description":"Name of the resource","priority":0},)"
    R"({"name":"cpu","type":"string","format":"quantity","description":"","priority":0},)"
    R"({"name":"memory","type":"string","format":"quantity","description":"","priority":0},)"
    R"({"name":"Window","type":"string","format":"duration","description":"","priority":0})";

// The object in a row.
template <typename T>
void AppendRowObject(const T& item, absl::string_view version, absl::string_view table_version,
                     IncludeObject include, absl::Time now, std::string* out) {
  switch (include) {
    case IncludeObject::kNone: out->append("null"); return;
    case IncludeObject::kObject:
      AppendKind(KindOf(item), version, out);
      AppendFields(item, now, out);
      return;
    case IncludeObject::kMetadata:
      absl::StrAppend(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/",
                      table_version, "\",");
      AppendMetadata(MetaOf(item), now, out);
      out->push_back('}');
      return;
  }
}

}  // namespace

template <typename Item>
std::string ObjectJson(const Item& item, absl::string_view version, absl::Time now) {
  std::string out;
  AppendKind(KindOf(item), version, &out);
  AppendFields(item, now, &out);
  out.push_back('\n');
  return out;
}

template <typename Item>
std::string ObjectProtobuf(const Item& item, absl::string_view version, absl::Time now) {
  return ProtoEnvelope(ApiVersion(version), KindOf(item), ObjectProto(item, now));
}

template <typename Item>
std::string ListJson(const std::vector<Item>& items, absl::string_view version, absl::Time now) {
  std::string out;
  out.reserve(128 + items.size() * 512);
  AppendKind(absl::StrCat(KindOf(Item()), "List"), version, &out);
  out.append("\"metadata\":{},\"items\":[");
  for (size_t i = 0; i < items.size(); ++i) {
    out.append(i > 0 ? ",{" : "{");
    AppendFields(items[i], now, &out);
  }
  out.append("]}\n");
  return out;
}

template <typename Item>
std::string ListProtobuf(const std::vector<Item>& items, absl::string_view version,
                         absl::Time now) {
  ProtoWriter out;
  out.Message(1, EmptyListMeta());
  for (const Item& item : items) out.Message(2, ObjectProto(item, now));
  return ProtoEnvelope(ApiVersion(version), absl::StrCat(KindOf(Item()), "List"), out);
}

template <typename Item>
std::string TableJson(const std::vector<Item>& items, absl::string_view version,
                      absl::string_view table_version, IncludeObject include, absl::Time now) {
  std::string out = absl::StrCat("{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/", table_version,
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
    AppendRowObject(items[i], version, table_version, include, now, &out);
    out.push_back('}');
  }
  out.append("]}\n");
  return out;
}

template std::string ObjectJson(const adapter::PodMetrics&, absl::string_view, absl::Time);
template std::string ObjectJson(const adapter::NodeMetrics&, absl::string_view, absl::Time);
template std::string ObjectProtobuf(const adapter::PodMetrics&, absl::string_view, absl::Time);
template std::string ObjectProtobuf(const adapter::NodeMetrics&, absl::string_view, absl::Time);
template std::string ListJson(const std::vector<adapter::PodMetrics>&, absl::string_view,
                              absl::Time);
template std::string ListJson(const std::vector<adapter::NodeMetrics>&, absl::string_view,
                              absl::Time);
template std::string ListProtobuf(const std::vector<adapter::PodMetrics>&, absl::string_view,
                                  absl::Time);
template std::string ListProtobuf(const std::vector<adapter::NodeMetrics>&, absl::string_view,
                                  absl::Time);
template std::string TableJson(const std::vector<adapter::PodMetrics>&, absl::string_view,
                               absl::string_view, IncludeObject, absl::Time);
template std::string TableJson(const std::vector<adapter::NodeMetrics>&, absl::string_view,
                               absl::string_view, IncludeObject, absl::Time);

}  // namespace flyball::apiservice::wire
