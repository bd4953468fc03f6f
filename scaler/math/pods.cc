#include "scaler/math/pods.h"

#include <utility>

#include "scaler/math/pod_requests.h"

namespace flyball::scaler {
namespace {

PodTable::Row MakeRow(const Pod& pod) {
  PodTable::Row row;
  row.phase = pod.phase;
  row.deleting = pod.deleting;
  row.has_start_time = pod.start_time.has_value();
  row.start_time = pod.start_time.value_or(absl::UnixEpoch());
  row.has_ready = pod.ready.has_value();
  if (pod.ready.has_value()) {
    row.ready = pod.ready->status;
    row.ready_transition = pod.ready->last_transition_time;
  }
  return row;
}

RequestColumn MakeColumn(absl::Span<const Pod* const> pods, const RequestQuery& query) {
  RequestColumn column;
  column.resource = std::string(query.resource);
  column.container = std::string(query.container);
  column.milli.reserve(pods.size());
  for (const Pod* pod : pods) {
    const absl::StatusOr<int64_t> request = PodRequest(*pod, query);
    if (!request.ok() && column.error.empty())
      column.error = std::string(request.status().message());
    column.milli.push_back(request.value_or(0));
  }
  return column;
}

}  // namespace

bool MeasuresRequests(const MetricSpec& metric) {
  return (metric.type == MetricType::kResource || metric.type == MetricType::kContainerResource) &&
         !metric.target.average_value.has_value() && metric.target.average_utilization.has_value();
}

PodTable::PodTable(absl::Span<const Pod* const> pods, absl::Span<const MetricSpec> metrics,
                   bool pod_level_resources) {
  rows_.reserve(pods.size());
  names_.reserve(pods.size());
  for (const Pod* pod : pods) {
    rows_.push_back(MakeRow(*pod));
    names_.push_back(pod->name);
  }
  IndexRows();
  for (const MetricSpec& metric : metrics) {
    if (!MeasuresRequests(metric) || Requests(metric.resource, metric.container) != nullptr)
      continue;
    columns_.push_back(MakeColumn(pods, {.resource = metric.resource,
                                         .container = metric.container,
                                         .pod_level = pod_level_resources}));
  }
}

PodTable::PodTable(std::vector<Row> rows, std::vector<std::string> names,
                   std::vector<RequestColumn> columns)
    : rows_(std::move(rows)), names_(std::move(names)), columns_(std::move(columns)) {
  IndexRows();
}

void PodTable::IndexRows() {
  by_name_.reserve(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    by_name_.emplace(names_[i], static_cast<int32_t>(i));
    if (rows_[i].phase == PodPhase::kRunning && rows_[i].has_ready &&
        rows_[i].ready == ConditionStatus::kTrue) {
      ++running_and_ready_;
    }
  }
}

int32_t PodTable::Find(absl::string_view name, size_t hint) const {
  if (hint < names_.size() && names_[hint] == name) return static_cast<int32_t>(hint);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? kStranger : found->second;
}

const RequestColumn* PodTable::Requests(absl::string_view resource,
                                        absl::string_view container) const {
  for (const RequestColumn& column : columns_) {
    if (column.resource == resource && column.container == container) return &column;
  }
  return nullptr;
}

}  // namespace flyball::scaler
