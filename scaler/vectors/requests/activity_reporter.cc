#include "scaler/vectors/requests/activity_reporter.h"

#include <algorithm>
#include <utility>

namespace flyball::scaler {

std::optional<ActivityReport> ActivityReporter::Begin(absl::string_view target, absl::Time now) {
  auto found = activities_.find(target);
  const bool first = found == activities_.end();
  if (first) found = activities_.emplace(std::string(target), Activity(now)).first;
  found->second.meter.Begin(now, /*proxied=*/false);
  ++found->second.in_flight;
  if (!first) return std::nullopt;
  return ActivityReport{.target = std::string(target), .concurrency = 1, .requests = 1};
}

void ActivityReporter::End(absl::string_view target, absl::Time now) {
  const auto found = activities_.find(target);
  if (found == activities_.end()) return;
  found->second.meter.End(now, /*proxied=*/false);
  --found->second.in_flight;
}

std::vector<ActivityReport> ActivityReporter::Report(absl::Time now) {
  std::vector<ActivityReport> reports;
  for (auto each = activities_.begin(); each != activities_.end();) {
    Activity& activity = each->second;
    const MeterReport report = activity.meter.Report(now);
    const double told = std::exchange(activity.told, 0);
    // The requests that were reported at once may be more than the mean of the period.
    reports.push_back({.target = each->first,
                       .concurrency = std::max(report.concurrency - told, 0.0),
                       .requests = report.requests - told});
    const bool over = report.concurrency == 0 && activity.in_flight == 0;
    each = over ? activities_.erase(each) : std::next(each);
  }
  return reports;
}

}  // namespace flyball::scaler
