#include "scaler/vectors/vectors.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "scaler/spec/document.h"
#include "scaler/vectors/replay.h"
#include "scaler/vectors/requests/request_vectors.h"
#include "scaler/vectors/scenario.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<std::string> AnswerDocument(absl::string_view line, const DialectChoice& otherwise) {
  ASSIGN_OR_RETURN(const Node document, ParseJson(line));
  if (const Node* const scenario = document.Find("scenario")) {
    ASSIGN_OR_RETURN(const Scenario read, ReadScenario(*scenario, otherwise));
    return ResultJson(Replay(read));
  }
  if (document.Find("in") != nullptr) {
    const Json in = kube::MemberOf(Json::parse(line, nullptr, /*allow_exceptions=*/false), "in");
    ASSIGN_OR_RETURN(const Json out, AnswerRequestScenario(in));
    return Dump({{"id", out["id"]}, {"out", out}});
  }
  return absl::InvalidArgumentError(
      "expected an object with the member \"scenario\" or the member \"in\"");
}

}  // namespace

LineAnswer AnswerLine(absl::string_view line, size_t number, const DialectChoice& otherwise) {
  absl::StatusOr<std::string> answer = AnswerDocument(line, otherwise);
  if (answer.ok()) return {.ok = true, .text = *std::move(answer)};
  // The parser's line number is always 1, since its document is this one line.
  absl::string_view message = answer.status().message();
  absl::ConsumePrefix(&message, "line 1: ");
  return {.ok = false, .text = Dump({{"error", std::string(message)}, {"line", number}})};
}

size_t AnswerLines(std::istream& in, std::ostream& out, const DialectChoice& otherwise) {
  size_t bad = 0;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const LineAnswer answer = AnswerLine(line, number, otherwise);
    if (!answer.ok) ++bad;
    out << answer.text << '\n';
  }
  out.flush();
  return bad;
}

}  // namespace flyball::scaler
