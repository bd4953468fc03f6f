// Scenarios of scaling by requests, replayed: what Knative Serving 0.51.0 computed of the same.
//
// Pure: times are in the scenario. The form is told in test/data/requests/README.md. Members that
// are absent or of another type have their zero value.
// Limits: times of a scenario up to about 12 days, windows of an hour, a million evaluations.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace flyball::scaler {

// The result of the scenario `in`, its id and kind included.
//   kInvalidArgument  it is of no kind that is known, or beyond the limits
absl::StatusOr<nlohmann::ordered_json> AnswerRequestScenario(const nlohmann::ordered_json& in);

}  // namespace flyball::scaler
