#include "scaler/vectors/requests/revision_model.h"

#include <nlohmann/json.hpp>
#include <tuple>

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

const char* Name(ConditionState state) {
  constexpr const char* kNames[] = {"Unknown", "True", "False"};
  return kNames[static_cast<size_t>(state)];
}

auto Tie(const FrontService& front) {
  return std::tie(front.exists, front.mode, front.activators, front.ready, front.activators_since);
}

auto Tie(const RevisionStatus& status) {
  return std::tie(status.active, status.reason, status.changed, status.initialized,
                  status.front_ready, status.wanted, status.ready_pods);
}

}  // namespace

void RevisionModel::RefreshFront(absl::Time now, bool any_ready) {
  if (!front_.exists) return;
  front_.ready = any_ready;
  if (any_ready && front_.mode == ServeMode::kServe) {
    front_.activators_since.reset();
  } else if (!front_.activators_since.has_value()) {
    front_.activators_since = absl::FromUnixSeconds(absl::ToUnixSeconds(now));
  }
}

RevisionActions RevisionModel::Step(const RequestSettings& settings, RevisionInput input,
                                    absl::FunctionRef<bool()> activator_answers) {
  const bool any_ready = input.ready_pods > 0;
  RefreshFront(input.now, any_ready);
  const FrontService front = front_;
  const RevisionStatus status = status_;
  input.replicas = replicas_;
  RevisionActions actions = StepRevision(settings, input, activator_answers, front_, status_);
  if (actions.replicas.has_value()) replicas_ = *actions.replicas;
  front_.exists = true;
  RefreshFront(input.now, any_ready);
  changed_ =
      actions.replicas.has_value() || Tie(front) != Tie(front_) || Tie(status) != Tie(status_);
  return actions;
}

Json RevisionModel::StateJson(int64_t ms) const {
  const auto flag = [](bool value) {
    return Name(value ? ConditionState::kTrue : ConditionState::kUnknown);
  };
  Json state = {{"t", ms},
                {"want", status_.wanted.value_or(-1)},
                {"got", status_.ready_pods},
                {"mode", front_.mode == ServeMode::kServe ? "Serve" : "Proxy"},
                {"na", front_.activators},
                {"active", Name(status_.active)}};
  if (!status_.reason.empty()) state["reason"] = status_.reason;
  state["started"] = flag(status_.initialized);
  state["sks_ready"] = flag(status_.front_ready);
  state["ready"] = Name(status_.ready());
  state["replicas"] = replicas_;
  return state;
}

}  // namespace flyball::scaler
