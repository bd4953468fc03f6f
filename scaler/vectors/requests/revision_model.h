// The cluster around one revision of a scenario: its replicas and the service in front.
//
// Pure. Not thread-safe. The service is made by the first step; before and after each step its
// status is brought up to date. Times are stored in whole seconds, as the API does.
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

  // Takes a step with the input, whose replicas are filled here, and tells the target.
  RevisionActions Step(const RequestSettings& settings, RevisionInput input,
                       absl::FunctionRef<bool()> activator_answers);

  // Whether the last step changed what would bring about another one.
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
