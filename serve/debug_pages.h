// The JSON of the debug pages /debug/rules and /debug/decisions. Pure.
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

// A client that asks through the API server's proxy, which does not pass on the user's
// Authorization, sends its token in this header.
using apiservice::kTokenHeader;

// What each rule found and offers, the state of its queries, and whether the present rule file is
// in force.
std::string DebugRulesJson(const RulesPage& page);

struct DecisionSources {
  const scaler::DecisionLog& log;
  const scaler::Shadow& shadow;
  std::string replica;  // the one that answers; another one may decide the autoscaler
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
