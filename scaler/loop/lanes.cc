#include "scaler/loop/lanes.h"

#include <utility>
#include <vector>

namespace flyball::scaler {

class Lanes::Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(Run run, int at_once) : run_(std::move(run)), at_once_(at_once) {}

  void Submit(std::function<void()> task) {
    {
      absl::MutexLock lock(&mutex_);
      if (stopped_) return;
      if (running_ == at_once_) {
        waiting_.push_back(std::move(task));
        return;
      }
      ++running_;
    }
    Begin(std::move(task));
  }

  // What waits may itself hold the lane.
  void Stop() {
    std::deque<std::function<void()>> dropped;
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }

 private:
  void Begin(std::function<void()> task) {
    run_([lane = shared_from_this(), task = std::move(task)] {
      task();
      lane->Ended();
    });
  }

  // The next one goes to the pool's end: other servers have their turn first.
  void Ended() {
    std::function<void()> next;
    {
      absl::MutexLock lock(&mutex_);
      if (waiting_.empty()) {
        --running_;
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    Begin(std::move(next));
  }

  const Run run_;
  const int at_once_;
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
};

Lanes::Run Lanes::For(absl::string_view server) {
  if (server.empty()) return run_;
  absl::MutexLock lock(&mutex_);
  std::weak_ptr<Lane>& known = lanes_[server];
  std::shared_ptr<Lane> lane = known.lock();
  if (lane == nullptr) {
    lane = std::make_shared<Lane>(run_, at_once_);
    known = lane;
    absl::erase_if(lanes_, [](const auto& item) { return item.second.expired(); });
  }
  return [lane](std::function<void()> task) { lane->Submit(std::move(task)); };
}

void Lanes::Stop() {
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [server, known] : lanes_) {
      if (auto lane = known.lock()) lanes.push_back(std::move(lane));
    }
  }
  for (const auto& lane : lanes) lane->Stop();
}

size_t Lanes::size() const {
  absl::MutexLock lock(&mutex_);
  return lanes_.size();
}

}  // namespace flyball::scaler
