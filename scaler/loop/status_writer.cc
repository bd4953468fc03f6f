#include "scaler/loop/status_writer.h"

#include <utility>

#include "absl/strings/numbers.h"

namespace flyball::scaler {
namespace {

constexpr absl::Duration kTokenWait = absl::Seconds(1);

// The newer of two resource versions; of those that are no numbers the second.
const std::string& Newer(const std::string& a, const std::string& b) {
  uint64_t x = 0, y = 0;
  return absl::SimpleAtoi(a, &x) && absl::SimpleAtoi(b, &y) && x > y ? a : b;
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

void StatusWriter::Offer(const SlotPtr& slot, StatusJob job, bool urgent) {
  absl::MutexLock lock(&mutex_);
  slot->job_ = std::move(job);
  const bool promoted = urgent && slot->queued_ && !slot->urgent_;
  slot->urgent_ = slot->urgent_ || urgent;
  // A promoted slot stands in both queues; the second time it has no job any more.
  if (slot->writing_ || (slot->queued_ && !promoted)) return;
  Push(slot);
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
  return slot;
}

absl::Status StatusWriter::Write(const StatusJob& job, std::string& version) {
  if (!parts_.ownership.MayWrite(job.managed->key, parts_.clock.MonotonicNow())) {
    return absl::AbortedError("another replica owns it");
  }
  const std::string& known = Newer(version, job.managed->autoscaler.resource_version);
  const absl::StatusOr<std::string> stored = parts_.client.MergePatch(
      StatusPath(job.managed->key), StatusPatch(known, job.status, job.own ? &*job.own : nullptr));
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
    if (!parts_.budget.Take(kube::Priority::kStatusWrite,
                            parts_.clock.MonotonicNow() + kTokenWait)) {
      continue;
    }
    SlotPtr slot;
    StatusJob job;
    std::string version;
    {
      absl::MutexLock lock(&mutex_);
      if (stopping_) return;
      slot = Pop();
      if (slot == nullptr) continue;
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
    if (slot->job_.has_value()) Push(slot);
  }
}

size_t StatusWriter::queued() const {
  absl::MutexLock lock(&mutex_);
  return urgent_.size() + routine_.size();
}

}  // namespace flyball::scaler
