// The value of a PromQL query.
//
// Source:  KEDA 2.20 prometheus.
// Differs: a scalar is taken like a single series; a value that is null is unknown with
//          ignoreNullValues=false, where KEDA takes it for -1; `time` is sent with milliseconds;
//          awsRegion and pod identities are refused; errors show nothing of the answer's body.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "adapter/prometheus/json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "scaler/triggers/http_source.h"
#include "scaler/triggers/makers.h"
#include "scaler/triggers/metric_value.h"

namespace flyball::scaler {
namespace {

using adapter::QueryResult;
using nlohmann::json;

// An answer with a single series is not longer.
constexpr size_t kMaxSingle = 64 << 10;

// Whether the only series of an answer has no value: none at all, an empty list, or null.
bool HasNoValue(const std::string& body) {
  static const json::json_pointer first("/data/result/0"), second("/data/result/1"),
      point("/data/result/0/value");
  if (body.size() > kMaxSingle) return false;
  const json answer = json::parse(body, nullptr, false);
  if (!answer.contains(first) || answer.contains(second) || !answer.at(first).is_object()) {
    return false;
  }
  if (!answer.contains(point)) return true;
  const json& value = answer.at(point);
  if (!value.is_array()) return value.is_null();
  return value.empty() || (value.size() == 2 && value[1].is_null());
}

class PrometheusTrigger : public Trigger {
 public:
  struct Options {
    TriggerMetric metric;
    QueryPairs query;  // but for the time
    double activation = 0;
    bool null_is_zero = true;
    std::unique_ptr<HttpSource> source;
  };

  explicit PrometheusTrigger(Options options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration) override {
    return std::vector<TriggerMetric>{options_.metric};
  }

  std::string Server() const override { return options_.source->origin(); }

  std::vector<TriggerReading> Read(absl::Time now, absl::Duration timeout) override {
    TriggerReading reading{.time = now};
    const absl::Status status = ReadInto(now, timeout, reading);
    if (!status.ok()) {
      reading = {
          .error = absl::StrCat("prometheus ", options_.source->origin(), ": ", status.message()),
          .time = now};
    }
    return {reading};
  }

 private:
  absl::Status ReadInto(absl::Time now, absl::Duration timeout, TriggerReading& reading) {
    QueryPairs query = options_.query;
    query.emplace_back("time", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", now, absl::UTCTimeZone()));
    ASSIGN_OR_RETURN(http::HttpAnswer answer,
                     options_.source->Get("/api/v1/query", query, timeout));
    if (answer.status < 200 || answer.status >= 300) {
      return absl::UnavailableError(HttpSource::Describe(answer));
    }
    const absl::StatusOr<QueryResult> result = adapter::prometheus::ParseQueryAnswer(answer.body);
    const bool null = (!result.ok() || result->samples.size() == 1) && HasNoValue(answer.body);
    if (!null && !result.ok()) {
      return absl::UnavailableError(
          absl::StrCat("the answer is not that of a query: ", HttpSource::Describe(answer)));
    }
    ASSIGN_OR_RETURN(const double value,
                     null ? Nothing("the query gives no value") : SingleValue(*result));
    ASSIGN_OR_RETURN(reading.value_milli, ValueMilli(value));
    reading.active = value > options_.activation;
    return absl::OkStatus();
  }

  absl::StatusOr<double> SingleValue(const QueryResult& result) const {
    if (result.type != QueryResult::Type::kVector && result.type != QueryResult::Type::kScalar) {
      return absl::FailedPreconditionError("the query gives neither a vector nor a scalar");
    }
    if (result.samples.size() > 1) {
      return absl::FailedPreconditionError(absl::StrCat("the query gives ", result.samples.size(),
                                                        " series; aggregate them to one"));
    }
    if (!result.samples.empty() && std::isfinite(result.samples[0].value)) {
      return result.samples[0].value;
    }
    return Nothing(result.samples.empty() ? "the query gives no series"
                                          : "the query gives no finite value");
  }

  absl::StatusOr<double> Nothing(absl::string_view error) const {
    if (options_.null_is_zero) return 0.0;
    return absl::FailedPreconditionError(error);
  }

  const Options options_;
};

}  // namespace

std::unique_ptr<Trigger> MakePrometheus(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  PrometheusTrigger::Options options;
  options.source = HttpSource::Make(plan, "serverAddress");
  options.query.emplace_back("query", metadata.RequiredText("query"));
  options.metric = {.name = plan.MetricName("prometheus"),
                    .target_type = metadata.MetricType(),
                    .target_milli = metadata.RequiredTarget("threshold")};
  options.activation = metadata.Number("activationThreshold", 0);
  options.null_is_zero = metadata.Bool("ignoreNullValues", true);
  if (metadata.Has("namespace"))
    options.query.emplace_back("namespace", metadata.Text("namespace"));
  for (auto& pair : metadata.Pairs("queryParameters")) options.query.push_back(std::move(pair));
  options.source->set_headers(metadata.Pairs("customHeaders"));
  if (metadata.Has("awsRegion")) {
    metadata.Wrong("awsRegion",
                   "requests are not signed for AWS here; put a signing proxy before it");
  }
  return std::make_unique<PrometheusTrigger>(std::move(options));
}

}  // namespace flyball::scaler
