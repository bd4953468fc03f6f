#include "scaler/stores/pod_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/pod_requests.h"

namespace flyball::scaler {
namespace {

void WriteResources(const ResourceList& list, std::string& key) {
  for (const auto& [name, quantity] : list) {
    absl::StrAppend(&key, name, "=", quantity.ToString(), ";");
  }
  key.push_back('|');
}

void WriteContainers(const std::vector<Container>& containers, std::string& key) {
  for (const Container& container : containers) {
    absl::StrAppend(&key, container.name, container.restarts_always ? "*" : ":");
    WriteResources(container.requests, key);
  }
  key.push_back('/');
}

RequestColumn MakeColumn(absl::Span<const PodRecord* const> pods, const RequestQuery& query) {
  RequestColumn column;
  column.resource = std::string(query.resource);
  column.container = std::string(query.container);
  column.milli.reserve(pods.size());
  const Pod* last_shape = nullptr;
  for (const PodRecord* pod : pods) {
    if (pod->shape.get() == last_shape) {
      column.milli.push_back(column.milli.back());
      continue;
    }
    last_shape = pod->shape.get();
    const absl::StatusOr<int64_t> request = PodRequest(*last_shape, query);
    column.milli.push_back(request.value_or(0));
    if (request.ok() || !column.error.empty()) continue;
    Pod named = *last_shape;  // the text names the pod
    named.name = pod->name;
    column.error = std::string(PodRequest(named, query).status().message());
  }
  return column;
}

bool HasColumn(const std::vector<RequestColumn>& columns, const MetricSpec& metric) {
  return std::any_of(columns.begin(), columns.end(), [&](const RequestColumn& column) {
    return column.resource == metric.resource && column.container == metric.container;
  });
}

}  // namespace

void LabelSet::Write(const kube::Labels& labels, std::string& text) {
  text.clear();
  for (const auto& [key, value] : labels) {
    text.append(key).push_back('\0');
    text.append(value).push_back('\0');
  }
}

kube::Labels LabelSet::Labels() const {
  kube::Labels out;
  absl::string_view rest = text;
  const auto next = [&rest] {
    const size_t end = rest.find('\0');
    std::string piece(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return piece;
  };
  while (!rest.empty()) {
    std::string key = next();
    out.emplace_hint(out.end(), std::move(key), next());
  }
  return out;
}

PodRecord::PodRecord(const Pod& pod) : name(pod.name) {
  row.phase = pod.phase;
  row.deleting = pod.deleting;
  row.has_start_time = pod.start_time.has_value();
  row.start_time = pod.start_time.value_or(absl::UnixEpoch());
  row.has_ready = pod.ready.has_value();
  if (!pod.ready.has_value()) return;
  row.ready = pod.ready->status;
  row.ready_transition = pod.ready->last_transition_time;
}

bool PodRecord::SameTo(const PodRecord& other) const {
  return row.phase == other.row.phase && row.deleting == other.row.deleting &&
         row.has_start_time == other.row.has_start_time && row.start_time == other.row.start_time &&
         row.has_ready == other.row.has_ready && row.ready == other.row.ready &&
         row.ready_transition == other.row.ready_transition && shape == other.shape &&
         node == other.node;
}

void PodRecord::TakeFrom(PodRecord& other) {
  row = other.row;
  shape = std::move(other.shape);
  node = std::move(other.node);
  list = other.list;
}

void WriteShapeKey(const Pod& pod, std::string& key) {
  key.clear();
  WriteContainers(pod.containers, key);
  WriteContainers(pod.init_containers, key);
  if (pod.pod_requests.has_value()) {
    key.push_back('+');
    WriteResources(*pod.pod_requests, key);
  }
  WriteResources(pod.overhead, key);
}

Pod ShapeOf(const Pod& pod) {
  Pod shape;
  shape.containers = pod.containers;
  shape.init_containers = pod.init_containers;
  shape.pod_requests = pod.pod_requests;
  shape.overhead = pod.overhead;
  return shape;
}

PodTable MakeTable(absl::Span<const PodRecord* const> pods, absl::Span<const MetricSpec> metrics,
                   bool pod_level_resources) {
  std::vector<PodTable::Row> rows;
  std::vector<std::string> names;
  std::vector<RequestColumn> columns;
  rows.reserve(pods.size());
  names.reserve(pods.size());
  for (const PodRecord* pod : pods) {
    rows.push_back(pod->row);
    names.push_back(pod->name);
  }
  for (const MetricSpec& metric : metrics) {
    if (!MeasuresRequests(metric) || HasColumn(columns, metric)) continue;
    columns.push_back(MakeColumn(pods, {.resource = metric.resource,
                                        .container = metric.container,
                                        .pod_level = pod_level_resources}));
  }
  return PodTable(std::move(rows), std::move(names), std::move(columns));
}

}  // namespace flyball::scaler
