#include "scaler/vectors/vectors.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "scaler/spec/document.h"
#include "scaler/vectors/replay.h"
#include "scaler/vectors/scenario.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

absl::StatusOr<Scenario> ParseLine(absl::string_view line) {
  ASSIGN_OR_RETURN(const Node document, ParseJson(line));
  const Node* scenario = document.Find("scenario");
  if (scenario == nullptr) {
    return absl::InvalidArgumentError("expected an object with the member \"scenario\"");
  }
  return ReadScenario(*scenario);
}

}  // namespace

LineAnswer AnswerLine(absl::string_view line, size_t number) {
  const absl::StatusOr<Scenario> scenario = ParseLine(line);
  if (!scenario.ok()) {
    // The parser counts lines of its document, which is this one line.
    absl::string_view message = scenario.status().message();
    absl::ConsumePrefix(&message, "line 1: ");
    const Json error = {{"error", std::string(message)}, {"line", number}};
    return {.ok = false, .text = error.dump(-1, ' ', false, Json::error_handler_t::replace)};
  }
  return {.ok = true, .text = ResultJson(Replay(*scenario))};
}

size_t AnswerLines(std::istream& in, std::ostream& out) {
  size_t bad = 0;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const LineAnswer answer = AnswerLine(line, number);
    if (!answer.ok) ++bad;
    out << answer.text << '\n';
  }
  out.flush();
  return bad;
}

}  // namespace flyball::scaler
