#include "scaler/math/readings.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"

namespace flyball::scaler {
namespace {

void Reset(Reading& reading) {
  reading.error.clear();
  reading.samples.clear();
  reading.amounts_milli.clear();
  reading.timestamp.reset();
  reading.version = 0;
}

template <typename Item>
bool TakeAnswer(const MetricsAnswer<Item>& answer, absl::string_view api, Reading& reading) {
  Reset(reading);
  if (!answer.error.empty() || answer.items.empty()) {
    reading.error = UnreadText(api, answer.error);
    return false;
  }
  reading.timestamp = answer.items.front().timestamp;
  return true;
}

// Puts samples into a reading, of which the last one stays where a name is repeated.
class SampleCollector {
 public:
  SampleCollector(const PodTable& table, Reading& reading)
      : table_(table), reading_(reading), sample_of_row_(table.size(), -1) {}

  void Add(absl::string_view name, PodSample sample) {
    // Answers mostly come in the order of the pods.
    sample.row = table_.Find(name, next_row_);
    int32_t* slot = nullptr;
    if (sample.row == kStranger) {
      slot = &sample_of_stranger_.try_emplace(name, -1).first->second;
    } else {
      slot = &sample_of_row_[static_cast<size_t>(sample.row)];
      next_row_ = static_cast<size_t>(sample.row) + 1;
    }
    if (*slot >= 0) {
      reading_.samples[static_cast<size_t>(*slot)] = sample;
      return;
    }
    *slot = static_cast<int32_t>(reading_.samples.size());
    reading_.samples.push_back(sample);
  }

 private:
  const PodTable& table_;
  Reading& reading_;
  std::vector<int32_t> sample_of_row_;
  absl::flat_hash_map<std::string, int32_t> sample_of_stranger_;
  size_t next_row_ = 0;
};

// The usage of the first container with that name, or with "" of all containers; nullopt if one of
// them does not state it.
std::optional<int64_t> UsageOf(const PodMetrics& pod, absl::string_view resource,
                               absl::string_view container) {
  std::optional<int64_t> sum;
  for (const PodMetrics::ContainerUsage& one : pod.containers) {
    if (!container.empty() && one.name != container) continue;
    const kube::Quantity* usage = FindAmount(one.usage, resource);
    if (usage == nullptr) return std::nullopt;
    sum = WrapAdd(sum.value_or(0), usage->MilliValue());
    if (!container.empty()) break;
  }
  return sum;
}

}  // namespace

std::string UnreadText(absl::string_view api, absl::string_view error) {
  return error.empty()
             ? absl::StrCat("no metrics returned from ", api, " metrics API")
             : absl::StrCat("unable to fetch metrics from ", api, " metrics API: ", error);
}

void ReadResource(const MetricsAnswer<PodMetrics>& answer, absl::string_view resource,
                  absl::string_view container, const PodTable& table, Reading& reading) {
  if (!TakeAnswer(answer, "resource", reading)) return;
  SampleCollector samples(table, reading);
  for (const PodMetrics& pod : answer.items) {
    const std::optional<int64_t> usage = UsageOf(pod, resource, container);
    if (!usage.has_value()) continue;
    samples.Add(pod.name, {.value_milli = *usage,
                           .timestamp = pod.timestamp.value_or(kGoZeroTime),
                           .window = pod.window});
  }
}

void ReadPodsMetric(const MetricsAnswer<ObjectMetric>& answer, const PodTable& table,
                    Reading& reading) {
  if (!TakeAnswer(answer, "custom", reading)) return;
  SampleCollector samples(table, reading);
  for (const ObjectMetric& item : answer.items) {
    samples.Add(item.object_name, {.value_milli = item.value.MilliValue(),
                                   .timestamp = item.timestamp.value_or(kGoZeroTime),
                                   .window = item.window});
  }
}

void ReadObjectMetric(const MetricsAnswer<ObjectMetric>& answer, Reading& reading) {
  if (answer.error.empty() && answer.items.size() != 1) {
    Reset(reading);
    reading.error = absl::StrCat(
        "unable to fetch metrics from custom metrics API: the custom metrics API server returned ",
        answer.items.size(), " results when we asked for exactly one");
    return;
  }
  if (!TakeAnswer(answer, "custom", reading)) return;
  reading.amounts_milli.push_back(answer.items.front().value.MilliValue());
}

void ReadExternalMetric(const MetricsAnswer<ExternalMetric>& answer, Reading& reading) {
  if (!TakeAnswer(answer, "external", reading)) return;
  for (const ExternalMetric& item : answer.items) {
    reading.amounts_milli.push_back(item.value.MilliValue());
  }
}

}  // namespace flyball::scaler
