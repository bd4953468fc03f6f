// The kinds of scenarios; each has its file.
//
// Pure. Each function takes a whole scenario and returns its result without id and kind. If the
// original gives an error, the result has the member "error". kInvalidArgument: as in
// request_vectors.h.
#pragma once

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace flyball::scaler {

absl::StatusOr<nlohmann::ordered_json> AnswerScale(const nlohmann::ordered_json& in);
absl::StatusOr<nlohmann::ordered_json> AnswerKpa(const nlohmann::ordered_json& in);
absl::StatusOr<nlohmann::ordered_json> AnswerLoop(const nlohmann::ordered_json& in);
absl::StatusOr<nlohmann::ordered_json> AnswerConfig(const nlohmann::ordered_json& in);
absl::StatusOr<nlohmann::ordered_json> AnswerRequestStats(const nlohmann::ordered_json& in);
absl::StatusOr<nlohmann::ordered_json> AnswerReporter(const nlohmann::ordered_json& in);
absl::StatusOr<nlohmann::ordered_json> AnswerThrottle(const nlohmann::ordered_json& in);
absl::StatusOr<nlohmann::ordered_json> AnswerSubset(const nlohmann::ordered_json& in);
absl::StatusOr<nlohmann::ordered_json> AnswerScrape(const nlohmann::ordered_json& in);

}  // namespace flyball::scaler
