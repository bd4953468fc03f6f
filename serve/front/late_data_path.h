// A data path that is made after its users, since it calls them in turn.
//
// Thread-safe. Calls before the data path is made are dropped. There are none, since the front
// sends nothing to any Envoy before it begins to serve, which is later.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "scaler/front/data_path.h"

namespace flyball::serve {

class LateDataPath : public front::DataPath {
 public:
  void Set(std::shared_ptr<front::DataPath> path) {
    absl::MutexLock lock(&mutex_);
    path_.swap(path);
    // The one before ends with the argument, which is outside the lock: it waits for its calls.
  }
  bool is_set() const { return Get() != nullptr; }

  void Put(front::Resource resource, uint64_t version) override {
    if (const auto path = Get()) path->Put(std::move(resource), version);
  }
  void Remove(front::ResourceKind kind, const std::string& service) override {
    if (const auto path = Get()) path->Remove(kind, service);
  }
  void BeginServing() override {
    if (const auto path = Get()) path->BeginServing();
  }
  void Release(front::RequestId id, std::optional<std::string> pod) override {
    if (const auto path = Get()) path->Release(id, std::move(pod));
  }
  void Refuse(front::RequestId id, const front::Refusal& refusal) override {
    if (const auto path = Get()) path->Refuse(id, refusal);
  }

 private:
  std::shared_ptr<front::DataPath> Get() const {
    absl::MutexLock lock(&mutex_);
    return path_;
  }
  mutable absl::Mutex mutex_;
  std::shared_ptr<front::DataPath> path_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::serve
