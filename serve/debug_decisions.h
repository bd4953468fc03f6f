// The JSON of /debug/decisions: what was decided last, and why; or the shadow report. Pure.
//
// Parameters: `namespace`, `name`, `kind` (HorizontalPodAutoscaler or Autoscaler, in any of the
// forms that kubectl takes; absent: both). With a name the last decisions of that autoscaler,
// newest first, each with its `text` as `flyball decide` prints it and its whole `trace`; without
// one a line for each autoscaler, `limit` (1000) of them at most. `report=shadow`: how the stock
// controller's decisions compare with ours.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "apiservice/options.h"
#include "scaler/views/decision_log.h"
#include "scaler/views/shadow.h"

namespace flyball::serve {

struct DecisionSources {
  const scaler::DecisionLog& log;
  const scaler::Shadow& shadow;
  std::string replica;  // who answers: another one may decide what was asked for
};

std::string DebugDecisionsJson(const DecisionSources& sources,
                               const apiservice::DebugParameter& parameter);

// "hpa", "horizontalpodautoscalers.autoscaling", "Autoscaler", …; nullopt for other kinds.
std::optional<scaler::AutoscalerKind> ParseAutoscalerKind(absl::string_view kind);
const char* AutoscalerKindName(scaler::AutoscalerKind kind);

}  // namespace flyball::serve
