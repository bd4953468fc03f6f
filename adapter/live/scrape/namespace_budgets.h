// The parts of a budget by namespace.
//
// Thread-safe. Memory: an entry for each namespace that has a holder or had one at the last Of.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "adapter/live/scrape/byte_budget.h"

namespace flyball::scrape {

class NamespaceBudgets {
 public:
  explicit NamespaceBudgets(size_t limit) : whole_(std::make_shared<ByteBudget>(limit)) {}

  // The part of that namespace: the same object as long as somebody holds it.
  std::shared_ptr<ByteBudget> Of(absl::string_view ns) {
    absl::MutexLock lock(&mutex_);
    std::weak_ptr<ByteBudget>& known = parts_[std::string(ns)];
    std::shared_ptr<ByteBudget> part = known.lock();
    if (part != nullptr) return part;
    part = std::make_shared<ByteBudget>(whole_);
    known = part;
    std::erase_if(parts_, [](const auto& entry) { return entry.second.expired(); });
    return part;
  }

 private:
  const std::shared_ptr<ByteBudget> whole_;
  absl::Mutex mutex_;
  std::map<std::string, std::weak_ptr<ByteBudget>> parts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scrape
