// Replays scenarios of scaling by requests, whose results Knative Serving 0.51.0 has computed too.
//
// Pure: times are in the scenario. test/data/requests/README.md describes the form. Members that
// are absent or of another type have their zero value.
// Limits: times of a scenario up to about 12 days, windows of an hour, a million evaluations.
#pragma once

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace flyball::scaler {

// The result of the scenario `in`, with its id and kind.
//   kInvalidArgument  its kind is unknown, or it exceeds the limits
absl::StatusOr<nlohmann::ordered_json> AnswerRequestScenario(const nlohmann::ordered_json& in);

}  // namespace flyball::scaler
