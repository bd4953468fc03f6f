#include "scaler/steps/reading_maker.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scaler/math/readings.h"
#include "scaler/steps/guard.h"

namespace flyball::scaler {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1767225600);

PodTable TableOf(const std::vector<std::string>& names) {
  std::vector<Pod> pods(names.size());
  std::vector<const Pod*> pointers;
  for (size_t i = 0; i < names.size(); ++i) {
    pods[i].name = names[i];
    pointers.push_back(&pods[i]);
  }
  return PodTable(pointers, {}, {});
}

MetricSpec Spec(MetricType type, const std::string& resource = "",
                const std::string& container = "") {
  MetricSpec metric;
  metric.type = type;
  metric.resource = resource;
  metric.container = container;
  metric.metric = MakeMetricIdentifier("rps", std::nullopt);
  return metric;
}

adapter::PodMetrics PodOf(const std::string& name,
                          std::vector<adapter::ContainerUsage> containers) {
  auto object = std::make_shared<kube::ObjectMeta>();
  object->name = name;
  return {.pod = object,
          .timestamp = kNow,
          .window = absl::Seconds(30),
          .containers = std::move(containers)};
}

std::string TextOf(const Reading& reading) {
  std::string out = absl::StrCat("error:", reading.error, " at:",
                                 reading.timestamp.has_value()
                                     ? absl::FormatTime(*reading.timestamp, absl::UTCTimeZone())
                                     : "");
  for (const PodSample& sample : reading.samples) {
    absl::StrAppend(&out, " ", sample.row, "=", sample.value_milli, "/",
                    absl::FormatDuration(sample.window));
  }
  for (const int64_t amount : reading.amounts_milli) absl::StrAppend(&out, " ", amount);
  return out;
}

std::string Made(const Answer& answer, const MetricSpec& metric, const PodTable& table) {
  Reading reading;
  MakeReading(answer, metric, table, reading);
  return TextOf(reading);
}

// What scaler/math makes of the same answer.
std::string Expected(const Answer& answer, const MetricSpec& metric, const PodTable& table) {
  Reading reading;
  const auto quantity = [](int64_t milli) { return kube::Quantity::FromMilli(milli); };
  if (metric.type == MetricType::kResource || metric.type == MetricType::kContainerResource) {
    MetricsAnswer<PodMetrics> pods{.error = answer.error, .items = {}};
    for (const adapter::PodMetrics& pod : answer.pods) {
      PodMetrics& item = pods.items.emplace_back();
      item.name = pod.pod->name;
      item.timestamp = pod.timestamp;
      item.window = pod.window;
      for (const adapter::ContainerUsage& container : pod.containers) {
        item.containers.push_back({container.name,
                                   {{"cpu", quantity(container.usage.cpu_milli)},
                                    {"memory", quantity(container.usage.memory_milli)}}});
      }
    }
    GuardAnswer(pods);
    ReadResource(pods, metric.resource, metric.container, table, reading);
  } else if (metric.type == MetricType::kExternal) {
    MetricsAnswer<ExternalMetric> series{.error = answer.error, .items = {}};
    for (const auto& one : answer.series) {
      series.items.push_back({one.timestamp, quantity(one.value_milli)});
    }
    GuardAnswer(series);
    ReadExternalMetric(series, reading);
  } else {
    MetricsAnswer<ObjectMetric> objects{.error = answer.error, .items = {}};
    for (const auto& one : answer.objects) {
      objects.items.push_back({.object_name = one.object.name,
                               .timestamp = answer.objects_time,
                               .value = quantity(one.value_milli)});
    }
    GuardAnswer(objects);
    if (metric.type == MetricType::kPods) {
      ReadPodsMetric(objects, table, reading);
    } else {
      ReadObjectMetric(objects, reading);
    }
  }
  GuardReading(reading);
  return TextOf(reading);
}

