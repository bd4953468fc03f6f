// How the items of an answer become a reading, whatever their form: values from providers of this
// process (steps/reading_maker.h), or from a file (readings.h).
//
// Pure. Source: Kubernetes v1.34.4 podautoscaler/metrics/client.go and k8s.io/metrics v0.34.4
// pkg/client/custom_metrics, error texts included. The age of samples is not checked: a stale one
// counts fully. Only for cpu does a sample's time affect whether the pod is ready
// (hpa/pod_groups.cc).
//
// Each function overwrites all of `reading` but its version, and reuses its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/go/arithmetic.h"
#include "scaler/math/input.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

// The items of an answer that has one for each pod.
struct PodItems {
  size_t count = 0;
  // Not nullptr: the answer is for a whole namespace, and this is the index of each name in it.
  // Then only the pods of the table count, in the table's order.
  const absl::flat_hash_map<absl::string_view, size_t>* places = nullptr;
  // Whether a name may come twice. Its last sample counts then, at the position of the first.
  bool may_repeat = true;
};

// Puts samples into a reading.
class SampleCollector {
 public:
  SampleCollector(const PodTable& table, bool may_repeat, Reading& reading);

  // Sets the row of the sample.
  void FindRow(absl::string_view name, PodSample& sample) {
    // Answers mostly come in the order of the pods.
    sample.row = table_.Find(name, next_row_);
    if (sample.row != kStranger) next_row_ = static_cast<size_t>(sample.row) + 1;
  }

  // `name` lives as long as this collector.
  void Add(absl::string_view name, const PodSample& sample) {
    if (!may_repeat_ || IsFirst(name, sample)) reading_.samples.push_back(sample);
  }

 private:
  // False: there was already one of that name, which this sample has replaced.
  bool IsFirst(absl::string_view name, const PodSample& sample);

  const PodTable& table_;
  const bool may_repeat_;
  Reading& reading_;
  size_t next_row_ = 0;
  std::vector<int32_t> sample_of_row_;  // -1: none yet
  absl::flat_hash_map<absl::string_view, int32_t> sample_of_stranger_;
};

void ClearReading(Reading& reading);

// The error text for an API that answered with `error` or, if that is "", with no items.
std::string UnreadText(absl::string_view api, absl::string_view error);

// Makes the reading an error if there is one, or if no item counted.
void EndReading(absl::string_view api, size_t counted, absl::string_view error, Reading& reading);

// Reads one sample for each pod. For the item at a place, `name_of(place)` is the pod's name,
// `time_of(place)` when it was sampled, and `take(place, sample, error)` fills in the value and the
// window; it returns false if the pod has no sample, and may set the error.
template <typename NameOf, typename TimeOf, typename Take>
void ReadPodItems(absl::string_view api, const PodItems& items, std::string error,
                  const PodTable& table, NameOf name_of, TimeOf time_of, Take take,
                  Reading& reading) {
  ClearReading(reading);
  const bool whole = items.places != nullptr;
  SampleCollector samples(table, items.may_repeat && !whole, reading);
  PodSample sample;
  size_t counted = 0;
  for (size_t i = 0; i < (whole ? table.size() : items.count); ++i) {
    size_t place = i;
    if (whole) {
      const auto found = items.places->find(table.name(i));
      if (found == items.places->end()) continue;
      place = found->second;
      sample.row = static_cast<int32_t>(i);
    } else {
      samples.FindRow(name_of(place), sample);
    }
    const std::optional<absl::Time> time = time_of(place);
    if (counted++ == 0) reading.timestamp = time;
    sample.timestamp = time.value_or(kGoZeroTime);
    if (take(place, sample, error)) samples.Add(name_of(place), sample);
  }
  EndReading(api, counted, error, reading);
}

// The usage of the first container with that name, or for "" of all containers together; nullopt if
// one of them does not state it. `usage_of(container)` is what one states.
template <typename Containers, typename UsageOf>
std::optional<int64_t> SumOfContainers(const Containers& containers, absl::string_view name,
                                       UsageOf usage_of) {
  std::optional<int64_t> sum;
  for (const auto& container : containers) {
    if (!name.empty() && container.name != name) continue;
    const std::optional<int64_t> usage = usage_of(container);
    if (!usage.has_value()) return std::nullopt;
    sum = WrapAdd(sum.value_or(0), *usage);
    if (!name.empty()) break;
  }
  return sum;
}

// Reads all amounts of an answer that is not about pods. `time_of(place)` is when one was sampled,
// and `milli_of(place, error)` its amount; it may set the error.
template <typename TimeOf, typename MilliOf>
void ReadAmounts(absl::string_view api, size_t count, std::string error, TimeOf time_of,
                 MilliOf milli_of, Reading& reading) {
  ClearReading(reading);
  if (count > 0) reading.timestamp = time_of(0);
  for (size_t place = 0; place < count; ++place) {
    reading.amounts_milli.push_back(milli_of(place, error));
  }
  EndReading(api, count, error, reading);
}

}  // namespace flyball::scaler
