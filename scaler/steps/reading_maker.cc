#include "scaler/steps/reading_maker.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "scaler/math/read_items.h"
#include "scaler/math/readings.h"
#include "scaler/steps/guard.h"

namespace flyball::scaler {
namespace {

// Sets the error text for an amount beyond the limit; the first such amount wins.
void NoteBeyond(absl::string_view what, int64_t milli, std::string& error) {
  if (error.empty()) error = BeyondText(what, kube::Quantity::FromMilli(milli));
}

PodItems ItemsOf(const Answer& answer, size_t count) {
  const auto& places = answer.places();
  return {.count = count,
          .places = answer.whole_namespace ? &places : nullptr,
          .may_repeat = places.size() != count};
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
  for (const adapter::ContainerUsage& one : pod.containers) {
    const auto& [cpu, memory] = one.usage;
    if (IsBeyond(cpu) || IsBeyond(memory)) NoteBeyond(pod, one, error);
  }
  const bool of_one = metric.type == MetricType::kContainerResource;
  const bool cpu = metric.resource == "cpu";
  if (!cpu && metric.resource != "memory") return std::nullopt;
  return SumOfContainers(
      pod.containers, of_one ? absl::string_view(metric.container) : "",
      [&](const adapter::ContainerUsage& one) {
        return std::make_optional(cpu ? one.usage.cpu_milli : one.usage.memory_milli);
      });
}

void ReadUsage(const Answer& answer, const MetricSpec& metric, const PodTable& table,
               Reading& reading) {
  const std::vector<adapter::PodMetrics>& pods = answer.pods;
  ReadPodItems(
      "resource", ItemsOf(answer, pods.size()), answer.error, table,
      [&](size_t place) -> absl::string_view { return pods[place].pod->name; },
      [&](size_t place) { return std::make_optional(pods[place].timestamp); },
      [&](size_t place, PodSample& sample, std::string& error) {
        const std::optional<int64_t> usage = UsageOf(pods[place], metric, error);
        sample.value_milli = usage.value_or(0);
        sample.window = pods[place].window;
        return usage.has_value();
      },
      reading);
}

void ReadPodValues(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                   Reading& reading) {
  const std::vector<adapter::CustomMetricValue>& values = answer.objects;
  std::string unread = answer.error;
  // For a selector without pods the metrics API answers that it does not find the metric, so this
  // does too.
  if (answer.whole_namespace && table.empty() && unread.empty()) {
    unread = absl::StrCat("the server could not find the metric ", metric.metric.name, " for pods");
  }
  ReadPodItems(
      "custom", ItemsOf(answer, values.size()), std::move(unread), table,
      [&](size_t place) -> absl::string_view { return values[place].object.name; },
      [&](size_t) { return std::make_optional(answer.objects_time); },
      [&](size_t place, PodSample& sample, std::string& error) {
        const adapter::CustomMetricValue& value = values[place];
        if (IsBeyond(value.value_milli)) {
          NoteBeyond(absl::StrCat("value of ", value.object.name), value.value_milli, error);
        }
        sample.value_milli = value.value_milli;
        sample.window = absl::Minutes(1);
        return true;
      },
      reading);
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
  const std::vector<adapter::ExternalMetricValue>& series = answer.series;
  ReadAmounts(
      "external", series.size(), answer.error,
      [&](size_t place) { return std::make_optional(series[place].timestamp); },
      [&](size_t place, std::string& error) {
        const int64_t milli = series[place].value_milli;
        if (IsBeyond(milli)) NoteBeyond(absl::StrCat("series ", place), milli, error);
        return milli;
      },
      reading);
}

bool SameSample(const PodSample& a, const PodSample& b, bool times_matter) {
  return a.row == b.row && a.value_milli == b.value_milli &&
         (!times_matter || (a.timestamp == b.timestamp && a.window == b.window));
}

}  // namespace

void MakeReading(const Answer& answer, const MetricSpec& metric, const PodTable& table,
                 Reading& reading) {
  switch (metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource: ReadUsage(answer, metric, table, reading); break;
    case MetricType::kPods: ReadPodValues(answer, metric, table, reading); break;
    case MetricType::kObject: ReadObjectValue(answer, reading); break;
    case MetricType::kExternal: ReadSeries(answer, reading); break;
    case MetricType::kUnknown: ClearReading(reading); break;
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
  ClearReading(reading);
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
