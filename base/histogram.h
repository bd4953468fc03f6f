// Counts values between fixed bounds.
//
// Thread-safe and lock-free; a reader may see an observation in part. Units are the user's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace flyball {

template <size_t N>
class Histogram {
 public:
  // Upper bounds, ascending; there is one more bucket above the last one.
  explicit Histogram(const std::array<double, N>& bounds) : bounds_(bounds) {}

  void Observe(double value) {
    size_t bucket = 0;
    while (bucket < N && value > bounds_[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  const std::array<double, N>& bounds() const { return bounds_; }
  // The count of bucket 0 to N, not cumulative.
  uint64_t count(size_t bucket) const { return counts_[bucket].load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  const std::array<double, N>& bounds_;  // a constant of its user
  std::array<std::atomic<uint64_t>, N + 1> counts_{};
  std::atomic<double> sum_{0};
};

}  // namespace flyball
