#include "scaler/steps/reading_maker.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"
#include "scaler/math/readings.h"
#include "scaler/steps/guard.h"

namespace flyball::scaler {
namespace {

void Clear(Reading& reading) {
  reading.error.clear();
  reading.instead.reset();
  reading.samples.clear();
  reading.amounts_milli.clear();
  reading.timestamp.reset();
}

// Makes the reading an error if the API or the guard returned an error, or if no item counted.
void EndReading(absl::string_view api, size_t counted, absl::string_view error, Reading& reading) {
  if (counted > 0 && error.empty()) return;
  Clear(reading);
  reading.error = UnreadText(api, error);
}

// Sets the error text for an amount beyond the limit; the first such amount wins.
void NoteBeyond(absl::string_view what, int64_t milli, std::string& error) {
  if (error.empty()) error = BeyondText(what, kube::Quantity::FromMilli(milli));
}

// Calls `take(place, sample)`, which fills the sample of one item or returns false, for each item
// that counts, and adds the samples to the reading: in the order of the answer, or in that of the
// table where the answer covers the whole namespace. Returns how many items counted.
template <typename NameOf, typename Take>
size_t ReadItems(const Answer& answer, size_t items, const PodTable& table, NameOf name_of,
                 Take take, Reading& reading) {
  const auto& places = answer.places();
  const bool whole = answer.whole_namespace;
  // Where a name is repeated, its last sample counts, at the position of the first.
  const bool repeats = !whole && places.size() != items;
  absl::flat_hash_map<absl::string_view, size_t> sample_of;  // by name, where some are repeated
  PodSample sample;
  size_t counted = 0;
  size_t next = 0;
  for (size_t i = 0; i < (whole ? table.size() : items); ++i) {
    size_t place = i;
    if (whole) {
      const auto found = places.find(table.name(i));
      if (found == places.end()) continue;
      place = found->second;
      sample.row = static_cast<int32_t>(i);
    } else {
      sample.row = table.Find(name_of(i), next);
      if (sample.row != kStranger) next = static_cast<size_t>(sample.row) + 1;
    }
    ++counted;
    if (!take(place, sample)) continue;
    if (repeats) {
      const auto [earlier, fresh] = sample_of.try_emplace(name_of(i), reading.samples.size());
      if (!fresh) {
        reading.samples[earlier->second] = sample;
        continue;
      }
    }
    reading.samples.push_back(sample);
  }
  return counted;
}

// Not inlined, to keep the loops over the pods small: such amounts are very rare.
ABSL_ATTRIBUTE_NOINLINE void NoteBeyond(const adapter::PodMetrics& pod,
                                        const adapter::ContainerUsage& container,
                                        std::string& error) {
  const bool cpu = IsBeyond(container.usage.cpu_milli);
  NoteBeyond(absl::StrCat(cpu ? "cpu" : "memory", " of container ", container.name, " of pod ",
                          pod.pod->name),
             cpu ? container.usage.cpu_milli : container.usage.memory_milli, error);
}

// What the pod, or one container of it, uses; nullopt: the answer does not tell.
std::optional<int64_t> UsageOf(const adapter::PodMetrics& pod, const MetricSpec& metric,
                               std::string& error) {
  const bool cpu = metric.resource == "cpu";
  const bool of_one = metric.type == MetricType::kContainerResource;
  std::optional<int64_t> sum;
  for (const adapter::ContainerUsage& container : pod.containers) {
    const auto& [cpu_milli, memory_milli] = container.usage;
    if (IsBeyond(cpu_milli) || IsBeyond(memory_milli)) NoteBeyond(pod, container, error);
    if (!cpu && metric.resource != "memory") continue;
    if (of_one && (sum.has_value() || container.name != metric.container)) continue;
    sum = WrapAdd(sum.value_or(0), cpu ? cpu_milli : memory_milli);
  }
  return sum;
}

void ReadUsage(const Answer& answer, const MetricSpec& metric, const PodTable& table,
               Reading& reading) {
  std::string error = answer.error;
  const size_t counted = ReadItems(
      answer, answer.pods.size(), table,
      [&](size_t place) -> absl::string_view { return answer.pods[place].pod->name; },
      [&](size_t place, PodSample& sample) {
        const adapter::PodMetrics& pod = answer.pods[place];
        if (!reading.timestamp.has_value()) reading.timestamp = pod.timestamp;
        sample.timestamp = pod.timestamp;
        sample.window = pod.window;
        const std::optional<int64_t> usage = UsageOf(pod, metric, error);
        sample.value_milli = usage.value_or(0);
        return usage.has_value();
      },
      reading);
  EndReading("resource", counted, error, reading);
}

void ReadPodValues(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                   Reading& reading) {
  std::string error = answer.error;
  // For a selector without pods the metrics API answers that it does not find the metric, so the
  // same is said here.
  if (answer.whole_namespace && table.empty() && error.empty()) {
    error = absl::StrCat("the server could not find the metric ", metric.metric.name, " for pods");
  }
  reading.timestamp = answer.objects_time;
  const size_t counted = ReadItems(
      answer, answer.objects.size(), table,
      [&](size_t place) -> absl::string_view { return answer.objects[place].object.name; },
      [&](size_t place, PodSample& sample) {
        const adapter::CustomMetricValue& value = answer.objects[place];
        if (IsBeyond(value.value_milli)) {
          NoteBeyond(absl::StrCat("value of ", value.object.name), value.value_milli, error);
        }
        sample.value_milli = value.value_milli;
        sample.timestamp = answer.objects_time;
        sample.window = absl::Minutes(1);
        return true;
      },
      reading);
  EndReading("custom", counted, error, reading);
}

void ReadObjectValue(const Answer& answer, Reading& reading) {
  MetricsAnswer<ObjectMetric> values{.error = answer.error, .items = {}};
  for (const adapter::CustomMetricValue& one : answer.objects) {
    values.items.push_back({.object_name = one.object.name,
                            .timestamp = answer.objects_time,
                            .value = kube::Quantity::FromMilli(one.value_milli)});
  }
  GuardAnswer(values);
  ReadObjectMetric(values, reading);
}

void ReadSeries(const Answer& answer, Reading& reading) {
  std::string error = answer.error;
  for (const adapter::ExternalMetricValue& one : answer.series) {
    if (!reading.timestamp.has_value()) reading.timestamp = one.timestamp;
    if (IsBeyond(one.value_milli)) {
      NoteBeyond(absl::StrCat("series ", &one - answer.series.data()), one.value_milli, error);
    }
    reading.amounts_milli.push_back(one.value_milli);
  }
  EndReading("external", answer.series.size(), error, reading);
}

bool SameSample(const PodSample& a, const PodSample& b, bool times_matter) {
  return a.row == b.row && a.value_milli == b.value_milli &&
         (!times_matter || (a.timestamp == b.timestamp && a.window == b.window));
}

}  // namespace

void MakeReading(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                 Reading& reading) {
  Clear(reading);
  switch (metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource:
      ReadUsage(answer, metric, table, reading);
      break;
    case MetricType::kPods:
      ReadPodValues(answer, metric, table, reading);
      break;
    case MetricType::kObject:
      ReadObjectValue(answer, reading);
      break;
    case MetricType::kExternal:
      ReadSeries(answer, reading);
      break;
    case MetricType::kUnknown:
      break;
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

void DropStrangers(Reading& reading) {
  if (reading.samples.empty()) return;
  std::erase_if(reading.samples, [](const PodSample& sample) { return sample.row == kStranger; });
  if (reading.samples.empty()) reading.error = "no metrics returned of the target's own pods";
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
  if (same) fresh.instead = kept.instead;
  std::swap(fresh, kept);
  return !same;
}

}  // namespace flyball::scaler
