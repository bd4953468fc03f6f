#include "scaler/front/module/grpc/late_verdicts.h"

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>

#include <deque>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace flyball::front {

class LateVerdicts::Queue : public std::enable_shared_from_this<LateVerdicts::Queue> {
 public:
  explicit Queue(std::function<void(const DeltaStream::Verdict&)> tell) : tell_(std::move(tell)) {}

  void Add(DeltaStream::Verdict verdict) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const gpr_timespec wait = gpr_time_from_millis(kWaitMs, GPR_TIMESPAN);
    waiting_.push_back({gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), wait), std::move(verdict)});
    if (waiting_.size() == 1) SetTimer();
  }

  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    waiting_.clear();
    timer_.reset();
  }

 private:
  struct Waiting {
    gpr_timespec due;
    DeltaStream::Verdict verdict;
  };

  // A new timer each time, since a timer can't be set during its own call.
  void SetTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    timer_ = std::make_unique<grpc::Alarm>();
    timer_->Set(waiting_.front().due, [self = shared_from_this()](bool) { self->TellDue(); });
  }

  void TellDue() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const gpr_timespec now = gpr_now(GPR_CLOCK_MONOTONIC);
    while (!waiting_.empty() && gpr_time_cmp(waiting_.front().due, now) <= 0) {
      tell_(waiting_.front().verdict);
      waiting_.pop_front();
    }
    if (!waiting_.empty()) SetTimer();
  }

  const std::function<void(const DeltaStream::Verdict&)> tell_;
  absl::Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::Alarm> timer_ ABSL_GUARDED_BY(mutex_);  // of the first that waits
};

LateVerdicts::LateVerdicts(std::function<void(const DeltaStream::Verdict&)> tell)
    : queue_(std::make_shared<Queue>(std::move(tell))) {}

LateVerdicts::~LateVerdicts() { queue_->Close(); }

void LateVerdicts::Add(DeltaStream::Verdict verdict) { queue_->Add(std::move(verdict)); }

}  // namespace flyball::front
