#include "scaler/front/wait_queue.h"

#include <utility>

namespace flyball::front {

void WaitQueue::Add(HeldRequest request) {
  const RequestId id = request.id;
  if (positions_.contains(id)) return;
  requests_.push_back(std::move(request));
  positions_.emplace(id, std::prev(requests_.end()));
}

bool WaitQueue::Remove(RequestId id) {
  const auto found = positions_.find(id);
  if (found == positions_.end()) return false;
  requests_.erase(found->second);
  positions_.erase(found);
  return true;
}

void WaitQueue::Visit(absl::FunctionRef<Verdict(const HeldRequest&)> verdict_of) {
  for (auto each = requests_.begin(); each != requests_.end();) {
    switch (verdict_of(*each)) {
      case Verdict::kGoes:
        positions_.erase(each->id);
        each = requests_.erase(each);
        break;
      case Verdict::kStays: ++each; break;
      case Verdict::kStop: return;
    }
  }
}

std::optional<absl::Time> WaitQueue::oldest() const {
  if (requests_.empty()) return std::nullopt;
  return requests_.front().arrived;
}

}  // namespace flyball::front
