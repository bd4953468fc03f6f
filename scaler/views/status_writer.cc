#include "scaler/views/status_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/steady_wait.h"

namespace flyball::scaler {
namespace {

constexpr absl::Duration kTokenWait = absl::Seconds(1);

// Whether `a` is the newer of two resource versions; false for those that are no numbers.
bool IsNewer(const std::string& a, const std::string& b) {
  uint64_t x = 0, y = 0;
  return absl::SimpleAtoi(a, &x) && absl::SimpleAtoi(b, &y) && x > y;
}

}  // namespace

StatusWriter::StatusWriter(const Parts& parts, int threads, OnFailure on_failure)
    : parts_(parts), on_failure_(std::move(on_failure)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

StatusWriter::~StatusWriter() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void StatusWriter::Offer(const SlotPtr& slot, StatusJob job, bool urgent, MonotonicTime due) {
  absl::MutexLock lock(&mutex_);
  if (std::exchange(slot->waiting_, false)) waiting_.erase({slot->due_, slot});
  slot->due_ = slot->job_.has_value() ? std::min(slot->due_, due) : due;
  slot->job_ = std::move(job);
  const bool promoted = urgent && slot->queued_ && !slot->urgent_;
  slot->urgent_ = slot->urgent_ || urgent;
  // A promoted slot stands in both queues; the second time it has no job any more.
  if (slot->writing_ || (slot->queued_ && !promoted)) return;
  Place(slot, parts_.clock.MonotonicNow());
}

void StatusWriter::Place(const SlotPtr& slot, MonotonicTime now) {
  if (slot->due_ <= now) return Push(slot);
  slot->waiting_ = true;
  waiting_.emplace(slot->due_, slot);
}

void StatusWriter::Release(MonotonicTime now) {
  absl::MutexLock lock(&mutex_);
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    const SlotPtr slot = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    slot->waiting_ = false;
    Push(slot);
  }
}

void StatusWriter::Flush(absl::Duration at_most) {
  Release(absl::InfiniteDuration());
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return urgent_.empty() && routine_.empty() && writing_ == 0;
  };
  AwaitFor(mutex_, absl::Condition(&idle), at_most);
}

void StatusWriter::Push(const SlotPtr& slot) {
  slot->queued_ = true;
  (slot->urgent_ ? urgent_ : routine_).push_back(slot);
}

StatusWriter::SlotPtr StatusWriter::Pop() {
  std::deque<SlotPtr>& queue = urgent_.empty() ? routine_ : urgent_;
  if (queue.empty()) return nullptr;
  SlotPtr slot = std::move(queue.front());
  queue.pop_front();
  if (!slot->job_.has_value() || slot->writing_) return nullptr;
  slot->queued_ = false;
  slot->urgent_ = false;
  slot->writing_ = true;
  ++writing_;
  return slot;
}

absl::Status StatusWriter::Write(const StatusJob& job, std::string& version) {
  if (!parts_.ownership.MayWrite(job.managed->key, parts_.clock.MonotonicNow())) {
    return absl::AbortedError("another replica owns it");
  }
  const std::string& seen = job.managed->autoscaler.resource_version;
  const std::string& known = IsNewer(version, seen) ? version : seen;
  const absl::StatusOr<std::string> stored =
      parts_.client.MergePatch(AutoscalerPath(job.managed->key, "status"),
                               StatusPatch(known, job.status, job.own ? &*job.own : nullptr));
  // After a conflict only the watch knows the version.
  version = stored.ok() ? ResourceVersionOf(*stored) : "";
  return stored.status();
}

void StatusWriter::Work() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &StatusWriter::HasWork));
      if (stopping_) return;
    }
    WriteNext();
  }
}

bool StatusWriter::WriteNext() {
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_ || !HasWork()) return false;
  }
  if (!parts_.budget.Take(kube::Priority::kStatusWrite, parts_.clock.MonotonicNow() + kTokenWait)) {
    return true;
  }
  SlotPtr slot;
  StatusJob job;
  std::string version;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_) return false;
    slot = Pop();
    if (slot == nullptr) return true;
    job = *std::exchange(slot->job_, std::nullopt);
    version = slot->written_version_;
  }
  const absl::Status status = Write(job, version);
  if (status.ok()) {
    ++written_;
  } else {
    slot->failed_ = true;
    if (absl::IsAborted(status)) {
      ++conflicts_;
    } else {
      on_failure_(job, status);
    }
  }
  absl::MutexLock lock(&mutex_);
  slot->written_version_ = version;
  slot->writing_ = false;
  --writing_;
  if (slot->job_.has_value()) Place(slot, parts_.clock.MonotonicNow());
  return true;
}

bool StatusWriter::WroteAfter(const SlotPtr& slot, const Managed& managed) const {
  absl::MutexLock lock(&mutex_);
  return slot->writing_ || IsNewer(slot->written_version_, managed.autoscaler.resource_version);
}

bool StatusWriter::IsSettled(const Slot& slot) const {
  absl::MutexLock lock(&mutex_);
  return !slot.job_.has_value() && !slot.writing_ && !slot.failed_;
}

size_t StatusWriter::queued() const {
  absl::MutexLock lock(&mutex_);
  return urgent_.size() + routine_.size();
}

}  // namespace flyball::scaler
