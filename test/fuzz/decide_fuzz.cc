// links: scaler_vectors scaler_inputs scaler_math scaler_spec kube_watch
//
// A scenario line of any bytes: an answer that is JSON of one line, never a crash or an undefined
// conversion; and whatever was decided lies within the bounds, without a change when the metrics
// are unknown.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "scaler/spec/document.h"
#include "scaler/vectors/replay.h"
#include "scaler/vectors/scenario.h"
#include "scaler/vectors/vectors.h"

namespace {

using flyball::scaler::Decision;
using flyball::scaler::Outcome;

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckDecision(const Decision& decision) {
  if (decision.outcome == Outcome::kMetricsFailed || decision.outcome == Outcome::kScaleUnknown) {
    Require(!decision.rescale && !decision.rescaled && !decision.error.empty());
  }
  if (!decision.rescaled) return;
  const int32_t min = decision.min_replicas;
  const int32_t max = decision.max_replicas;
  // Growing looks at the maximum and shrinking at the minimum; hand-made objects may cross them.
  if (min < 0 || min > max) return;
  Require(decision.desired >= min && decision.desired <= max);
  Require(decision.desired != decision.current);
}

void CheckLine(absl::string_view line) {
  const flyball::scaler::LineAnswer answer = flyball::scaler::AnswerLine(line, 1);
  Require(!answer.text.empty() && answer.text.find('\n') == std::string::npos);
  const auto parsed = flyball::scaler::ParseJson(answer.text);
  Require(parsed.ok());
  Require((parsed->Find("error") != nullptr) != answer.ok);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view line(reinterpret_cast<const char*>(data), size);
  CheckLine(line);
  const auto document = flyball::scaler::ParseJson(line);
  if (!document.ok()) return 0;
  const flyball::scaler::Node* node = document->Find("scenario");
  if (node == nullptr) return 0;
  const auto scenario = flyball::scaler::ReadScenario(*node);
  if (!scenario.ok()) return 0;
  for (const auto& tick : flyball::scaler::Replay(*scenario).ticks) CheckDecision(tick.decision);
  return 0;
}
