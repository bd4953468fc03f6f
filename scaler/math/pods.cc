#include "scaler/math/pods.h"

namespace flyball::scaler {
namespace {

RequestColumn MakeColumn(absl::Span<const PodTable::Source> pods, const RequestQuery& query) {
  RequestColumn column;
  column.resource = std::string(query.resource);
  column.container = std::string(query.container);
  column.milli.reserve(pods.size());
  const Pod* last_shape = nullptr;
  for (const PodTable::Source& pod : pods) {
    if (pod.shape == last_shape) {
      column.milli.push_back(column.milli.back());
      continue;
    }
    last_shape = pod.shape;
    const absl::StatusOr<int64_t> request = PodRequest(*pod.shape, query);
    column.milli.push_back(request.value_or(0));
    if (request.ok() || !column.error.empty()) continue;
    Pod named = *pod.shape;  // the text names the pod
    named.name = std::string(pod.name);
    column.error = std::string(PodRequest(named, query).status().message());
  }
  return column;
}

std::vector<PodTable::Source> SourcesOf(absl::Span<const Pod* const> pods) {
  std::vector<PodTable::Source> out;
  out.reserve(pods.size());
  for (const Pod* pod : pods) {
    out.push_back({.name = pod->name, .row = PodTable::Row(*pod), .shape = pod});
  }
  return out;
}

}  // namespace

PodPhase PodPhaseOf(absl::string_view word) {
  if (word == "Pending") return PodPhase::kPending;
  if (word == "Running") return PodPhase::kRunning;
  if (word == "Succeeded") return PodPhase::kSucceeded;
  if (word == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

const kube::Quantity* FindAmount(const ResourceList& list, absl::string_view resource) {
  for (const auto& [name, quantity] : list) {
    if (name == resource) return &quantity;
  }
  return nullptr;
}

bool MeasuresRequests(const MetricSpec& metric) {
  return (metric.type == MetricType::kResource || metric.type == MetricType::kContainerResource) &&
         !metric.target.average_value.has_value() && metric.target.average_utilization.has_value();
}

PodTable::Row::Row(const Pod& pod)
    : start_time(pod.start_time.value_or(absl::UnixEpoch())),
      phase(pod.phase),
      deleting(pod.deleting),
      has_start_time(pod.start_time.has_value()),
      has_ready(pod.ready.has_value()) {
  if (!has_ready) return;
  ready = pod.ready->status;
  ready_transition = pod.ready->last_transition_time;
}

PodTable::PodTable(absl::Span<const Pod* const> pods, absl::Span<const MetricSpec> metrics,
                   const RequestRules& rules)
    : PodTable(SourcesOf(pods), metrics, rules) {}

PodTable::PodTable(absl::Span<const Source> pods, absl::Span<const MetricSpec> metrics,
                   const RequestRules& rules) {
  rows_.reserve(pods.size());
  names_.reserve(pods.size());
  by_name_.reserve(pods.size());
  for (const Source& pod : pods) {
    by_name_.emplace(pod.name, static_cast<int32_t>(rows_.size()));
    rows_.push_back(pod.row);
    names_.emplace_back(pod.name);
    if (pod.row.phase == PodPhase::kRunning && pod.row.has_ready &&
        pod.row.ready == ConditionStatus::kTrue) {
      ++running_and_ready_;
    }
  }
  for (const MetricSpec& metric : metrics) {
    if (!MeasuresRequests(metric) || Requests(metric.resource, metric.container) != nullptr)
      continue;
    columns_.push_back(MakeColumn(
        pods, {.resource = metric.resource, .container = metric.container, .rules = rules}));
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
