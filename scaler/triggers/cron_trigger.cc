// So many replicas in a window of time.
//
// The window is [start, end): open from a start to the next end.
//
// Source:  KEDA 2.20 cron.
// Differs: a start that repeats keeps the window open; changes of the clock count as
//          cron_expression.h says; an expression that is never true is refused.
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "scaler/triggers/cron_expression.h"
#include "scaler/triggers/makers.h"
#include "scaler/triggers/metric_value.h"

namespace flyball::scaler {
namespace {

class CronTrigger : public Trigger {
 public:
  struct Options {
    TriggerMetric metric;
    absl::TimeZone zone;
    CronExpression start;
    CronExpression end;
    int64_t replicas = 0;
  };

  explicit CronTrigger(Options options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration) override {
    return std::vector<TriggerMetric>{options_.metric};
  }

  std::vector<TriggerReading> Read(absl::Time now, absl::Duration) override {
    const bool inside = IsOpen(now);
    return {{.value_milli = inside ? options_.replicas * 1000 : 0, .active = inside, .time = now}};
  }

 private:
  bool IsOpen(absl::Time now) const {
    const std::optional<absl::Time> start = options_.start.LatestFire(now, options_.zone);
    if (!start.has_value()) return false;
    const std::optional<absl::Time> end = options_.end.LatestFire(now, options_.zone);
    return !end.has_value() || *end <= *start;
  }

  const Options options_;
};

std::optional<CronExpression> ReadExpression(Metadata& metadata, absl::string_view name) {
  const std::string text = metadata.RequiredText(name);
  if (!metadata.Has(name)) return std::nullopt;
  absl::StatusOr<CronExpression> expression = CronExpression::Parse(text);
  if (!expression.ok()) {
    metadata.Wrong(name, expression.status().message());
    return std::nullopt;
  }
  return *std::move(expression);
}

std::string NameOf(absl::string_view expression) {
  return absl::StrReplaceAll(expression,
                             {{" ", ""}, {"*", "x"}, {"/", "Sl"}, {"?", "Qm"}, {",", "Cm"}});
}

}  // namespace

std::unique_ptr<Trigger> MakeCron(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const std::string zone_name = metadata.RequiredText("timezone");
  absl::StatusOr<absl::TimeZone> zone = absl::UTCTimeZone();
  if (metadata.Has("timezone")) zone = LoadZone(zone_name);
  if (!zone.ok()) metadata.Wrong("timezone", zone.status().message());
  const std::optional<CronExpression> start = ReadExpression(metadata, "start");
  const std::optional<CronExpression> end = ReadExpression(metadata, "end");
  if (start && end && metadata.Text("start") == metadata.Text("end")) {
    metadata.Wrong("end", "must differ from start");
  }
  const int64_t replicas = metadata.Integer("desiredReplicas", 0);
  if (!metadata.Has("desiredReplicas")) {
    metadata.Wrong("desiredReplicas", "is required");
  } else if (replicas <= 0 || replicas > kMaxMetricMilli / 1000) {
    metadata.Wrong("desiredReplicas", "must be greater than 0");
  }
  if (!metadata.status().ok()) return nullptr;
  return std::make_unique<CronTrigger>(CronTrigger::Options{
      .metric = {.name = plan.MetricName(absl::StrCat("cron-", zone_name, "-",
                                                      NameOf(metadata.Text("start")), "-",
                                                      NameOf(metadata.Text("end")))),
                 .target_type = metadata.MetricType(),
                 .target_milli = 1000},
      .zone = *zone,
      .start = *start,
      .end = *end,
      .replicas = replicas});
}

}  // namespace flyball::scaler
