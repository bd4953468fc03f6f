// Tests only: makes the creation of threads fail, as at a limit. It defines the function that the
// whole test program then calls.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace flyball {

inline std::atomic<int> threads_left{-1};  // that may still be made; -1: any number

// While it exists, no more than this many threads can be made.
class ThreadLimit {
 public:
  explicit ThreadLimit(int left = 0) { threads_left = left; }
  ~ThreadLimit() { threads_left = -1; }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
};

}  // namespace flyball

extern "C" __attribute__((weak)) int pthread_create(pthread_t* thread,
                                                    const pthread_attr_t* attributes,
                                                    void* (*start)(void*),
                                                    void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  int left = flyball::threads_left.load();
  while (left >= 0 && !flyball::threads_left.compare_exchange_weak(left, left > 0 ? left - 1 : 0)) {
  }
  return left == 0 ? EAGAIN : create(thread, attributes, start, argument);
}
