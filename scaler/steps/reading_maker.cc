#include "scaler/steps/reading_maker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/readings.h"
#include "scaler/steps/guard.h"

namespace flyball::scaler {
namespace {

constexpr auto kMaxMilli = static_cast<int64_t>(kMaxReadingUnits * 1000);

bool IsBeyond(int64_t milli) { return milli > kMaxMilli || milli < -kMaxMilli; }

void Clear(Reading& reading) {
  reading.error.clear();
  reading.samples.clear();
  reading.amounts_milli.clear();
  reading.timestamp.reset();
}

// ---- the slow way: errors, answers without items, amounts beyond the limit ----------------------

kube::Quantity Amount(int64_t milli) { return kube::Quantity::FromMilli(milli); }

PodMetrics ToPodMetrics(const adapter::PodMetrics& pod) {
  PodMetrics out;
  out.name = pod.pod->name;
  out.timestamp = pod.timestamp;
  out.window = pod.window;
  for (const adapter::ContainerUsage& container : pod.containers) {
    out.containers.push_back({.name = container.name,
                              .usage = {{"cpu", Amount(container.usage.cpu_milli)},
                                        {"memory", Amount(container.usage.memory_milli)}}});
  }
  return out;
}

void ReadSlowly(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                Reading& reading) {
  const auto is_ours = [&](absl::string_view name) {
    return !answer.whole_namespace || table.Find(name, 0) != kStranger;
  };
  const auto pods = [&] {
    MetricsAnswer<PodMetrics> out{.error = answer.error, .items = {}};
    for (const adapter::PodMetrics& pod : answer.pods) {
      if (is_ours(pod.pod->name)) out.items.push_back(ToPodMetrics(pod));
    }
    GuardAnswer(out);
    return out;
  };
  const auto objects = [&] {
    MetricsAnswer<ObjectMetric> out{.error = answer.error, .items = {}};
    for (const adapter::CustomMetricValue& one : answer.objects) {
      if (metric.type == MetricType::kPods && !is_ours(one.object.name)) continue;
      out.items.push_back({.object_name = one.object.name,
                           .timestamp = answer.objects_time,
                           .value = Amount(one.value_milli)});
    }
    GuardAnswer(out);
    return out;
  };
  const auto series = [&] {
    MetricsAnswer<ExternalMetric> out{.error = answer.error, .items = {}};
    for (const adapter::ExternalMetricValue& one : answer.series) {
      out.items.push_back({.timestamp = one.timestamp, .value = Amount(one.value_milli)});
    }
    GuardAnswer(out);
    return out;
  };
  ReadMetric(metric, table, pods, objects, series, reading);
}

// ---- the fast way: where it returns false, the slow one is taken --------------------------------

// One sample of what a pod uses; no value: the pod has no sample.
struct UsageSample {
  bool beyond = false;
  std::optional<int64_t> milli;
};

UsageSample UsageOf(const adapter::PodMetrics& pod, const MetricSpec& metric) {
  UsageSample out;
  const bool cpu = metric.resource == "cpu";
  const bool known = cpu || metric.resource == "memory";
  int64_t sum = 0;
  bool found = false;
  for (const adapter::ContainerUsage& container : pod.containers) {
    out.beyond =
        out.beyond || IsBeyond(container.usage.cpu_milli) || IsBeyond(container.usage.memory_milli);
    if (out.beyond) return out;
    if (!known) continue;
    if (metric.type == MetricType::kContainerResource && container.name != metric.container) {
      continue;
    }
    if (metric.type == MetricType::kContainerResource && found) continue;
    found = true;
    if (__builtin_add_overflow(sum, cpu ? container.usage.cpu_milli : container.usage.memory_milli,
                               &sum)) {
      out.beyond = true;
      return out;
    }
  }
  if (found) out.milli = sum;
  return out;
}

// Calls on_item(place, row) for each item that counts, in the order of the answer, or of the table
// when the answer holds more than its pods.
template <typename F>
bool ForEachItem(const Answer& answer, size_t count, const PodTable& table,
                 absl::string_view (*name_of)(const Answer&, size_t), F on_item) {
  const auto& places = answer.places();
  if (answer.whole_namespace) {
    for (size_t row = 0; row < table.size(); ++row) {
      const auto found = places.find(table.name(row));
      if (found == places.end()) continue;
      if (!on_item(found->second, static_cast<int32_t>(row))) return false;
    }
    return true;
  }
  if (places.size() != count) return false;  // repeated names
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    const int32_t row = table.Find(name_of(answer, i), next);
    if (row != kStranger) next = static_cast<size_t>(row) + 1;
    if (!on_item(i, row)) return false;
  }
  return true;
}

bool ReadPodsFast(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                  Reading& reading) {
  return ForEachItem(
      answer, answer.pods.size(), table,
      [](const Answer& a, size_t i) -> absl::string_view { return a.pods[i].pod->name; },
      [&](size_t place, int32_t row) {
        const adapter::PodMetrics& pod = answer.pods[place];
        if (!reading.timestamp.has_value()) reading.timestamp = pod.timestamp;
        const UsageSample usage = UsageOf(pod, metric);
        if (usage.beyond) return false;
        if (!usage.milli.has_value()) return true;
        reading.samples.push_back({.row = row,
                                   .value_milli = *usage.milli,
                                   .timestamp = pod.timestamp,
                                   .window = pod.window});
        return true;
      });
}

bool ReadObjectsFast(const Answer& answer, const PodTable& table, Reading& reading) {
  reading.timestamp = answer.objects_time;
  return ForEachItem(
      answer, answer.objects.size(), table,
      [](const Answer& a, size_t i) -> absl::string_view { return a.objects[i].object.name; },
      [&](size_t place, int32_t row) {
        const int64_t milli = answer.objects[place].value_milli;
        if (IsBeyond(milli)) return false;
        reading.samples.push_back({.row = row,
                                   .value_milli = milli,
                                   .timestamp = answer.objects_time,
                                   .window = absl::Minutes(1)});
        return true;
      });
}

bool ReadSeriesFast(const Answer& answer, Reading& reading) {
  if (!answer.series.empty()) reading.timestamp = answer.series.front().timestamp;
  for (const adapter::ExternalMetricValue& one : answer.series) {
    if (IsBeyond(one.value_milli)) return false;
    reading.amounts_milli.push_back(one.value_milli);
  }
  return true;
}

bool ReadFast(const Answer& answer, const MetricSpec& metric, const PodTable& table,
              Reading& reading) {
  if (!answer.error.empty()) return false;
  bool read = false;
  switch (metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource:
      // An item without the resource is an item all the same, but none at all is an error.
      read = ReadPodsFast(answer, metric, table, reading) && reading.timestamp.has_value();
      return read;
    case MetricType::kPods:
      return ReadObjectsFast(answer, table, reading) && !reading.samples.empty();
    case MetricType::kExternal:
      return ReadSeriesFast(answer, reading) && !reading.amounts_milli.empty();
    case MetricType::kObject:
    case MetricType::kUnknown:
      break;
  }
  return read;
}

bool SameSample(const PodSample& a, const PodSample& b, bool times_matter) {
  return a.row == b.row && a.value_milli == b.value_milli &&
         (!times_matter || (a.timestamp == b.timestamp && a.window == b.window));
}

}  // namespace

