// Parsers and settings that several kinds of scenarios share.
//
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "nlohmann/json_fwd.hpp"
#include "scaler/spec/knative/config.h"
#include "scaler/spec/knative/settings.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler {

// A time of a scenario: milliseconds after its start.
class ScenarioClock {
 public:
  explicit ScenarioClock(const nlohmann::ordered_json& in);
  absl::Time At(int64_t ms) const { return start_ + absl::Milliseconds(ms); }

 private:
  absl::Time start_;
};

// The settings of a scenario; its events may replace them.
struct ScenarioSettings {
  knative::TextMap config;
  knative::Revision revision;
  absl::Duration progress_deadline = absl::Seconds(600);
};

// Replaces the settings that `from` has: config, annotations, cc, reach, progress_deadline.
void ReplaceSettings(const nlohmann::ordered_json& from, ScenarioSettings& settings);

// The settings, resolved.
//   kInvalidArgument  the config is wrong, or a window is longer than an hour
absl::StatusOr<RequestSettings> Resolve(const ScenarioSettings& settings);

// An element of "specs" in a result; there is one for each creation and update.
nlohmann::ordered_json SpecJson(int64_t ms, const RequestSettings& settings);

// The value at `index` of an array; its zero value if there is none.
double NumberAt(const nlohmann::ordered_json& array, size_t index);
int64_t IntAt(const nlohmann::ordered_json& array, size_t index);
std::string TextAt(const nlohmann::ordered_json& array, size_t index);
std::vector<std::string> TextsAt(const nlohmann::ordered_json& array, size_t index);

// A number as JSON; a whole one as an integer, so that 3 is not written 3.0.
nlohmann::ordered_json NumberJson(double value);

//   kInvalidArgument  the time is negative or beyond the limits
absl::Status CheckTime(int64_t ms);

}  // namespace flyball::scaler
