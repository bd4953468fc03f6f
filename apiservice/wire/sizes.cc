#include "apiservice/wire/sizes.h"

#include "apiservice/wire/metric_lists.h"

namespace flyball::apiservice::wire {
namespace {

// The names of fields, times, quantities and punctuation of one item.
constexpr size_t kItemBytes = 256;
constexpr size_t kContainerBytes = 80;

template <typename Labels>
size_t LabelBytes(const Labels& labels) {
  adapter::ListSize size;
  size.AddLabels(labels);
  return size.text_bytes;
}

size_t MetaBytes(const kube::ObjectMeta& meta) {
  return meta.ns.size() + meta.name.size() + LabelBytes(meta.labels);
}

}  // namespace

size_t JsonBytes(size_t items, size_t text_bytes) { return items * kItemBytes + text_bytes; }

size_t JsonBytes(const adapter::CustomMetricList& list) {
  const size_t repeated = list.metric.size() + LabelSelectorJson(list.metric_selector).size();
  size_t text_bytes = list.items.size() * repeated;
  for (const adapter::CustomMetricValue& item : list.items) {
    text_bytes += item.object.ns.size() + item.object.name.size();
  }
  return JsonBytes(list.items.size(), text_bytes);
}

size_t JsonBytes(const adapter::ExternalMetricList& list) {
  size_t bytes = list.items.size() * (kItemBytes + list.metric.size());
  for (const adapter::ExternalMetricValue& item : list.items) {
    if (item.labels.has_value()) bytes += LabelBytes(*item.labels);
  }
  return bytes;
}

size_t JsonBytes(const std::vector<adapter::PodMetrics>& items) {
  size_t bytes = items.size() * kItemBytes;
  for (const adapter::PodMetrics& item : items) {
    bytes += MetaBytes(*item.pod);
    for (const adapter::ContainerUsage& one : item.containers) {
      bytes += kContainerBytes + one.name.size();
    }
  }
  return bytes;
}

size_t JsonBytes(const std::vector<adapter::NodeMetrics>& items) {
  size_t bytes = items.size() * kItemBytes;
  for (const adapter::NodeMetrics& item : items) bytes += MetaBytes(*item.node);
  return bytes;
}

}  // namespace flyball::apiservice::wire
