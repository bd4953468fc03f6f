#include "scaler/testing/simulated_time.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace flyball::scaler {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;  // only what tasks touch of it takes memory
constexpr size_t kGuardBytes = size_t{1} << 16;  // whoever goes beyond the stack is ended here

}  // namespace

// A stack, and where whoever ran on it last has left off.
class SimulatedTime::Stack {
 public:
  Stack();                              // that of the calling thread
  explicit Stack(SimulatedTime& time);  // a new one, for tasks of that scheduler
  ~Stack();
  Stack(const Stack&) = delete;

  // Leaves off on this stack and goes on with the other. Returns once somebody goes on with this.
  void SwitchTo(Stack& other);

 private:
  // What a new stack begins with. The halves of a pointer to it are all that can be handed over.
  static void Begin(unsigned high, unsigned low);

  SimulatedTime* const time_ = nullptr;
  void* memory_ = nullptr;
  ucontext_t left_off_ = {};
  void* lowest_ = nullptr;
  size_t bytes_ = 0;
#if defined(__SANITIZE_THREAD__)
  void* const fiber_;
#endif
};

SimulatedTime::Stack::Stack()
#if defined(__SANITIZE_THREAD__)
    : fiber_(__tsan_get_current_fiber())
#endif
{
#if defined(__SANITIZE_ADDRESS__)
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest_, &bytes_);
  pthread_attr_destroy(&attributes);
#endif
}

SimulatedTime::Stack::Stack(SimulatedTime& time)
    : time_(&time),
      bytes_(kStackBytes)
#if defined(__SANITIZE_THREAD__)
      ,
      fiber_(__tsan_create_fiber(0))
#endif
{
  memory_ = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED || mprotect(memory_, kGuardBytes, PROT_NONE) != 0) std::abort();
  lowest_ = static_cast<std::byte*>(memory_) + kGuardBytes;
  getcontext(&left_off_);
  left_off_.uc_stack.ss_sp = lowest_;
  left_off_.uc_stack.ss_size = bytes_;
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&left_off_, reinterpret_cast<void (*)()>(&Begin), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

SimulatedTime::Stack::~Stack() {
  if (memory_ == nullptr) return;
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(fiber_);
#endif
  munmap(memory_, kGuardBytes + kStackBytes);
}

void SimulatedTime::Stack::SwitchTo(Stack& other) {
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(other.fiber_, 0);
#elif defined(__SANITIZE_ADDRESS__)
  void* frames = nullptr;
  __sanitizer_start_switch_fiber(&frames, other.lowest_, other.bytes_);
#endif
  swapcontext(&left_off_, &other.left_off_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(frames, nullptr, nullptr);
#endif
}

void SimulatedTime::Stack::Begin(unsigned high, unsigned low) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  Stack& self = *reinterpret_cast<Stack*>((uintptr_t{high} << 32) | low);
  for (;;) self.time_->RunHere(self);
}

SimulatedTime::SimulatedTime() = default;

SimulatedTime::~SimulatedTime() {
  if (sleeping_ != 0) std::abort();  // their stacks refer to what ends now
}

void SimulatedTime::At(absl::Duration when, std::function<void()> task) {
  events_.push({std::max(when, now_), next_order_++, std::move(task), nullptr});
}

SimulatedTime::Stack& SimulatedTime::SpareStack() {
  if (spare_.empty()) return *all_.emplace_back(std::make_unique<Stack>(*this));
  Stack& stack = *spare_.back();
  spare_.pop_back();
  return stack;
}

void SimulatedTime::Sleep(absl::Duration duration) {
  if (running_ == nullptr) std::abort();  // not from a task
  const absl::Duration when = now_ + std::max(duration, absl::ZeroDuration());
  // Where nothing comes before, nobody else has to run.
  if (when <= end_ && (events_.empty() || events_.top().when > when)) {
    now_ = when;
    return;
  }
  Stack& self = *running_;
  events_.push({when, next_order_++, nullptr, &self});
  ++sleeping_;
  running_ = &SpareStack();
  self.SwitchTo(*running_);
  --sleeping_;
}

// Until there is nothing more to do, or a sleeper's turn has come.
void SimulatedTime::RunHere(Stack& self) {
  for (;;) {
    if (events_.empty() || events_.top().when > end_) {
      spare_.push_back(&self);
      running_ = nullptr;
      return self.SwitchTo(*outside_);
    }
    Event event = std::move(const_cast<Event&>(events_.top()));
    events_.pop();
    now_ = event.when;
    if (event.sleeper != nullptr) {
      spare_.push_back(&self);
      running_ = event.sleeper;
      return self.SwitchTo(*running_);
    }
    event.task();
    // It may have slept, and others may have run meanwhile: it is this stack's turn again.
  }
}

void SimulatedTime::RunUntil(absl::Duration end) {
  Stack outside;
  outside_ = &outside;
  end_ = end;
  running_ = &SpareStack();
  outside.SwitchTo(*running_);
  now_ = std::max(now_, end);
}

}  // namespace flyball::scaler
