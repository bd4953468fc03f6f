#include "scaler/triggers/parts/one_metric_trigger.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/triggers/parts/metric_value.h"

namespace flyball::scaler {
namespace {

class OneMetricTrigger : public Trigger {
 public:
  explicit OneMetricTrigger(OneMetric metric) : one_(std::move(metric)) {}

  absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration) override {
    return std::vector<TriggerMetric>{one_.metric};
  }

  std::string Server() const override { return one_.server; }

  std::vector<TriggerReading> Read(absl::Time now, absl::Duration timeout) override {
    TriggerReading reading{.time = now};
    const absl::Status status = ReadInto(timeout, reading);
    if (!status.ok()) reading.error = absl::StrCat(one_.source, ": ", status.message());
    return {reading};
  }

 private:
  absl::Status ReadInto(absl::Duration timeout, TriggerReading& reading) const {
    ASSIGN_OR_RETURN(const double value, one_.value(reading.time, timeout));
    ASSIGN_OR_RETURN(reading.value_milli, ValueMilli(value));
    reading.active = value > one_.activation;
    return absl::OkStatus();
  }

  const OneMetric one_;
};

}  // namespace

std::unique_ptr<Trigger> MakeOneMetricTrigger(OneMetric metric) {
  return std::make_unique<OneMetricTrigger>(std::move(metric));
}

}  // namespace flyball::scaler
