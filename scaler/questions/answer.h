// What a source of readings said when it was asked: shared by all autoscalers that asked the same.
//
// Plain values, immutable once made. Only the part that belongs to the question is filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/provider.h"
#include "base/clock.h"
#include "kube/client/scale.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct Answer {
  // Not empty: nothing was read; the text that a client of the API would see.
  std::string error;
  uint64_t version = 0;  // equal: the same content, times aside; never 0
  // Before it is asked: the origin of the last answer. Then what the source says of itself; `same`:
  // the last answer still holds, this one is empty.
  adapter::Repeated repeated;
  // Several autoscalers may share it: it holds more pods than those of one selector.
  bool whole_namespace = false;
  adapter::PodAmounts amounts = adapter::PodAmounts::kBoth;  // that `pods` tells

  std::vector<adapter::PodMetrics> pods;             // metrics.k8s.io
  std::vector<adapter::CustomMetricValue> objects;   // custom.metrics.k8s.io
  absl::Time objects_time;                           // of all objects
  std::vector<adapter::ExternalMetricValue> series;  // external.metrics.k8s.io
  std::vector<TriggerMetric> trigger_metrics;        // a trigger; empty: not known yet
  std::vector<TriggerReading> trigger_readings;      // one for each of its metrics
  kube::Scale scale;                                 // a scale subresource

  // The place in `pods` or `objects` of each name; of repeated names the last. Made when it is
  // first asked for: nobody does while nothing changes.
  const absl::flat_hash_map<absl::string_view, size_t>& places() const;

 private:
  mutable absl::once_flag indexed_;
  mutable absl::flat_hash_map<absl::string_view, size_t> places_;
};

using AnswerPtr = std::shared_ptr<const Answer>;

// An answer as it was told last.
struct Told {
  AnswerPtr answer;                               // nullptr: never
  MonotonicTime asked_at = absl::ZeroDuration();  // when asking began
  std::optional<absl::Time> time;                 // of all that was sampled; nullopt: as it says
};

// When it was sampled; of several samples the first one's. nullopt: nothing was.
std::optional<absl::Time> SampleTimeOf(const Told& told);

// Equal but for times.
bool SameContent(const Answer& a, const Answer& b);

// The text that a client of the API shows for a provider's error.
std::string ApiErrorText(const absl::Status& status);

}  // namespace flyball::scaler
