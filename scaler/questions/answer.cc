#include "scaler/questions/answer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

template <typename T, typename Same>
bool SameList(const std::vector<T>& a, const std::vector<T>& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool SamePod(const adapter::PodMetrics& a, const adapter::PodMetrics& b) {
  return (a.pod == b.pod || a.pod->name == b.pod->name) && a.window == b.window &&
         SameList(a.containers, b.containers,
                  [](const adapter::ContainerUsage& x, const adapter::ContainerUsage& y) {
                    return x.usage.cpu_milli == y.usage.cpu_milli &&
                           x.usage.memory_milli == y.usage.memory_milli && x.name == y.name;
                  });
}

}  // namespace

const absl::flat_hash_map<absl::string_view, size_t>& Answer::places() const {
  absl::call_once(indexed_, [this] {
    places_.reserve(pods.size() + objects.size());
    for (size_t i = 0; i < pods.size(); ++i) places_[pods[i].pod->name] = i;
    for (size_t i = 0; i < objects.size(); ++i) places_[objects[i].object.name] = i;
  });
  return places_;
}

std::optional<absl::Time> SampleTimeOf(const LastAnswer& last) {
  const Answer& answer = *last.answer;
  if (last.time.has_value()) return last.time;
  if (!answer.pods.empty()) return answer.pods.front().timestamp;
  if (!answer.objects.empty()) return answer.objects_time;
  if (!answer.series.empty()) return answer.series.front().timestamp;
  return std::nullopt;
}

bool SameContent(const Answer& a, const Answer& b) {
  return a.error == b.error && a.whole_namespace == b.whole_namespace &&
         SameList(a.pods, b.pods, SamePod) &&
         SameList(a.objects, b.objects,
                  [](const adapter::CustomMetricValue& x, const adapter::CustomMetricValue& y) {
                    return x.value_milli == y.value_milli && x.object.name == y.object.name;
                  }) &&
         SameList(a.series, b.series,
                  [](const adapter::ExternalMetricValue& x, const adapter::ExternalMetricValue& y) {
                    return x.value_milli == y.value_milli;
                  }) &&
         a.trigger_metrics == b.trigger_metrics &&
         SameList(a.trigger_readings, b.trigger_readings,
                  [](const TriggerReading& x, const TriggerReading& y) {
                    return x.error == y.error && x.activity_only == y.activity_only &&
                           x.value_milli == y.value_milli && x.active == y.active &&
                           x.front == y.front;
                  }) &&
         a.scale == b.scale;
}

std::string ApiErrorText(const absl::Status& status) {
  if (absl::IsInternal(status)) return absl::StrCat("Internal error occurred: ", status.message());
  if (!status.message().empty()) return std::string(status.message());
  return status.ToString();  // an empty text would mean that all is well
}

}  // namespace flyball::scaler
