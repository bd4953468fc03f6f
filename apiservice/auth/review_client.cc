#include "apiservice/auth/review_client.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace flyball::apiservice {
namespace {

constexpr size_t kMaxAnswerBytes = 4u << 20;
constexpr int kTries = 5;
constexpr double kFactor = 1.5;
constexpr double kJitter = 0.2;
constexpr absl::Duration kLimit = absl::Seconds(10);

double UnitRandom() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

std::optional<absl::Duration> RetryAfter(const http::HttpAnswer& answer) {
  int seconds = 0;
  if (!absl::SimpleAtoi(answer.Header("Retry-After"), &seconds) || seconds < 0) return std::nullopt;
  return absl::Seconds(seconds);
}

}  // namespace

ReviewClient::ReviewClient(http::HttpTransport* transport, Clock* clock, absl::Duration first_wait)
    : transport_(transport), clock_(clock), first_wait_(first_wait) {}

void ReviewClient::Stop() {
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
}

absl::StatusOr<std::string> ReviewClient::Post(absl::string_view path, std::string body) {
  http::HttpCall call;
  call.method = "POST";
  call.target = std::string(path);
  call.headers = {{"Accept", "application/json"}};
  call.body = std::move(body);
  call.content_type = "application/json";
  call.repeatable = true;  // a review changes nothing
  call.max_body_bytes = kMaxAnswerBytes;
  const MonotonicTime start = clock_->MonotonicNow();
  absl::Duration wait = first_wait_;
  for (int attempt = 1;; ++attempt) {
    const MonotonicTime begun = clock_->MonotonicNow();
    call.timeout = kLimit - (begun - start);
    if (call.timeout <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(absl::StrCat("POST ", path, ": no answer in time"));
    }
    const absl::StatusOr<http::HttpAnswer> answer = transport_->Do(call);
    const double took = absl::ToDoubleSeconds(clock_->MonotonicNow() - begun);
    if (!answer.ok()) {
      durations_.failed.Observe(took);
      return answer.status();
    }
    if (answer->status >= 200 && answer->status < 300) {
      durations_.answered.Observe(took);
      return answer->body;
    }
    durations_.refused.Observe(took);
    const std::optional<absl::Duration> asked = RetryAfter(*answer);
    const bool retry = asked.has_value() || answer->status == 429 || answer->status == 500 ||
                       answer->status == 504;
    const absl::Duration jittered = wait * (1 + kJitter * UnitRandom());
    const absl::Duration pause = std::max(jittered, asked.value_or(absl::ZeroDuration()));
    absl::MutexLock lock(&mutex_);
    if (!retry || attempt >= kTries || stopped_) {
      return absl::UnavailableError(absl::StrCat("POST ", path, ": HTTP ", answer->status));
    }
    clock_->Await(mutex_, absl::Condition(&stopped_),
                  std::min(clock_->MonotonicNow() + pause, start + kLimit));
    wait *= kFactor;
  }
}

}  // namespace flyball::apiservice
