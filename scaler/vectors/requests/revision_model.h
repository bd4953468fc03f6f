// The cluster around one revision of a scenario: its replicas and the service in front of it.
//
// Pure. Not thread-safe. The first step makes the service, whose status is updated before and after
// each step. Times are stored in whole seconds, as the API stores them.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "nlohmann/json_fwd.hpp"
#include "scaler/math/requests/revision.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler {

class RevisionModel {
 public:
  explicit RevisionModel(int32_t replicas) : replicas_(replicas) {}

  // Takes a step with the input, whose replicas are filled in here, and applies its actions.
  RevisionActions Step(const RequestSettings& settings, RevisionInput input,
                       absl::FunctionRef<bool()> activator_answers);

  // Whether the last step changed something after which a controller would take another step.
  bool changed() const { return changed_; }

  bool has_front() const { return front_.exists; }
  ServeMode mode() const { return front_.mode; }
  int32_t replicas() const { return replicas_; }

  nlohmann::ordered_json StateJson(int64_t ms) const;

 private:
  void RefreshFront(absl::Time now, bool any_ready);

  int32_t replicas_;
  FrontService front_;
  RevisionStatus status_;
  bool changed_ = false;
};

}  // namespace flyball::scaler
