#include "rules/on_failure.h"

#include "absl/strings/str_cat.h"
#include "kube/objects/quantity.h"
#include "promql/parser.h"

namespace flyball::rules {
namespace {

constexpr absl::Duration kLongest = absl::Hours(24);

constexpr char kAskTheAutoscaler[] =
    "the metrics API does not know the autoscaler that asks, expected {value: V}; a count of "
    "replicas is the fallback of an Autoscaler (docs/scaling.md)";

std::optional<int64_t> ReadThen(const OnFailureConfig::Then& then, const std::string& path,
                                Findings& findings) {
  for (const TextField& key : then.for_autoscalers) {
    findings.Error(key.place, absl::StrCat(path, ".", key.text), kAskTheAutoscaler);
  }
  if (then.word.text == "max" || then.word.text == "min") {
    findings.Error(then.place, path, kAskTheAutoscaler);
  } else if (!then.word.text.empty() && then.word.text != "fail") {
    findings.Error(then.place, path,
                   absl::StrCat("found \"", then.word.text, "\", expected fail or {value: V}"));
  }
  if (!then.value.place.known()) return std::nullopt;
  const absl::StatusOr<kube::Quantity> value = kube::Quantity::Parse(then.value.text);
  // Beyond this a metrics API rounds, and the scaler takes nothing.
  constexpr double kMost = 9.0e12;
  if (!value.ok() || value->Sign() < 0 || value->ToDouble() > kMost) {
    findings.Error(then.value.place, path + ".value",
                   "is no quantity from 0 to 9e12, expected one such as 500 or 1500m");
    return std::nullopt;
  }
  return value->MilliValue();
}

}  // namespace

std::optional<OnFailure> CompileOnFailure(const RuleConfig& rule, bool external,
                                          const std::string& path, Findings& findings) {
  if (!rule.on_failure.has_value()) return std::nullopt;
  const OnFailureConfig& config = *rule.on_failure;
  const std::string field = path + ".onFailure";
  if (!external) {
    findings.Error(config.place, field,
                   "is for externalRules alone: a value of each pod or object would be multiplied "
                   "again with each new count; while such a metric fails an HPA holds its count, "
                   "and the fallback of an Autoscaler sets one (docs/scaling.md)");
    return std::nullopt;
  }
  if (config.keep_last > kLongest) {
    findings.Error(config.place, field + ".keepLast", "is longer than 1d");
  }
  const std::optional<int64_t> value = ReadThen(config.then, field + ".then", findings);
  if (config.keep_last == absl::ZeroDuration() && !value.has_value()) {
    findings.Warn(config.place, field, "changes nothing: it neither keeps nor replaces anything");
  }
  return OnFailure{.keep_last = config.keep_last, .value_milli = value};
}

std::string SoleMetric(const RuleConfig& rule, const SeriesNaming& naming) {
  const absl::StatusOr<promql::Selector> selector =
      promql::ParseSeriesSelector(rule.series_query.text);
  if (!selector.ok()) return "";
  std::string series = selector->name;
  for (const promql::Matcher& matcher : selector->matchers) {
    const bool names = matcher.label() == "__name__" && matcher.op() == promql::Matcher::Op::kEqual;
    if (series.empty() && names) series = matcher.value();
  }
  return series.empty() || !naming.Accepts(series) ? "" : naming.ApiName(series);
}

}  // namespace flyball::rules
