#include "scaler/math/requests/traffic.h"

namespace flyball::scaler {
namespace {

// A part of a second counts as a whole one.
int64_t Seconds(absl::Duration window) {
  return absl::ToInt64Seconds(absl::Ceil(window, absl::Seconds(1)));
}

RequestWindow::Weights WeightsOf(const RequestSettings& settings) {
  return settings.weighted ? RequestWindow::Weights::kExponential : RequestWindow::Weights::kEqual;
}

}  // namespace

TrafficWindows::TrafficWindows(const RequestSettings& settings, const RequestOptions& options)
    : options_(options),
      stable_concurrency_(Seconds(settings.stable_window), WeightsOf(settings)),
      panic_concurrency_(Seconds(settings.panic_window), WeightsOf(settings)),
      stable_requests_(Seconds(settings.stable_window), WeightsOf(settings)),
      panic_requests_(Seconds(settings.panic_window), WeightsOf(settings)) {}

void TrafficWindows::Configure(const RequestSettings& settings, absl::Time now) {
  const int64_t second = absl::ToUnixSeconds(now);
  stable_concurrency_.Resize(Seconds(settings.stable_window), second);
  panic_concurrency_.Resize(Seconds(settings.panic_window), second);
  stable_requests_.Resize(Seconds(settings.stable_window), second);
  panic_requests_.Resize(Seconds(settings.panic_window), second);
}

void TrafficWindows::Add(int64_t second, double concurrency, double requests) {
  stable_concurrency_.Record(second, concurrency);
  panic_concurrency_.Record(second, concurrency);
  stable_requests_.Record(second, requests);
  panic_requests_.Record(second, requests);
}

void TrafficWindows::AddMeanOfRepeats(int64_t second, double concurrency, double requests,
                                      absl::string_view source) {
  // Sources that no longer report are forgotten when a new one appears.
  if (!sources_.contains(source)) {
    absl::erase_if(sources_, [&](const auto& each) { return each.second.second < second - 1; });
  }
  SourceReports& reports = sources_[source];
  if (reports.count == 0 || reports.second != second) reports = {.second = second};
  const auto add = [&reports](double value, double& sum) {
    const double before = reports.count == 0 ? 0 : sum / reports.count;
    sum += value;
    return sum / (reports.count + 1) - before;
  };
  const double more_concurrency = add(concurrency, reports.concurrency);
  const double more_requests = add(requests, reports.requests);
  reports.count += 1;
  Add(second, more_concurrency, more_requests);
}

void TrafficWindows::Record(absl::Time now, const TrafficSample& sample, absl::string_view source) {
  const int64_t second = absl::ToUnixSeconds(now);
  if (opened_) {
    for (RequestWindow* const window :
         {&stable_concurrency_, &panic_concurrency_, &stable_requests_, &panic_requests_}) {
      window->MoveOnlySecond(second);
    }
    opened_ = false;
  }
  const double concurrency = sample.concurrency - sample.proxied_concurrency;
  const double requests = sample.requests - sample.proxied_requests;
  if (options_.mean_of_repeats) {
    AddMeanOfRepeats(second, concurrency, requests, source);
  } else {
    Add(second, concurrency, requests);
  }
}

void TrafficWindows::RecordOpening(absl::Time now, const TrafficSample& sample) {
  const int64_t second = absl::ToUnixSeconds(now);
  Add(second, sample.concurrency - sample.proxied_concurrency,
      sample.requests - sample.proxied_requests);
  opened_ = options_.fold_opening;
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
