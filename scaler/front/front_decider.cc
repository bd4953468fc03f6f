#include "scaler/front/front_decider.h"

namespace flyball::front {
namespace {

constexpr int64_t kLongestGap = 5;  // seconds without a record, after which the load is unknown

}  // namespace

FrontDecider::FrontDecider(const scaler::RequestSettings& settings, scaler::PodsSeen pods,
                           absl::Time now)
    : settings_(settings), windows_(settings_), decider_(settings_, pods, now) {}

void FrontDecider::Configure(const scaler::RequestSettings& settings, absl::Time now) {
  if (settings.scale_down_delay != settings_.scale_down_delay) {
    decider_.SetDelay(settings.scale_down_delay, now);
  }
  settings_ = settings;
  windows_.Configure(settings_, now);
  windows_.SetWeighted(settings_.weighted);
  decider_.Configure(settings_);
}

void FrontDecider::Wake(absl::Time now) {
  windows_ = scaler::TrafficWindows(settings_);
  second_ = woken_ = absl::ToUnixSeconds(now);
  recorded_ = {};
  woken_concurrency_ = 0;
}

void FrontDecider::Record(absl::Time second, const scaler::TrafficSample& sample, bool ended) {
  const int64_t number = absl::ToUnixSeconds(second);
  if (second_ != number) {
    if (second_.has_value() && number < *second_) return;
    if (second_.has_value() && number - *second_ > kLongestGap) {
      windows_ = scaler::TrafficWindows(settings_);
    }
    second_ = number;
    recorded_ = {};
  }
  const bool waking = woken_ == number;
  if (!ended && !waking && settings_.metric == scaler::kRpsMetric) return;
  // The windows add what is recorded, so only the difference to what they have of this second is
  // recorded.
  scaler::TrafficSample more;
  more.concurrency = sample.concurrency - recorded_.concurrency;
  more.requests = sample.requests - recorded_.requests;
  windows_.Record(absl::FromUnixSeconds(number), more);
  recorded_ = sample;
  if (waking) {
    woken_concurrency_ = sample.concurrency;
  } else if (woken_.has_value() && number == *woken_ + 1 &&
             sample.concurrency > woken_concurrency_) {
    windows_.Record(absl::FromUnixSeconds(*woken_),
                    {.concurrency = sample.concurrency - woken_concurrency_});
    woken_concurrency_ = sample.concurrency;
  }
}

scaler::RequestDecision FrontDecider::Evaluate(absl::Time now, scaler::PodsSeen pods) {
  const scaler::TrafficAverages averages = windows_.Averages(settings_, now);
  if (averages.empty || absl::ToUnixSeconds(now) - *second_ > kLongestGap) return {};
  averages_ = averages;
  return decider_.Evaluate(now, pods, averages);
}

}  // namespace flyball::front
