#include "rules/on_failure.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/quantity.h"
#include "promql/parser.h"
#include "promql/text.h"

namespace flyball::rules {
namespace {

constexpr absl::Duration kLongest = absl::Hours(24);

std::optional<int64_t> ReadValue(const TextField& text, const std::string& path,
                                 Findings& findings) {
  const absl::StatusOr<kube::Quantity> value = kube::Quantity::Parse(text.text);
  // Beyond this a metrics API rounds, and the scaler takes nothing.
  constexpr double kMost = 9.0e12;
  if (!value.ok() || value->Sign() < 0 || value->ToDouble() > kMost) {
    findings.Error(text.place, path,
                   "is no quantity from 0 to 9e12, expected one such as 500 or 1500m");
    return std::nullopt;
  }
  return value->MilliValue();
}

std::optional<ReplicasInstead> ReadReplicas(const TextField& text, const std::string& path,
                                            Findings& findings) {
  ReplicasInstead out;
  if (!absl::SimpleAtoi(text.text, &out.given) || out.given < 0) {
    findings.Error(text.place, path,
                   absl::StrCat("found \"", text.text, "\", expected a count of replicas"));
    return std::nullopt;
  }
  return out;
}

void ReadThen(const OnFailureConfig::Then& then, const std::string& path, Findings& findings,
              OnFailure& out) {
  const std::string& word = then.word.text;
  if (word == "max" || word == "min") {
    out.replicas = {.count = word == "max" ? ReplicasInstead::Count::kMax
                                           : ReplicasInstead::Count::kMin};
  } else if (!word.empty() && word != "fail") {
    findings.Error(
        then.place, path,
        absl::StrCat("found \"", word, "\", expected fail, max, min, {replicas: N} or {value: V}"));
  }
  const bool has_value = then.value.place.known();
  if (has_value && then.replicas.place.known()) {
    findings.Error(then.replicas.place, path + ".replicas",
                   "stands beside value, expected only one of the two");
  } else if (has_value) {
    out.value_milli = ReadValue(then.value, path + ".value", findings);
  } else if (then.replicas.place.known()) {
    out.replicas = ReadReplicas(then.replicas, path + ".replicas", findings);
  }
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
    findings.Error(
        config.place, field + ".keepLast",
        absl::StrCat("is ", promql::FormatDurationMs(absl::ToInt64Milliseconds(config.keep_last)),
                     ", expected at most 1d"));
  }
  OnFailure out = {.keep_last = config.keep_last, .value_milli = {}, .replicas = {}};
  ReadThen(config.then, field + ".then", findings, out);
  if (config.keep_last == absl::ZeroDuration() && !out.value_milli.has_value() &&
      !out.replicas.has_value()) {
    findings.Warn(config.place, field, "changes nothing: it neither keeps nor replaces anything");
  }
  return out;
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
