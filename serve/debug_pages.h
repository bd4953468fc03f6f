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
  absl::Status last_reload = {};                // OK, or why the present rule file is not in force
  std::vector<adapter::AdapterMetrics::ServerOutcome> servers = {};  // Prometheus's
  std::string version = {};
  bool relisted = false;  // whether each rule was queried once
};

// A client behind the API server's proxy, which does not pass on the user's Authorization, sends
// its token in this header.
using apiservice::kTokenHeader;

// What each rule found and offers, the state of its queries, and whether the present rule file is
// in force.
std::string DebugRulesJson(const RulesPage& page);

struct DecisionSources {
  const scaler::DecisionLog& log;
  const scaler::Shadow& shadow;
  std::string replica;  // the one that answers; another may decide the autoscaler
};

// The last decisions with their reasons, or the shadow report.
//
// Parameters: `namespace`, `name`, `kind` (HorizontalPodAutoscaler or Autoscaler, in any of the
// forms that kubectl accepts; absent: both). With a name: the last decisions of that autoscaler,
// newest first, each with its `text` as `flyball decide` prints it and its whole `trace`. Without:
// a line for each autoscaler, at most `limit` (1000). `report=shadow`: how the stock controller's
// decisions compare with ours.
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
// kInvalidArgument: the part before the slash is no kind of autoscaler.
absl::StatusOr<NamedAutoscaler> ParseNamedAutoscaler(const std::string& text);

}  // namespace flyball::serve
