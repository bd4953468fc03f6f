#include "adapter/live/scrape/namespace_lanes.h"

#include <utility>

namespace flyball::scrape {

void NamespaceLanes::Submit(const std::string& ns, Task task) {
  if (ns.empty()) return pool_.Submit(std::move(task));
  absl::MutexLock lock(&mutex_);
  Lane& lane = lanes_[ns];
  if (lane.waiting.empty() && MayBegin(lane)) return Begin(ns, lane, std::move(task));
  if (lane.waiting.empty()) turns_.push_back(ns);
  lane.waiting.push_back(std::move(task));
}

void NamespaceLanes::Begin(const std::string& ns, Lane& lane, Task task) {
  ++lane.running;
  --free_;
  pool_.Submit([this, ns, task = std::move(task)] {
    task();
    End(ns);
  });
}

void NamespaceLanes::End(const std::string& ns) {
  absl::MutexLock lock(&mutex_);
  ++free_;
  const auto ended = lanes_.find(ns);
  if (--ended->second.running == 0 && ended->second.waiting.empty()) lanes_.erase(ended);
  for (size_t left = turns_.size(); left > 0; --left) {
    const std::string next = std::move(turns_.front());
    turns_.pop_front();
    Lane& lane = lanes_[next];
    if (MayBegin(lane)) {
      Task task = std::move(lane.waiting.front());
      lane.waiting.pop_front();
      Begin(next, lane, std::move(task));
    }
    if (!lane.waiting.empty()) turns_.push_back(next);
  }
}

}  // namespace flyball::scrape
