// links: scaler_spec
//
// Annotations with schedules, of any bytes: of what is accepted bounds are never crossed, at times
// around the changes of clocks and of years, and nothing changes within a minute.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "scaler/spec/schedules_read.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

constexpr int64_t kMoments[] = {1767225599, 1774745999, 1774746000, 1792888199, 1792891800, 0};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flyball::scaler;
  if (size > 4096) return 0;
  Autoscaler hpa;
  hpa.min_replicas = 2;
  hpa.max_replicas = 10;
  hpa.annotations[std::string(kSchedulesAnnotation)] =
      std::string(reinterpret_cast<const char*>(data), size);
  FieldErrors errors;
  const Schedules schedules = ReadScheduleAnnotations(hpa, errors);
  if (!std::move(errors).Sorted().empty()) return 0;
  Require(schedules.windows.size() <= kMaxSchedules);
  for (const int64_t moment : kMoments) {
    const absl::Time now = absl::FromUnixSeconds(moment);
    const ScheduledSpec spec = SpecAt(schedules, hpa, now);
    Require(1 <= spec.min_replicas.value_or(1));
    Require(spec.min_replicas.value_or(1) <= spec.max_replicas);
    const absl::Time change = MayChangeAfter(schedules, now);
    Require(change > now);
    if (change == absl::InfiniteFuture()) continue;
    Require(SpecAt(schedules, hpa, change - absl::Nanoseconds(1)).why == spec.why);
  }
  return 0;
}
