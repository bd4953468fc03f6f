// A data path that is made after its users, since it calls them too.
//
// Thread-safe. Calls before the data path is made are dropped; there are none, since the front
// sends nothing to any Envoy before it begins to serve, which is later.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "scaler/front/data_path.h"

namespace flyball::serve {

class LateDataPath : public front::DataPath {
 public:
  // Waits for the calls of the previous path, then destroys it on this thread, outside the lock.
  // Must not be called by one of that path's own threads, since its destructor waits for them.
  void Set(std::unique_ptr<front::DataPath> path) {
    absl::MutexLock lock(&mutex_);
    path_.swap(path);
    const auto none = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return calls_ == 0; };
    mutex_.Await(absl::Condition(&none));
  }
  bool is_set() const {
    absl::MutexLock lock(&mutex_);
    return path_ != nullptr;
  }

  void Put(front::Resource resource, uint64_t version) override {
    With([&](front::DataPath& path) { path.Put(std::move(resource), version); });
  }
  void Remove(front::ResourceKind kind, const std::string& service) override {
    With([&](front::DataPath& path) { path.Remove(kind, service); });
  }
  void BeginServing(const std::vector<std::string>& kept) override {
    With([&](front::DataPath& path) { path.BeginServing(kept); });
  }
  void Release(front::RequestId id, std::optional<std::string> pod) override {
    With([&](front::DataPath& path) { path.Release(id, std::move(pod)); });
  }
  void Refuse(front::RequestId id, const front::Refusal& refusal) override {
    With([&](front::DataPath& path) { path.Refuse(id, refusal); });
  }

 private:
  // Calls `use` with the data path, if there is one.
  void With(absl::FunctionRef<void(front::DataPath&)> use) {
    front::DataPath* path = nullptr;
    {
      absl::MutexLock lock(&mutex_);
      if (path_ == nullptr) return;
      path = path_.get();
      ++calls_;
    }
    use(*path);
    absl::MutexLock lock(&mutex_);
    --calls_;
  }

  mutable absl::Mutex mutex_;
  std::unique_ptr<front::DataPath> path_ ABSL_GUARDED_BY(mutex_);
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;  // under way, of the last path that was set
};

}  // namespace flyball::serve
