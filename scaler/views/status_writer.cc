#include "scaler/views/status_writer.h"

#include <algorithm>

#include "base/thread_limit.h"
#include "kube/objects/resource_version.h"

namespace flyball::scaler {
namespace {

constexpr absl::Duration kTokenWait = absl::Seconds(1);

}  // namespace

StatusWriter::StatusWriter(const Deps& deps, int threads, OnFailure on_failure)
    : deps_(deps), on_failure_(std::move(on_failure)) {
  if (threads == 0) return;
  threads_.emplace_back([this] { Work(); });
  while (static_cast<int>(threads_.size()) < threads) {
    absl::StatusOr<std::thread> another = MakeThread([this] { Work(); });
    if (!another.ok()) break;  // those that are there do the work, though more slowly
    threads_.push_back(*std::move(another));
  }
}

StatusWriter::~StatusWriter() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void StatusWriter::Offer(const OutboxPtr& outbox, StatusJob job, bool urgent, MonotonicTime due) {
  absl::MutexLock lock(&mutex_);
  if (std::exchange(outbox->waiting_, false)) waiting_.erase({outbox->due_, outbox});
  outbox->due_ = outbox->job_.has_value() ? std::min(outbox->due_, due) : due;
  outbox->job_ = std::move(job);
  const bool promoted = urgent && outbox->queued_ && !outbox->urgent_;
  outbox->urgent_ = outbox->urgent_ || urgent;
  // An outbox that became urgent is in both queues; when it is popped again it is not queued.
  if (outbox->writing_ || (outbox->queued_ && !promoted)) return;
  Place(outbox, deps_.clock.MonotonicNow());
}

void StatusWriter::Place(const OutboxPtr& outbox, MonotonicTime now) {
  if (outbox->due_ <= now) return Push(outbox);
  outbox->waiting_ = true;
  waiting_.emplace(outbox->due_, outbox);
}

MonotonicTime StatusWriter::Release(MonotonicTime now) {
  absl::MutexLock lock(&mutex_);
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    const OutboxPtr outbox = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    outbox->waiting_ = false;
    Push(outbox);
  }
  return waiting_.empty() ? absl::InfiniteDuration() : waiting_.begin()->first;
}

void StatusWriter::Flush(absl::Duration at_most) {
  Release(absl::InfiniteDuration());
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return urgent_.empty() && routine_.empty() && writing_ == 0;
  };
  deps_.clock.Await(mutex_, absl::Condition(&idle), deps_.clock.MonotonicNow() + at_most);
}

void StatusWriter::Push(const OutboxPtr& outbox) {
  outbox->queued_ = true;
  (outbox->urgent_ ? urgent_ : routine_).Push(outbox->job_->managed->key.ns, outbox);
}

StatusWriter::OutboxPtr StatusWriter::Pop() {
  Turns<OutboxPtr>& queue = urgent_.empty() ? routine_ : urgent_;
  if (queue.empty()) return nullptr;
  OutboxPtr outbox = queue.Pop();
  if (!outbox->queued_) return nullptr;  // it was in the other queue, too
  outbox->queued_ = false;
  outbox->urgent_ = false;
  outbox->writing_ = true;
  ++writing_;
  return outbox;
}

absl::Status StatusWriter::Write(const StatusJob& job, std::string& version) {
  if (!deps_.ownership.MayWrite(job.managed->key, deps_.clock.MonotonicNow())) {
    return absl::AbortedError("another replica owns it");
  }
  const std::string& seen = job.managed->autoscaler.resource_version;
  const std::string& known = kube::IsOlder(seen, version) ? version : seen;
  const absl::StatusOr<std::string> stored =
      deps_.client.MergePatch(AutoscalerPath(job.managed->key, "status"),
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
  if (!deps_.budget.Take(kube::Priority::kStatusWrite, deps_.clock.MonotonicNow() + kTokenWait)) {
    return true;
  }
  OutboxPtr outbox;
  StatusJob job;
  std::string version;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_) return false;
    outbox = Pop();
    if (outbox == nullptr) return true;
    job = *std::exchange(outbox->job_, std::nullopt);
    version = outbox->written_version_;
  }
  const absl::Status status = Write(job, version);
  if (status.ok()) {
    ++written_;
  } else {
    outbox->failed_ = true;
    if (absl::IsAborted(status)) {
      ++conflicts_;
    } else {
      on_failure_(job, status);
    }
  }
  absl::MutexLock lock(&mutex_);
  outbox->written_version_ = version;
  outbox->writing_ = false;
  --writing_;
  if (outbox->job_.has_value()) Place(outbox, deps_.clock.MonotonicNow());
  return true;
}

bool StatusWriter::WroteAfter(const OutboxPtr& outbox, const Managed& managed) const {
  absl::MutexLock lock(&mutex_);
  return outbox->writing_ ||
         kube::IsOlder(managed.autoscaler.resource_version, outbox->written_version_);
}

bool StatusWriter::IsSettled(const Outbox& outbox) const {
  absl::MutexLock lock(&mutex_);
  return !outbox.job_.has_value() && !outbox.writing_ && !outbox.failed_;
}

size_t StatusWriter::queued() const {
  absl::MutexLock lock(&mutex_);
  return urgent_.size() + routine_.size();
}

}  // namespace flyball::scaler
