#include "scaler/math/requests/traffic.h"

namespace flyball::scaler {
namespace {

// A part of a second counts as a whole one.
int64_t Seconds(absl::Duration window) {
  return absl::ToInt64Seconds(absl::Ceil(window, absl::Seconds(1)));
}

RequestWindow::Weights WeightsOf(bool weighted) {
  return weighted ? RequestWindow::Weights::kExponential : RequestWindow::Weights::kEqual;
}

}  // namespace

TrafficWindows::TrafficWindows(const RequestSettings& settings)
    : stable_concurrency_(Seconds(settings.stable_window), WeightsOf(settings.weighted)),
      panic_concurrency_(Seconds(settings.panic_window), WeightsOf(settings.weighted)),
      stable_requests_(Seconds(settings.stable_window), WeightsOf(settings.weighted)),
      panic_requests_(Seconds(settings.panic_window), WeightsOf(settings.weighted)) {}

void TrafficWindows::Configure(const RequestSettings& settings, absl::Time now) {
  const int64_t second = absl::ToUnixSeconds(now);
  stable_concurrency_.Resize(Seconds(settings.stable_window), second);
  panic_concurrency_.Resize(Seconds(settings.panic_window), second);
  stable_requests_.Resize(Seconds(settings.stable_window), second);
  panic_requests_.Resize(Seconds(settings.panic_window), second);
}

void TrafficWindows::SetWeighted(bool weighted) {
  stable_concurrency_.SetWeights(WeightsOf(weighted));
  panic_concurrency_.SetWeights(WeightsOf(weighted));
  stable_requests_.SetWeights(WeightsOf(weighted));
  panic_requests_.SetWeights(WeightsOf(weighted));
}

void TrafficWindows::Record(absl::Time now, const TrafficSample& sample) {
  const int64_t second = absl::ToUnixSeconds(now);
  const double concurrency = sample.concurrency - sample.proxied_concurrency;
  const double requests = sample.requests - sample.proxied_requests;
  stable_concurrency_.Record(second, concurrency);
  panic_concurrency_.Record(second, concurrency);
  stable_requests_.Record(second, requests);
  panic_requests_.Record(second, requests);
}

TrafficAverages TrafficWindows::Averages(const RequestSettings& settings, absl::Time now) const {
  const int64_t second = absl::ToUnixSeconds(now);
  const bool rps = settings.metric == kRpsMetric;
  const RequestWindow& stable = rps ? stable_requests_ : stable_concurrency_;
  const RequestWindow& panic = rps ? panic_requests_ : panic_concurrency_;
  return {.empty = stable.Empty(second),
          .stable = stable.Average(second),
          .panic = panic.Average(second)};
}

}  // namespace flyball::scaler
