// A fixed number of replicas in a window of time.
//
// The window is [start, end): open from a start to the next end.
//
// Source:  KEDA 2.20 cron.
// Differs: a start that repeats keeps the window open; changes of the clock count as
//          cron_expression.h says; an expression that is never true is refused.
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "scaler/spec/cron_expression.h"
#include "scaler/triggers/parts/one_metric_trigger.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

constexpr MetadataKey kKeys[] = {
    {"timezone", KeyKind::kText, kRequired,
     "time zone of `start` and `end`, such as `Europe/Prague`"},
    {"start", KeyKind::kText, kRequired,
     "when the window begins: a cron expression of five fields"},
    {"end", KeyKind::kText, kRequired, "when it ends: a cron expression of five fields"},
    {"desiredReplicas", KeyKind::kInteger, kRequired, "replicas from start to end"},
};

struct Window {
  bool IsOpen(absl::Time now) const { return IsOpenAt(now, start, end, zone); }

  absl::TimeZone zone;
  CronExpression start;
  CronExpression end;
};

std::optional<CronExpression> ReadExpression(Metadata& metadata, absl::string_view name,
                                             const std::string& text) {
  if (text.empty()) return std::nullopt;
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

std::unique_ptr<Trigger> Make(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const std::string zone_name = metadata.Text("timezone");
  absl::StatusOr<absl::TimeZone> zone = absl::UTCTimeZone();
  if (!zone_name.empty()) zone = LoadZone(zone_name);
  if (!zone.ok()) metadata.Wrong("timezone", zone.status().message());
  const std::string start_text = metadata.Text("start");
  const std::optional<CronExpression> start = ReadExpression(metadata, "start", start_text);
  const std::string end_text = metadata.Text("end");
  const std::optional<CronExpression> end = ReadExpression(metadata, "end", end_text);
  if (start && end && start_text == end_text) metadata.Wrong("end", "must differ from start");
  const int64_t replicas = metadata.Integer("desiredReplicas");
  if (metadata.Has("desiredReplicas") && (replicas <= 0 || replicas > kMaxMetricMilli / 1000)) {
    metadata.Wrong("desiredReplicas", "must be greater than 0");
  }
  if (!metadata.status().ok()) return nullptr;
  OneMetric one{.metric = {.name = plan.MetricName(absl::StrCat(
                               "cron-", zone_name, "-", NameOf(start_text), "-", NameOf(end_text))),
                           .target_type = metadata.MetricType(),
                           .target_milli = 1000},
                .value = {}};
  one.value = [window = Window{*zone, *start, *end}, replicas](
                  absl::Time now, absl::Duration) -> absl::StatusOr<double> {
    return window.IsOpen(now) ? static_cast<double>(replicas) : 0;
  };
  return MakeOneMetricTrigger(std::move(one));
}

}  // namespace

extern constinit const TriggerType kCron{
    .name = "cron",
    .says =
        "runs `desiredReplicas` between each start and the next end; handles daylight saving time",
    .keys = {kKeys},
    .make = Make};

}  // namespace flyball::scaler
