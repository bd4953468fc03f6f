// Pods as the replica math sees them: the few fields it needs, in columns.
//
// Pure values. A PodTable is made once for each change of the pod cache (or of the selector, or of
// the metric specs) and then read by every decision until the next change; making one costs
// allocations, reading it none.
//
// Units:   requests are int64 thousandths, summed as Go sums them (they wrap).
// Source:  Kubernetes v1.34.4 replica_calculator.go (groupPods, calculateRequests) and
//          k8s.io/component-helpers v0.34.4 resource/helpers.go (PodRequests).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "kube/objects/quantity.h"
#include "kube/objects/selector.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

enum class PodPhase : uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

// The phase that the API names `word`; kUnknown for any other text.
PodPhase PodPhaseOf(absl::string_view word);

using ResourceList = std::vector<std::pair<std::string, kube::Quantity>>;  // no repeated names

// The amount of that resource; nullptr when the list does not name it.
const kube::Quantity* FindAmount(const ResourceList& list, absl::string_view resource);

struct Container {
  std::string name;
  ResourceList requests;
  bool restarts_always = false;  // init containers only: a sidecar
};

// The time that a missing timestamp stands for: Go's zero time, 1 January of the year 1.
inline constexpr absl::Time kGoZeroTime = absl::FromUnixSeconds(-62135596800);

struct ReadyCondition {
  ConditionStatus status = ConditionStatus::kUnknown;
  absl::Time last_transition_time;
};

// One pod of the cache, as parsed from core/v1.
struct Pod {
  std::string ns;
  std::string name;
  kube::Labels labels;
  bool deleting = false;
  PodPhase phase = PodPhase::kUnknown;
  std::optional<absl::Time> start_time;
  std::optional<ReadyCondition> ready;
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  std::optional<ResourceList> pod_requests;  // spec.resources.requests
  ResourceList overhead;
};

// How requests are counted, which differs between versions of the controller.
struct RequestRules {
  bool pod_level = true;              // gate PodLevelResources: what a pod states as a whole counts
  bool container_must_exist = false;  // else a container that a pod does not have asks for 0

  friend bool operator==(const RequestRules&, const RequestRules&) = default;
};

// How much of a resource a pod asks for, as utilisation is measured against it (pod_requests.cc).
struct RequestQuery {
  absl::string_view resource;   // "cpu"
  absl::string_view container;  // "": the whole pod
  RequestRules rules;
};

// Thousandths.
//   kNotFound         a container, or the pod, has no request for the resource although it must
//                     have one, or there is no such container; upstream's text
//   kInvalidArgument  the sum of the requests cannot be computed (Quantity::Plus)
absl::StatusOr<int64_t> PodRequest(const Pod& pod, const RequestQuery& query);

// How much of a resource each row requests, in one container or, with `container` "", as a whole.
struct RequestColumn {
  std::string resource;
  std::string container;
  std::vector<int64_t> milli;  // by row
  std::string error;           // non-empty: some pod does not request it; upstream's text
};

// Whether the metric compares usage with what the pods request; then it needs a RequestColumn.
bool MeasuresRequests(const MetricSpec& metric);

// The row of a sample whose pod the selector does not select.
inline constexpr int32_t kStranger = -1;

class PodTable {
 public:
  struct Row {
    Row() = default;
    explicit Row(const Pod& pod);
    bool operator==(const Row&) const = default;

    absl::Time start_time;        // meaningful when has_start_time
    absl::Time ready_transition;  // meaningful when has_ready
    PodPhase phase = PodPhase::kUnknown;
    bool deleting = false;
    bool has_start_time = false;
    bool has_ready = false;
    ConditionStatus ready = ConditionStatus::kUnknown;
  };

  // One pod that the table is made from.
  struct Source {
    absl::string_view name;
    Row row;
    const Pod* shape;  // what its containers request; pods that request the same may share it
  };

  PodTable() = default;

  // The rows are `pods` in their order, already filtered by namespace and selector. Each
  // utilisation metric in `metrics` gets a request column.
  PodTable(absl::Span<const Source> pods, absl::Span<const MetricSpec> metrics,
           const RequestRules& rules);
  PodTable(absl::Span<const Pod* const> pods, absl::Span<const MetricSpec> metrics,
           const RequestRules& rules);

  size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  absl::Span<const Row> rows() const { return rows_; }
  const std::string& name(size_t row) const { return names_[row]; }
  // Pods that run and are Ready, deleting ones included.
  int64_t running_and_ready() const { return running_and_ready_; }

  // The row of that pod; kStranger: not in the table. `hint` is tried first (answers mostly come in
  // the same order as the pods).
  int32_t Find(absl::string_view name, size_t hint) const;

  // nullptr: none of the metric specs that the table was made with needs it.
  const RequestColumn* Requests(absl::string_view resource, absl::string_view container) const;

 private:
  std::vector<Row> rows_;
  std::vector<std::string> names_;
  absl::flat_hash_map<std::string, int32_t> by_name_;
  std::vector<RequestColumn> columns_;
  int64_t running_and_ready_ = 0;
};

}  // namespace flyball::scaler
