#include "base/lanes.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace flyball {
namespace {

using Task = std::function<void()>;

// How many tasks of something that has a limit are running, in all and by namespace.
struct Use {
  int all = 0;
  std::map<std::string, int> by_namespace = {};

  bool HasRoom(const std::string& ns, int limit, int part) const {
    const auto own = by_namespace.find(ns);
    const int mine = own == by_namespace.end() ? 0 : own->second;
    return all < limit && (part == 0 || mine < std::max(1, (limit - all) / part));
  }
  void Begin(const std::string& ns) {
    ++all;
    ++by_namespace[ns];
  }
  void End(const std::string& ns) {
    --all;
    const auto own = by_namespace.find(ns);
    if (--own->second == 0) by_namespace.erase(own);
  }
};

}  // namespace

class Lanes::Queue : public std::enable_shared_from_this<Queue> {
 public:
  Queue(Run run, Limits limits) : run_(std::move(run)), limits_(limits) {}

  const Run& run() const { return run_; }

  void Submit(const std::string& ns, const std::string& server, Task task) {
    std::vector<Started> started;
    {
      absl::MutexLock lock(&mutex_);
      if (stopped_) return;
      Waiting& waiting = waiting_[ns];
      if (waiting.servers.empty()) turns_.push_back(ns);
      std::deque<Task>& tasks = waiting.tasks[server];
      if (tasks.empty()) waiting.servers.push_back(server);
      tasks.push_back(std::move(task));
      started = StartWhatMay();
    }
    Begin(std::move(started));
  }

  // The dropped tasks are destroyed after the lock is released: they may be the last to hold the
  // queue.
  void Stop() {
    std::map<std::string, Waiting> dropped;
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    turns_.clear();
    dropped.swap(waiting_);
  }

  size_t size() const {
    absl::MutexLock lock(&mutex_);
    size_t count = threads_.by_namespace.size();
    for (const auto& [ns, waiting] : waiting_) count += threads_.by_namespace.count(ns) == 0;
    return count;
  }

 private:
  struct Started {
    std::string ns, server;
    Task task;
  };
  // The waiting tasks of one namespace; there is always at least one.
  struct Waiting {
    std::deque<std::string> servers;  // those that have tasks, in the order of their turns
    std::map<std::string, std::deque<Task>> tasks;
  };

  void Begin(std::vector<Started> started) {
    for (Started& next : started) {
      run_([queue = shared_from_this(), next = std::move(next)] {
        next.task();
        queue->Ended(next.ns, next.server);
      });
    }
  }

  void Ended(const std::string& ns, const std::string& server) {
    std::vector<Started> started;
    {
      absl::MutexLock lock(&mutex_);
      threads_.End(ns);
      const auto use = servers_.find(server);
      use->second.End(ns);
      if (use->second.all == 0) servers_.erase(use);
      started = StartWhatMay();
    }
    Begin(std::move(started));
  }

  // Gives the namespaces their turns until none of them may begin another task.
  std::vector<Started> StartWhatMay() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::vector<Started> started;
    for (size_t refused = 0; refused < turns_.size() && threads_.all < limits_.threads;) {
      const std::string ns = std::move(turns_.front());
      turns_.pop_front();
      const auto waiting = waiting_.find(ns);
      const bool begun = threads_.HasRoom(ns, limits_.threads, limits_.part_of_threads) &&
                         StartOne(ns, waiting->second, started);
      refused = begun ? 0 : refused + 1;
      if (begun) in_a_row_ = std::exchange(last_, ns) == ns ? in_a_row_ + 1 : 1;
      if (waiting->second.servers.empty()) {
        waiting_.erase(waiting);
      } else if (begun && in_a_row_ % limits_.in_a_row != 0) {
        turns_.push_front(ns);
      } else {
        turns_.push_back(ns);
      }
    }
    return started;
  }

  // Starts the first task of the first server that may be asked. False: there is none.
  bool StartOne(const std::string& ns, Waiting& waiting, std::vector<Started>& started)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto may =
        std::find_if(waiting.servers.begin(), waiting.servers.end(),
                     [&](const std::string& server) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                       const auto use = servers_.find(server);
                       return use == servers_.end() ||
                              use->second.HasRoom(ns, limits_.of_server, limits_.part_of_server);
                     });
    if (may == waiting.servers.end()) return false;
    const std::string server = *may;
    waiting.servers.erase(may);
    const auto tasks = waiting.tasks.find(server);
    started.push_back({ns, server, std::move(tasks->second.front())});
    tasks->second.pop_front();
    if (tasks->second.empty()) {
      waiting.tasks.erase(tasks);
    } else {
      waiting.servers.push_back(server);
    }
    threads_.Begin(ns);
    servers_[server].Begin(ns);
    return true;
  }

  const Run run_;
  const Limits limits_;
  mutable absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  Use threads_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Use> servers_ ABSL_GUARDED_BY(mutex_);  // those that are being asked
  std::map<std::string, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);  // the namespaces of waiting_
  std::string last_ ABSL_GUARDED_BY(mutex_);  // the namespace whose task was the last to begin
  int in_a_row_ ABSL_GUARDED_BY(mutex_) = 0;  // how many of them have begun one after the other
};

Lanes::Lanes(Run run, Limits limits) : queue_(std::make_shared<Queue>(std::move(run), limits)) {}

Lanes::Run Lanes::For(absl::string_view ns, absl::string_view server) {
  if (server.empty()) return queue_->run();
  return [queue = queue_, ns = std::string(ns), server = std::string(server)](Task task) {
    queue->Submit(ns, server, std::move(task));
  };
}

void Lanes::Stop() { queue_->Stop(); }

size_t Lanes::size() const { return queue_->size(); }

}  // namespace flyball
