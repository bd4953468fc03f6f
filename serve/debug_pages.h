// The JSON of the pages for people: /debug/rules and /debug/decisions. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/metrics.h"
#include "adapter/relist_status.h"
#include "apiservice/options.h"
#include "scaler/views/decision_log.h"
#include "scaler/views/shadow.h"

namespace flyball::serve {

struct RulesPage {
  std::vector<adapter::RuleStatus> rules = {};  // with metrics and failures
  absl::Status last_reload = {};  // OK, or why the rule file as it is now is not in force
  std::vector<adapter::AdapterMetrics::ServerOutcome> servers = {};  // Prometheus's
  std::string version = {};
  bool relisted = false;  // each rule was asked for once
};

// Who asks through the API server's proxy, which keeps the user's Authorization to itself, shows
// the token in this header.
using apiservice::kTokenHeader;

// What each rule found and offers, how its queries fare, and whether the rule file as it is now is
// in force.
std::string DebugRulesJson(const RulesPage& page);

struct DecisionSources {
  const scaler::DecisionLog& log;
  const scaler::Shadow& shadow;
  std::string replica;  // who answers: another one may decide what was asked for
};

// What was decided last, and why; or the shadow report.
//
// Parameters: `namespace`, `name`, `kind` (HorizontalPodAutoscaler or Autoscaler, in any of the
// forms that kubectl takes; absent: both). With a name the last decisions of that autoscaler,
// newest first, each with its `text` as `flyball decide` prints it and its whole `trace`; without
// one a line for each autoscaler, `limit` (1000) of them at most. `report=shadow`: how the stock
// controller's decisions compare with ours.
std::string DebugDecisionsJson(const DecisionSources& sources,
                               const apiservice::DebugParameter& parameter);

// "hpa", "horizontalpodautoscalers.autoscaling", "Autoscaler", …; nullopt for other kinds.
std::optional<scaler::AutoscalerKind> ParseAutoscalerKind(absl::string_view kind);
const char* AutoscalerKindName(scaler::AutoscalerKind kind);

// An autoscaler as people name it on a command line: KIND/NAME or NAME.
struct NamedAutoscaler {
  std::optional<scaler::AutoscalerKind> kind;  // nullopt: either
  std::string name;
};
// kInvalidArgument: what stands before the slash is no kind of autoscaler.
absl::StatusOr<NamedAutoscaler> ParseNamedAutoscaler(const std::string& text);

}  // namespace flyball::serve
