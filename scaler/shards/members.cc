#include "scaler/shards/members.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {

Members::Members(LeaseKeeper& keeper, std::string prefix, std::string identity)
    : keeper_(keeper), prefix_(std::move(prefix)), identity_(std::move(identity)) {}

void Members::Round() {
  if (own_.has_value()) {
    keeper_.Renew(slots_[*own_]);
    if (!slots_[*own_].held) own_.reset();
  }
  for (size_t k = 0; k < kMost; ++k) {
    const bool is_last = k == slots_.size();
    if (is_last) slots_.push_back(keeper_.Watch(absl::StrCat(prefix_, "-member-", k)));
    WatchedLease& slot = slots_[k];
    if (slot.held) continue;
    if (!keeper_.Read(slot)) {
      if (is_last) slots_.pop_back();
      return;
    }
    const bool missing = slot.missing();
    const bool may_take = slot.lease.holder == identity_ || !keeper_.Lives(slot);
    if (!own_.has_value() && may_take && keeper_.Take(slot).ok()) own_ = k;
    // Slots are taken from the first on, so after one that does not exist there are no others,
    // except for those that have been seen, whose Lease somebody may have deleted.
    if (missing && is_last) {
      if (!slot.held) slots_.pop_back();
      return;
    }
  }
}

void Members::Leave() {
  if (own_.has_value()) keeper_.Release(slots_[*own_]);
  own_.reset();
}

std::vector<std::string> Members::Living() const {
  std::vector<std::string> living = {identity_};
  for (const WatchedLease& slot : slots_) {
    if (keeper_.Lives(slot) &&
        std::find(living.begin(), living.end(), slot.lease.holder) == living.end()) {
      living.push_back(slot.lease.holder);
    }
  }
  return living;
}

}  // namespace flyball::scaler
