// Gauges of each autoscaler's last decision, for Prometheus: --scaler-autoscaler-metrics.
//
// Thread-safe. The gauges are made from the log of decisions at each scrape, so they cost nothing
// while nobody scrapes. They are written as text directly: for 10,000 autoscalers that takes 10 MB
// and 50 ms, where the library's structs and serializer took 21 MB and 280 ms.
// At most six series for each autoscaler, with the labels kind (as the API names it), namespace and
// autoscaler:
//   flyball_autoscaler_current_replicas       of the target, as it was read
//   flyball_autoscaler_desired_replicas       after windows, policies and bounds
//   flyball_autoscaler_unbounded_replicas     before windows, policies and bounds; this and the
//                                             next two only where the metrics were followed
//   flyball_autoscaler_proposal_replicas      {metric}  of the metric that decided, by its name
//   flyball_autoscaler_reading_age_seconds    age of that metric's samples at the last decision
//   flyball_autoscaler_limited                {reason}  1; views/limiting_reason.h has the words
#pragma once

#include <string>

#include "scaler/views/decision_log.h"

namespace flyball::scaler {

// Appends the gauges to `out` in Prometheus' text format.
void AppendAutoscalerGauges(const DecisionLog& log, std::string& out);

}  // namespace flyball::scaler
