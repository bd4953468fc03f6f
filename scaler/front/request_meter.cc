#include "scaler/front/request_meter.h"

#include <utility>

#include "base/go/duration.h"

namespace flyball::scaler {

void RequestMeter::Advance(absl::Time now) {
  if (now <= changed_) return;
  const double seconds = go::ToSeconds(now - changed_);
  seconds_ += seconds;
  sums_.concurrency += in_flight_ * seconds;
  sums_.proxied_concurrency += proxied_in_flight_ * seconds;
  changed_ = now;
}

void RequestMeter::Begin(absl::Time now, bool proxied) {
  Advance(now);
  ++in_flight_;
  ++sums_.requests;
  if (!proxied) return;
  ++proxied_in_flight_;
  ++sums_.proxied_requests;
}

void RequestMeter::End(absl::Time now, bool proxied) {
  Advance(now);
  --in_flight_;
  if (proxied) --proxied_in_flight_;
}

MeterReport RequestMeter::Report(absl::Time now) {
  Advance(now);
  MeterReport report = std::exchange(sums_, {});
  const double seconds = std::exchange(seconds_, 0);
  if (seconds > 0) {
    report.concurrency /= seconds;
    report.proxied_concurrency /= seconds;
  }
  return report;
}

}  // namespace flyball::scaler
