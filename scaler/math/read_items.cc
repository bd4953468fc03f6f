#include "scaler/math/read_items.h"

#include "absl/strings/str_cat.h"

namespace flyball::scaler {

SampleCollector::SampleCollector(const PodTable& table, bool may_repeat, Reading& reading)
    : table_(table),
      may_repeat_(may_repeat),
      reading_(reading),
      sample_of_row_(may_repeat ? table.size() : 0, -1) {}

bool SampleCollector::IsFirst(absl::string_view name, const PodSample& sample) {
  int32_t& known = sample.row == kStranger ? sample_of_stranger_.try_emplace(name, -1).first->second
                                           : sample_of_row_[static_cast<size_t>(sample.row)];
  if (known >= 0) {
    reading_.samples[static_cast<size_t>(known)] = sample;
    return false;
  }
  known = static_cast<int32_t>(reading_.samples.size());
  return true;
}

void ClearReading(Reading& reading) {
  reading.error.clear();
  reading.instead.reset();
  reading.samples.clear();
  reading.amounts_milli.clear();
  reading.timestamp.reset();
}

std::string UnreadText(absl::string_view api, absl::string_view error) {
  return error.empty()
             ? absl::StrCat("no metrics returned from ", api, " metrics API")
             : absl::StrCat("unable to fetch metrics from ", api, " metrics API: ", error);
}

void EndReading(absl::string_view api, size_t counted, absl::string_view error, Reading& reading) {
  if (counted > 0 && error.empty()) return;
  ClearReading(reading);
  reading.error = UnreadText(api, error);
}

}  // namespace flyball::scaler
