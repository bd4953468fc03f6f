#include "adapter/replicas_as_total.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"

namespace flyball::adapter {
namespace {

using Count = rules::ReplicasInstead::Count;

// Beyond this a metrics API rounds.
constexpr double kMostMilli = 9.0e15;

absl::Status Hold(absl::string_view why) { return absl::FailedPreconditionError(why); }

int32_t CountOf(const rules::ReplicasInstead& wanted, const MetricAsker& asker) {
  const int32_t count = wanted.count == Count::kMax   ? asker.max
                        : wanted.count == Count::kMin ? asker.min
                                                      : wanted.given;
  return std::min(count, asker.max);
}

}  // namespace

absl::StatusOr<int64_t> ReplicasAsTotal(const rules::ReplicasInstead& wanted,
                                        absl::Span<const MetricAsker> askers) {
  if (askers.empty()) return Hold("no HorizontalPodAutoscaler of the namespace asks for it");
  double total = 0;
  bool grows = false, asked = false;
  std::string unsettled;
  for (const MetricAsker& asker : askers) {
    // Switched off by hand: its controller asks for no metric until somebody switches it on.
    if (asker.spec_replicas == 0 && asker.min > 0) continue;
    asked = true;
    if (asker.average_milli.value_or(0) <= 0) {
      return Hold(absl::StrCat("the target of ", asker.name,
                               " is no AverageValue, and what a Value asks for depends on its "
                               "pods"));
    }
    const int32_t count = CountOf(wanted, asker);
    const bool more = count > asker.spec_replicas;
    grows = grows || more;
    // If an HPA's ratio is within the tolerance, it wants status.replicas, which are fewer now.
    if (asker.status_replicas < asker.spec_replicas) unsettled = asker.name;
    // Twice the maximum, which is outside any tolerance: the HPA stops at the maximum.
    const double factor = more && wanted.count == Count::kMax ? 2 : 1;
    total = std::max(total, factor * static_cast<double>(*asker.average_milli) *
                                std::max(count, asker.spec_replicas));
  }
  if (!asked) return Hold("all HorizontalPodAutoscalers that ask for it are switched off");
  if (!grows) return Hold("no HorizontalPodAutoscaler that asks for it has fewer replicas");
  if (!unsettled.empty()) {
    return Hold(absl::StrCat("the target of ", unsettled, " has not all of its replicas yet"));
  }
  if (total > kMostMilli) return Hold("so many replicas are too large a total");
  return static_cast<int64_t>(total);
}

std::string MadeSmallerBy(double total_milli, absl::Span<const MetricAsker> askers) {
  for (const MetricAsker& asker : askers) {
    if (asker.spec_replicas == 0) continue;
    const bool smaller = asker.average_milli.value_or(0) > 0
                             ? std::ceil(total_milli / static_cast<double>(*asker.average_milli)) <
                                   asker.spec_replicas
                             : total_milli < static_cast<double>(asker.value_milli.value_or(0));
    if (smaller) return asker.name;
  }
  return "";
}

}  // namespace flyball::adapter
