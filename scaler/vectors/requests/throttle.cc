#include "scaler/vectors/requests/throttle.h"

#include <algorithm>
#include <utility>

namespace flyball::scaler {
namespace {

// With a limit up to this one pod is filled after the other; with a higher limit pods take turns.
constexpr int64_t kFillUpTo = 3;

void SortUnique(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

}  // namespace

void Throttle::SetPods(std::vector<std::string> addresses) {
  SortUnique(addresses);
  std::vector<DestinationPtr> pods;
  auto before = pods_.begin();
  for (std::string& address : addresses) {
    while (before != pods_.end() && (*before)->address < address) ++before;
    if (before != pods_.end() && (*before)->address == address) {
      pods.push_back(*before);
    } else {
      pods.push_back(std::make_shared<Destination>(
          Destination{.address = std::move(address), .limit = limits_.container_concurrency}));
    }
  }
  pods_ = std::move(pods);
  service_ = nullptr;
  UpdateCapacity(static_cast<int64_t>(pods_.size()));
}

void Throttle::SetServiceAddress(absl::string_view address, int64_t ready_pods) {
  pods_.clear();
  service_ = std::make_shared<Destination>(Destination{.address = std::string(address)});
  UpdateCapacity(ready_pods);
}

void Throttle::SetProxies(std::vector<std::string> addresses, absl::string_view self) {
  SortUnique(addresses);
  const auto found = std::find(addresses.begin(), addresses.end(), self);
  if (found == addresses.end()) return;
  const auto proxies = static_cast<int64_t>(addresses.size());
  const int64_t index = found - addresses.begin();
  if (proxies_ == proxies && index_ == index) return;
  proxies_ = proxies;
  index_ = index;
  UpdateCapacity(ready_pods_);
}

void Throttle::AssignPods() {
  const auto pods = static_cast<int64_t>(pods_.size());
  if (limits_.container_concurrency == 0 || !index_.has_value() || pods <= 1 || proxies_ == 1) {
    assigned_ = pods_;
    return;
  }
  if (proxies_ > pods) {
    assigned_ = {pods_[static_cast<size_t>(*index_ % pods)]};
    return;
  }
  const int64_t slice = pods / proxies_;
  const auto begin = pods_.begin() + *index_ * slice;
  assigned_.assign(begin, begin + slice);
  // The first proxies get one each of the pods that are left over.
  const int64_t left_over = pods % proxies_;
  if (*index_ < left_over) {
    assigned_.push_back(pods_[static_cast<size_t>(pods - left_over + *index_)]);
  }
}

void Throttle::UpdateCapacity(int64_t ready_pods) {
  int64_t trackers = 0;
  if (service_ == nullptr) {
    AssignPods();
    trackers = static_cast<int64_t>(assigned_.size());
  }
  ready_pods_ = ready_pods;
  const int64_t limit = limits_.container_concurrency;
  if (limit == 0) {
    capacity_ = ready_pods > 0 ? 1 : 0;
    return;
  }
  if (trackers > 0) {
    capacity_ = limit * trackers;
  } else {
    capacity_ = limit * ready_pods;
    // Each proxy has an equal share, and at least one request.
    if (capacity_ > 0) capacity_ = std::max<int64_t>(capacity_ / std::max<int64_t>(proxies_, 1), 1);
  }
  if (ready_pods > 0) capacity_ = std::min<int64_t>(capacity_, INT32_MAX);
}

bool Throttle::Arrive() {
  const bool full =
      limits_.container_concurrency > 0 && waiting_ + running_ >= limits_.queue + limits_.running;
  if (!full) ++waiting_;
  return !full;
}

void Throttle::Abandon() {
  if (waiting_ > 0) --waiting_;
}

Throttle::DestinationPtr Throttle::PickFewestRunning() const {
  const auto fewest = std::min_element(
      assigned_.begin(), assigned_.end(),
      [](const DestinationPtr& a, const DestinationPtr& b) { return a->running < b->running; });
  return fewest == assigned_.end() ? nullptr : *fewest;
}

Throttle::DestinationPtr Throttle::PickFirstWithRoom() const {
  const auto found = std::find_if(assigned_.begin(), assigned_.end(),
                                  [](const DestinationPtr& each) { return each->HasRoom(); });
  return found == assigned_.end() ? nullptr : *found;
}

Throttle::DestinationPtr Throttle::PickNextWithRoom() {
  if (next_ >= assigned_.size()) next_ = 0;
  for (size_t i = 0; i < assigned_.size(); ++i) {
    const size_t at = (next_ + i) % assigned_.size();
    if (!assigned_[at]->HasRoom()) continue;
    next_ = at + 1;
    return assigned_[at];
  }
  return nullptr;
}

Throttle::DestinationPtr Throttle::Admit() {
  const bool limited = limits_.container_concurrency > 0;
  if (waiting_ == 0 || capacity_ == 0 || (limited && running_ >= capacity_)) return nullptr;
  DestinationPtr picked;
  if (service_ != nullptr) {
    picked = service_;
  } else if (!limited) {
    picked = PickFewestRunning();
  } else if (limits_.container_concurrency <= kFillUpTo) {
    picked = PickFirstWithRoom();
  } else {
    picked = PickNextWithRoom();
  }
  if (picked == nullptr) return nullptr;
  --waiting_;
  ++running_;
  ++picked->running;
  return picked;
}

void Throttle::Finish(const DestinationPtr& destination) {
  --running_;
  --destination->running;
}

}  // namespace flyball::scaler
