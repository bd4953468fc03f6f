#include "scaler/views/otlp_log.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/views/decision_line.h"

namespace flyball::scaler {
namespace {

constexpr absl::Duration kSendEvery = absl::Seconds(1);
constexpr absl::Duration kLongestPause = absl::Minutes(1);
constexpr absl::Duration kTimeout = absl::Seconds(10);
constexpr absl::Duration kLastSend = absl::Seconds(1);  // at the stop, which waits no longer
constexpr size_t kMaxAnswer = 64 << 10;

}  // namespace

OtlpLog::OtlpLog(std::unique_ptr<http::HttpTransport> server, std::string target, Clock& clock)
    : server_(std::move(server)),
      target_(std::move(target)),
      clock_(clock),
      pause_(kSendEvery),
      thread_(clock, [this] { return SendAll(); }) {}

void OtlpLog::Start() { thread_.Start(kSendEvery); }

void OtlpLog::Stop() {
  thread_.Wake();
  {
    absl::MutexLock lock(&mutex_);
    const auto sent = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return waiting_.empty(); };
    clock_.Await(mutex_, absl::Condition(&sent), clock_.MonotonicNow() + kLastSend);
  }
  thread_.BeginStop();
  server_->Shutdown();
  thread_.Stop();
}

void OtlpLog::OnDecision(const DecisionRecord& record) {
  if (record.unchanged) return;
  const uint64_t news = DecisionNews(record);
  absl::MutexLock lock(&mutex_);
  const auto [last, first] = last_.try_emplace(record.managed->key, news);
  if (!first && std::exchange(last->second, news) == news) return;
  if (waiting_.size() >= kMaxWaiting) {
    ++dropped_;
    return;
  }
  waiting_.push_back({.time = record.time, .line = DecisionLine(record)});
}

void OtlpLog::OnForgotten(const AutoscalerKey& key) {
  absl::MutexLock lock(&mutex_);
  last_.erase(key);
}

absl::Duration OtlpLog::SendAll() {
  tried_ = false;
  if (Flush() && failure_.empty()) {
    pause_ = kSendEvery;
  } else if (tried_) {
    pause_ = std::min(pause_ * 2, kLongestPause);
  }
  return pause_;
}

bool OtlpLog::Flush() {
  for (;;) {
    std::vector<TimedLine> lines;
    {
      absl::MutexLock lock(&mutex_);
      const size_t count = std::min(waiting_.size(), kMaxSent);
      lines.assign(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (lines.empty()) return true;
    const Outcome outcome = Send(lines);
    if (outcome == Outcome::kNotNow) return false;
    (outcome == Outcome::kTaken ? sent_ : dropped_) += lines.size();
    // These are still the first lines, since no other thread removes any.
    absl::MutexLock lock(&mutex_);
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(lines.size()));
  }
}

OtlpLog::Outcome OtlpLog::Send(const std::vector<TimedLine>& lines) {
  http::HttpCall call;
  call.method = "POST";
  call.target = target_;
  call.body = OtlpLogs(lines);
  call.content_type = "application/json";
  call.timeout = kTimeout;
  call.max_body_bytes = kMaxAnswer;
  tried_ = true;
  const absl::StatusOr<http::HttpAnswer> answer = server_->Do(call);
  if (!answer.ok()) {
    Tell(std::string(answer.status().message()));
    return Outcome::kNotNow;
  }
  if (answer->status / 100 == 2) {
    Tell("");
    return Outcome::kTaken;
  }
  const bool later = answer->status == 429 || answer->status / 100 == 5;
  Tell(absl::StrCat("the receiver answered ", answer->status, later ? "" : "; they are dropped"));
  return later ? Outcome::kNotNow : Outcome::kRefused;
}

void OtlpLog::Tell(std::string failure) {
  if (failure == failure_) return;
  failure_ = std::move(failure);
  if (failure_.empty()) {
    spdlog::info("scaler: decisions are sent again");
  } else {
    spdlog::warn("scaler: decisions could not be sent: {}", failure_);
  }
}

}  // namespace flyball::scaler