TEST(MakeReading, EqualsTheReadingsOfTheMath) {
  std::mt19937_64 random(5);
  const PodTable table = TableOf({"a", "b", "c", "d"});
  const char* const names[] = {"a", "b", "c", "d", "stranger", "other"};
  const auto value = [&]() -> int64_t {
    switch (random() % 40) {
      case 0: return 9'000'000'000'000'000'001;  // beyond the limit
      case 1: return -9'000'000'000'000'000'000;
      case 2: return 4'500'000'000'000'000'001;  // two of them are
      default: return static_cast<int64_t>(random() % 5000) - 1000;
    }
  };
  const std::vector<MetricSpec> metrics = {Spec(MetricType::kResource, "cpu"),
                                           Spec(MetricType::kResource, "memory"),
                                           Spec(MetricType::kResource, "gpu"),
                                           Spec(MetricType::kContainerResource, "cpu", "app"),
                                           Spec(MetricType::kContainerResource, "memory", "log"),
                                           Spec(MetricType::kPods),
                                           Spec(MetricType::kObject),
                                           Spec(MetricType::kExternal)};
  for (int run = 0; run < 4000; ++run) {
    Answer answer;
    answer.objects_time = kNow;
    if (random() % 15 == 0) answer.error = "it is down";
    const size_t count = answer.error.empty() ? random() % 5 : 0;
    for (size_t i = 0; i < count; ++i) {
      // Mostly in the order of the table; names come twice at times.
      const std::string name = random() % 3 == 0 ? names[random() % 6] : names[i];
      std::vector<adapter::ContainerUsage> containers;
      for (const char* container : {"app", "log", "app"}) {
        if (random() % 2 == 0) containers.push_back({container, {value(), value()}});
      }
      answer.pods.push_back(PodOf(name, std::move(containers)));
      answer.objects.push_back(
          {.object = {.kind = "Pod", .api_version = "/v1", .ns = "", .name = name},
           .value_milli = value()});
      answer.series.push_back({.labels = {}, .timestamp = kNow, .value_milli = value()});
    }
    for (const MetricSpec& metric : metrics) {
      ASSERT_EQ(Made(answer, metric, table), Expected(answer, metric, table)) << "run " << run;
    }
  }
}

TEST(MakeReading, OfAWholeNamespaceOnlyThePodsOfTheTableCount) {
  const PodTable table = TableOf({"a", "b"});
  Answer answer;
  answer.whole_namespace = true;
  for (const char* name : {"x", "b", "a"}) {
    answer.pods.push_back(PodOf(name, {{"app", {100, 1}}}));
    answer.objects.push_back(
        {.object = {.kind = "Pod", .api_version = "/v1", .ns = "", .name = name},
         .value_milli = 7});
  }
  EXPECT_EQ(Made(answer, Spec(MetricType::kResource, "cpu"), table),
            absl::StrCat("error: at:", absl::FormatTime(kNow, absl::UTCTimeZone()),
                         " 0=100/30s 1=100/30s"));
  const PodTable others = TableOf({"n"});
  EXPECT_EQ(Made(answer, Spec(MetricType::kResource, "cpu"), others),
            "error:no metrics returned from resource metrics API at:");
  EXPECT_EQ(Made(answer, Spec(MetricType::kPods), TableOf({})),
            "error:unable to fetch metrics from custom metrics API: the server could not find the "
            "metric rps for pods at:");
}

TEST(TakeReading, TheVersionChangesWithTheContent) {
  Reading kept, fresh;
  fresh.samples = {{.row = 0, .value_milli = 5, .timestamp = kNow, .window = absl::Seconds(30)}};
  const Reading first = fresh;
  EXPECT_TRUE(TakeReading(fresh, false, 1, kept));
  EXPECT_EQ(kept.version, 1u);
  fresh = first;
  fresh.samples[0].timestamp = kNow + absl::Seconds(1);
  EXPECT_FALSE(TakeReading(fresh, /*times_matter=*/false, 2, kept));
  EXPECT_EQ(kept.version, 1u);
  EXPECT_EQ(kept.samples[0].timestamp, kNow + absl::Seconds(1));  // taken over all the same
  fresh = first;
  EXPECT_TRUE(TakeReading(fresh, /*times_matter=*/true, 2, kept));
  EXPECT_EQ(kept.version, 2u);
  fresh = first;
  fresh.samples[0].value_milli = 6;
  EXPECT_TRUE(TakeReading(fresh, false, 3, kept));
  fresh = {};
  fresh.error = "down";
  EXPECT_TRUE(TakeReading(fresh, false, 4, kept));
  EXPECT_EQ(kept.version, 4u);
}

}  // namespace
}  // namespace flyball::scaler
