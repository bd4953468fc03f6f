// A limit on the memory that many holders take in all.
//
// A budget is thread-safe; a share is used by one thread at a time. Bytes are only counted: a
// holder asks the budget before it allocates. A budget may be the part of a whole that a namespace
// has, so that it does not take the room of the others. NamespaceBudgets has an entry for each
// namespace that has a holder, or had one when a part was last asked for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace flyball {

class ByteBudget {
 public:
  // A part may have at most this many times what is left of the whole. So one part alone takes four
  // fifths of it.
  static constexpr size_t kShareOfRoom = 4;

  explicit ByteBudget(size_t limit) : limit_(limit) {}
  // A part of `whole`.
  explicit ByteBudget(std::shared_ptr<ByteBudget> whole)
      : limit_(whole->limit()), whole_(std::move(whole)) {}

  // False: there is no room for that many bytes, and none were taken.
  bool Take(size_t bytes) {
    if (whole_ != nullptr && !whole_->Take(bytes)) return false;
    // While this exceeds the limit for a moment another call may fail, but none succeeds wrongly.
    const size_t taken = taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (whole_ == nullptr ? taken <= limit_ : taken <= kShareOfRoom * whole_->left()) return true;
    Give(bytes);
    return false;
  }
  void Give(size_t bytes) {
    taken_.fetch_sub(bytes, std::memory_order_relaxed);
    if (whole_ != nullptr) whole_->Give(bytes);
  }

  size_t taken() const { return taken_.load(std::memory_order_relaxed); }
  size_t limit() const { return limit_; }
  size_t left() const { return limit_ - std::min(limit_, taken()); }

 private:
  const size_t limit_;
  const std::shared_ptr<ByteBudget> whole_;  // null: this is the whole
  std::atomic<size_t> taken_ = 0;
};

// The parts of a budget that namespaces have. Thread-safe.
class NamespaceBudgets {
 public:
  explicit NamespaceBudgets(size_t limit) : whole_(std::make_shared<ByteBudget>(limit)) {}

  // The part of that namespace: the same one as long as somebody holds it.
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

// What one holder has taken of a budget; the destructor gives it back. The first `free` bytes of
// each holder are not counted, so that small holders get memory even if large ones use up the
// budget. Without a budget there is no limit.
class ByteShare {
 public:
  ByteShare() = default;
  ByteShare(std::shared_ptr<ByteBudget> budget, size_t free)
      : budget_(std::move(budget)), free_(free) {}
  ByteShare(ByteShare&& other) noexcept { Swap(other); }
  ByteShare& operator=(ByteShare&& other) noexcept {
    ByteShare(std::move(other)).Swap(*this);
    return *this;
  }
  ~ByteShare() {
    if (budget_ != nullptr) budget_->Give(taken_);
  }

  // False: there is no room, and nothing has changed.
  bool Grow(size_t bytes) {
    if (budget_ != nullptr && used_ + bytes > free_ + taken_) {
      const size_t wanted = RoundUp(used_ + bytes - free_ - taken_);
      if (!budget_->Take(wanted)) return false;
      taken_ += wanted;
    }
    used_ += bytes;
    return true;
  }
  bool GrowTo(size_t bytes) { return bytes <= used_ || Grow(bytes - used_); }
  void Shrink(size_t bytes) {
    used_ -= bytes;
    const size_t wanted = used_ > free_ ? RoundUp(used_ - free_) : 0;
    if (wanted >= taken_) return;
    budget_->Give(taken_ - wanted);
    taken_ = wanted;
  }

  size_t used() const { return used_; }

 private:
  static size_t RoundUp(size_t bytes) {
    constexpr size_t kStep = 4096;  // so that the budget is asked only now and then
    return (bytes + kStep - 1) / kStep * kStep;
  }
  void Swap(ByteShare& other) {
    std::swap(budget_, other.budget_);
    std::swap(free_, other.free_);
    std::swap(used_, other.used_);
    std::swap(taken_, other.taken_);
  }

  std::shared_ptr<ByteBudget> budget_;
  size_t free_ = 0, used_ = 0, taken_ = 0;
};

}  // namespace flyball
