// What a source of readings answered: shared by all autoscalers that asked the same question.
//
// Plain values, immutable once made. Only the fields that belong to the kind of question are
// filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "adapter/provider.h"
#include "kube/client/scale.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct Answer {
  // Not empty: the question failed. The text that a client of the API would see.
  std::string error;
  // The answer covers all pods of the namespace, not only those of one selector.
  bool whole_namespace = false;

  std::vector<adapter::PodMetrics> pods;             // metrics.k8s.io
  std::vector<adapter::CustomMetricValue> objects;   // custom.metrics.k8s.io
  absl::Time objects_time;                           // when all of `objects` were sampled
  std::vector<adapter::ExternalMetricValue> series;  // external.metrics.k8s.io
  std::vector<TriggerMetric> trigger_metrics;        // of a trigger; empty: not known yet
  // One for each of the trigger's metrics; if `error` is set, only their activity counts.
  std::vector<TriggerReading> trigger_readings;
  kube::Scale scale;  // of a scale subresource

  // Index by name into `pods` or `objects`; the last one where a name is repeated. The first call
  // makes it, since it is not needed while nothing changes.
  const absl::flat_hash_map<absl::string_view, size_t>& places() const;

 private:
  mutable absl::once_flag indexed_;
  mutable absl::flat_hash_map<absl::string_view, size_t> places_;
};

using AnswerPtr = std::shared_ptr<const Answer>;

// A question's last answer, its version and its time.
struct LastAnswer {
  AnswerPtr answer;  // nullptr: none yet
  // Version of the content, times aside: equal versions mean equal content. 0: no answer yet.
  uint64_t version = 0;
  // The time of all samples, if the source has said since that only times have changed; nullopt:
  // the times in the answer are valid.
  std::optional<absl::Time> time;
};

// The time of the answer's first sample. nullopt: it has no samples.
std::optional<absl::Time> SampleTimeOf(const LastAnswer& last);

// Whether both are equal, times aside.
bool SameContent(const Answer& a, const Answer& b);

// The text that a client of the API shows for a provider's error.
std::string ApiErrorText(const absl::Status& status);

}  // namespace flyball::scaler
