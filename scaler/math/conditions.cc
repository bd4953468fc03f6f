#include "scaler/math/conditions.h"

#include <algorithm>
#include <string>

namespace flyball::scaler {

void SetCondition(const ConditionUpdate& update, absl::Time now,
                  std::vector<Condition>& conditions) {
  auto found = std::find_if(conditions.begin(), conditions.end(),
                            [&](const Condition& c) { return c.type == update.type; });
  const bool is_new = found == conditions.end();
  if (is_new) {
    found = conditions.insert(conditions.end(), Condition{});
    found->type = std::string(update.type);
  }
  if (is_new || found->status != update.status) found->last_transition_time = now;
  found->status = update.status;
  found->reason.assign(update.reason.data(), update.reason.size());
  found->message.clear();
  for (const absl::string_view piece : update.message) {
    found->message.append(piece.data(), piece.size());
  }
}

}  // namespace flyball::scaler