void MakeReading(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                 Reading& reading) {
  Clear(reading);
  if (!ReadFast(answer, metric, table, reading)) {
    Clear(reading);
    // With no pods to ask about, the metrics API does not find the metric.
    if (metric.type == MetricType::kPods && answer.whole_namespace && table.empty() &&
        answer.error.empty()) {
      Answer none;
      none.error =
          absl::StrCat("the server could not find the metric ", metric.metric.name, " for pods");
      ReadSlowly(none, metric, table, reading);
    } else {
      ReadSlowly(answer, metric, table, reading);
    }
  }
  GuardReading(reading);
}

void MakeReading(const LastAnswer& last, const MetricSpec& metric, const PodTable& table,
                 Reading& reading) {
  MakeReading(*last.answer, metric, table, reading);
  if (!last.time.has_value()) return;
  if (reading.timestamp.has_value()) reading.timestamp = last.time;
  for (PodSample& sample : reading.samples) sample.timestamp = *last.time;
}

void MakeTriggerReading(const TriggerReading& trigger, Reading& reading) {
  Clear(reading);
  reading.error = trigger.error;
  if (!trigger.error.empty()) return;
  reading.timestamp = trigger.time;
  reading.amounts_milli.push_back(trigger.value_milli);
  GuardReading(reading);
}

bool TakeReading(Reading& fresh, bool times_matter, uint64_t next_version, Reading& kept) {
  const bool same =
      kept.version != 0 && fresh.error == kept.error && fresh.amounts_milli == kept.amounts_milli &&
      std::equal(
          fresh.samples.begin(), fresh.samples.end(), kept.samples.begin(), kept.samples.end(),
          [&](const PodSample& a, const PodSample& b) { return SameSample(a, b, times_matter); });
  fresh.version = same ? kept.version : next_version;
  std::swap(fresh, kept);
  return !same;
}

}  // namespace flyball::scaler
