// The guard around the replica math: stops what no user would want, before and after it.
//
// Pure. The math itself follows the HorizontalPodAutoscaler of Kubernetes 1.34.4 exactly, wrapping
// included: an amount of 10E reads as 0, two samples of 2^63-1 thousandths ask for -2 replicas, and
// an average over no replicas shows -9223372036854775808m. The guard makes the first two unknown,
// which holds the count, and leaves the third out of the status. The vectors run without it.
//
// Limit:   kMaxMetricMilli (spec/autoscaler.h).
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "kube/objects/quantity.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/math/readings.h"

namespace flyball::scaler {

// The error text for an amount beyond the limit; `what` names the amount.
std::string BeyondText(absl::string_view what, const kube::Quantity& amount);

// Makes an answer with an item beyond the limit an error that names the item.
void GuardAnswer(MetricsAnswer<PodMetrics>& answer);
void GuardAnswer(MetricsAnswer<ObjectMetric>& answer);
void GuardAnswer(MetricsAnswer<ExternalMetric>& answer);

// Makes a reading an error if the sum of its items is beyond the limit.
void GuardReading(Reading& reading);

// Removes values that result from a division by zero from the decision's status. To be called
// before the status is written, after RecordScaleWrite or, if nothing is rescaled, after Decide.
// `stored` is the status as stored.
void GuardStatus(const AutoscalerStatus& stored, Decision& decision);

}  // namespace flyball::scaler
