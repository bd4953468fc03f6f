#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/go/arithmetic.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "scaler/vectors/requests/kinds.h"
#include "scaler/vectors/requests/revision_model.h"
#include "scaler/vectors/requests/scenario.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

Json StepJson(const Json& step, const ScenarioClock& clock, const RequestSettings& settings,
              RevisionModel& model) {
  const int64_t ms = kube::NumberOf(step, "t");
  const std::string probe = kube::TextOf(step, "probe");
  const RevisionInput input{
      .now = clock.At(ms),
      .wanted = GoNarrow32(kube::NumberOf(step, "d")),
      .excess_burst = GoNarrow32(kube::NumberOf(step, "ebc")),
      .ready_pods = GoNarrow32(std::max<int64_t>(IntAt(kube::ItemsOf(step, "pods"), 0), 0))};
  const RevisionActions actions =
      model.Step(settings, input, [&probe] { return probe.empty() || probe == "ok"; });
  Json state = model.StateJson(ms);
  if (actions.replicas.has_value()) state["patch"] = *actions.replicas;
  for (const absl::Duration after : actions.look_again) {
    state["requeue"].push_back(absl::ToInt64Milliseconds(after));
  }
  if (actions.probes > 0) state["probes"] = actions.probes;
  if (actions.probe_on) state["async"] = 1;
  return state;
}

}  // namespace

absl::StatusOr<Json> AnswerKpa(const Json& in) {
  const ScenarioClock clock(in);
  ScenarioSettings written;
  ReplaceSettings(in, written);
  RevisionModel model(GoNarrow32(kube::NumberOf(in, "replicas")));
  Json states = Json::array();
  for (const Json& step : kube::ItemsOf(in, "steps")) {
    RETURN_IF_ERROR(CheckTime(kube::NumberOf(step, "t")));
    ReplaceSettings(step, written);
    ASSIGN_OR_RETURN(const RequestSettings settings, Resolve(written));
    states.push_back(StepJson(step, clock, settings, model));
  }
  return Json{{"states", states}};
}

}  // namespace flyball::scaler
