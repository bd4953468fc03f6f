// The value of a PromQL query.
//
// Source:  KEDA 2.20 prometheus.
// Differs: a scalar counts like a single series; a value that is null is unknown with
//          ignoreNullValues=false, where KEDA takes it for -1; a native histogram is unknown, where
//          KEDA takes it for no value; `time` is sent with milliseconds; awsRegion and pod
//          identities are refused; errors show nothing of the answer's body.
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "adapter/prometheus/json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "scaler/triggers/parts/http_source.h"
#include "scaler/triggers/parts/one_metric_trigger.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

using adapter::QueryResult;
using nlohmann::json;

constexpr MetadataKey kKeys[] = {
    {"serverAddress", KeyKind::kUrl, kRequired, "address of the server; `/api/v1/query` is added"},
    {"query", KeyKind::kText, kRequired, "PromQL whose result is one series or a scalar"},
    {"threshold", KeyKind::kTarget, kRequired, "amount for each replica"},
    {"activationThreshold", KeyKind::kNumber, "0", "the trigger is active above this value"},
    {"ignoreNullValues", KeyKind::kBool, "true",
     "`true`: no series, null, NaN and infinity count as 0; `false`: as unknown"},
    {"namespace", KeyKind::kText, "", "sent as the query parameter `namespace`"},
    {"queryParameters", KeyKind::kPairs, "", "more query parameters to send"},
    {"customHeaders", KeyKind::kPairs, "", "headers to send"},
    {"awsRegion", KeyKind::kRefused, "",
     "requests are not signed for AWS; put a signing proxy in between"},
};

// No answer with a single series is longer. One of many series takes up to 25 times its size, for
// each trigger that is asked at the moment.
constexpr size_t kMaxSingle = 64 << 10;

// Whether the only series of an answer has no value: none at all, an empty list, or null.
//   kFailedPrecondition  it has a native histogram instead
absl::StatusOr<bool> HasNoValue(const std::string& body) {
  static const json::json_pointer first("/data/result/0"), second("/data/result/1"),
      point("/data/result/0/value"), histogram("/data/result/0/histogram");
  const json answer = json::parse(body, nullptr, false);
  if (!answer.contains(first) || answer.contains(second) || !answer.at(first).is_object()) {
    return false;
  }
  if (!answer.contains(point)) {
    if (!answer.contains(histogram)) return true;
    return absl::FailedPreconditionError(
        "the query gives a histogram; use histogram_count or histogram_quantile");
  }
  const json& value = answer.at(point);
  if (!value.is_array()) return value.is_null();
  return value.empty() || (value.size() == 2 && value[1].is_null());
}

// The value of a query that returns none: 0, or unknown with the reason `error`.
absl::StatusOr<double> Nothing(bool null_is_zero, absl::string_view error) {
  if (null_is_zero) return 0.0;
  return absl::FailedPreconditionError(error);
}

absl::StatusOr<double> SingleValue(const QueryResult& result, bool null_is_zero) {
  if (result.type != QueryResult::Type::kVector && result.type != QueryResult::Type::kScalar) {
    return absl::FailedPreconditionError("the query gives neither a vector nor a scalar");
  }
  if (result.samples.size() > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("the query gives ", result.samples.size(), " series; aggregate them to one"));
  }
  if (result.samples.empty()) return Nothing(null_is_zero, "the query gives no series");
  const double value = result.samples[0].value;
  return std::isfinite(value) ? value : Nothing(null_is_zero, "the query gives no finite value");
}

absl::StatusOr<double> Ask(HttpSource& source, QueryPairs query, bool null_is_zero, absl::Time now,
                           absl::Duration timeout) {
  query.emplace_back("time", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", now, absl::UTCTimeZone()));
  const absl::StatusOr<http::HttpAnswer> got = source.Get("/api/v1/query", query, timeout);
  if (absl::IsResourceExhausted(got.status())) {
    return absl::ResourceExhaustedError(absl::StrCat(
        got.status().message(), "; if the query gives many series, aggregate them to one"));
  }
  RETURN_IF_ERROR(got.status());
  const http::HttpAnswer& answer = *got;
  if (answer.status < 200 || answer.status >= 300) {
    return absl::UnavailableError(HttpSource::Describe(answer));
  }
  const absl::StatusOr<QueryResult> result = adapter::prometheus::ParseQueryAnswer(answer.body);
  if (!result.ok() || result->samples.size() == 1) {
    ASSIGN_OR_RETURN(const bool no_value, HasNoValue(answer.body));
    if (no_value) return Nothing(null_is_zero, "the query gives no value");
  }
  if (result.ok()) return SingleValue(*result, null_is_zero);
  return absl::UnavailableError(
      absl::StrCat("the answer is not that of a query: ", HttpSource::Describe(answer)));
}

std::unique_ptr<Trigger> Make(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const std::shared_ptr<HttpSource> source = HttpSource::Make(plan, "serverAddress");
  QueryPairs query = {{"query", metadata.Text("query")}};
  OneMetric one{.metric = plan.Metric("prometheus", "threshold"),
                .activation = metadata.Number("activationThreshold"),
                .server = source->origin(),
                .source = absl::StrCat("prometheus ", source->origin()),
                .value = {}};
  const bool null_is_zero = metadata.Bool("ignoreNullValues");
  if (metadata.Has("namespace")) query.emplace_back("namespace", metadata.Text("namespace"));
  for (auto& pair : metadata.Pairs("queryParameters")) query.push_back(std::move(pair));
  http::Headers headers = metadata.Pairs("customHeaders");
  for (const auto& [name, value] : headers) {
    const absl::string_view problem = HttpSource::HeaderProblem(name);
    if (!problem.empty()) metadata.Wrong("customHeaders", absl::StrCat("\"", name, "\" ", problem));
  }
  source->set_headers(std::move(headers));
  source->set_max_answer_bytes(kMaxSingle);
  one.value = [source, query, null_is_zero](absl::Time now, absl::Duration timeout) {
    return Ask(*source, query, null_is_zero, now, timeout);
  };
  return MakeOneMetricTrigger(std::move(one));
}

}  // namespace

extern constinit const TriggerType kPrometheus{.name = "prometheus",
                                               .says = "the value of a PromQL query",
                                               .keys = {kKeys, kHttpKeys},
                                               .make = Make};

}  // namespace flyball::scaler
