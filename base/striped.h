// A value in N copies, each under a lock of its own, so that threads that use different keys seldom
// wait for one another. Each copy of a map or cache holds a part of the keys.
//
// Thread-safe, unless a copy is used after its handle has ended. A thread holds one at a time.
#pragma once

#include <array>
#include <cstddef>

#include "absl/synchronization/mutex.h"

namespace flyball {

template <typename T, size_t kStripes = 16>
class Striped {
 private:
  struct Stripe {
    absl::Mutex mutex;
    T value{};
  };

 public:
  // Holds the lock of one copy for as long as it lives.
  class Locked {
   public:
    T& operator*() const { return stripe_.value; }
    T* operator->() const { return &stripe_.value; }

   private:
    friend class Striped;
    explicit Locked(Stripe& stripe) : stripe_(stripe), lock_(&stripe.mutex) {}
    Stripe& stripe_;
    const absl::MutexLock lock_;
  };

  // The copy for keys with that hash. Its low bits are not used here, since a hash table uses them.
  Locked Lock(size_t hash) const { return Locked(stripes_[(hash >> 32) % kStripes]); }

  // Calls body(T&) for one copy after the other, each under its lock.
  template <typename Body>
  void ForEach(Body body) const {
    for (Stripe& stripe : stripes_) body(*Locked(stripe));
  }

  static constexpr size_t size() { return kStripes; }

 private:
  mutable std::array<Stripe, kStripes> stripes_;
};

}  // namespace flyball
