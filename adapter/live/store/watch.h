// Watch: one who wants to know whether a sample came for what it asked about.
//
// Thread-safe. A watch is marked by the first sample of a series that matches, and stays marked
// until its owner takes the mark: samples that come while it is marked cost a look. Whoever takes
// the mark first and then reads sees every sample that did not mark it again.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "adapter/live/store/selector_table.h"

namespace flyball::live {

class Watch {
 public:
  // It asks about the series that any of the selectors matches. `on_mark` is called when the watch
  // becomes marked, by the thread that appends, without a lock of the store. It should be quick.
  Watch(std::vector<Selector> selectors, std::function<void()> on_mark)
      : selectors_(std::move(selectors)), on_mark_(std::move(on_mark)) {}

  const std::vector<Selector>& selectors() const { return selectors_; }

  // True once for all samples since the last call.
  bool TakeMark() { return marked_.exchange(false); }

  // True for who marks it first. Called under the lock of the series that got the sample, so that a
  // mark that is seen here is one whose taker has yet to read that series.
  bool Mark() { return !marked_.load(std::memory_order_relaxed) && !marked_.exchange(true); }
  void Tell() const { on_mark_(); }

 private:
  const std::vector<Selector> selectors_;
  const std::function<void()> on_mark_;
  std::atomic<bool> marked_ = false;
};

using Watches = std::vector<std::shared_ptr<Watch>>;

}  // namespace flyball::live
