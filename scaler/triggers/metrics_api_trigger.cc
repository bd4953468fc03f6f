// A number in what an HTTP server answers.
//
// Source:  KEDA 2.20 metrics-api.
// Differs: format xml and aggregateFromKubeServiceEndpoints are refused; value_path.h says which
//          part of gjson's paths there is; a value that is not finite is unknown; errors show
//          nothing of the answer's body.
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/triggers/exposition.h"
#include "scaler/triggers/http_source.h"
#include "scaler/triggers/makers.h"
#include "scaler/triggers/metric_value.h"
#include "scaler/triggers/value_path.h"

namespace flyball::scaler {
namespace {

// Of a YAML document, which is held whole.
constexpr size_t kMaxValues = 10'000;

class MetricsApiTrigger : public Trigger {
 public:
  struct Options {
    TriggerMetric metric;
    bool json = true;                      // else YAML; of `path`
    std::optional<ValuePath> path;         // format json and yaml
    std::optional<SampleSelector> sample;  // format prometheus
    double activation = 0;
    std::unique_ptr<HttpSource> source;
  };

  explicit MetricsApiTrigger(Options options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration) override {
    return std::vector<TriggerMetric>{options_.metric};
  }

  std::string Server() const override { return options_.source->origin(); }

  std::vector<TriggerReading> Read(absl::Time now, absl::Duration timeout) override {
    TriggerReading reading{.time = now};
    const absl::Status status = ReadInto(timeout, reading);
    if (!status.ok()) {
      reading = {
          .error = absl::StrCat("metrics-api ", options_.source->origin(), ": ", status.message()),
          .time = now};
    }
    return {reading};
  }

 private:
  absl::Status ReadInto(absl::Duration timeout, TriggerReading& reading) {
    ASSIGN_OR_RETURN(const http::HttpAnswer answer, options_.source->Get("", {}, timeout));
    if (answer.status != 200) return absl::UnavailableError(HttpSource::Describe(answer));
    ASSIGN_OR_RETURN(const double value, ValueIn(answer.body));
    ASSIGN_OR_RETURN(reading.value_milli, ValueMilli(value));
    reading.active = value > options_.activation;
    return absl::OkStatus();
  }

  absl::StatusOr<double> ValueIn(absl::string_view body) const {
    if (options_.sample.has_value()) return FindSample(body, *options_.sample);
    if (options_.json) return options_.path->ReadJson(body);
    const ParseLimits limits{.max_bytes = HttpSource::kMaxAnswerBytes, .max_nodes = kMaxValues};
    const absl::StatusOr<std::vector<Node>> documents = ParseDocuments(body, limits);
    // What exactly is wrong is not said: it may hold names of the document.
    if (!documents.ok()) return absl::FailedPreconditionError("the answer is not YAML");
    if (documents->size() != 1) {
      return absl::FailedPreconditionError(
          absl::StrCat("expected one YAML document, got ", documents->size()));
    }
    return options_.path->Read(documents->front());
  }

  const Options options_;
};

void ReadLocation(Metadata& metadata, MetricsApiTrigger::Options& options) {
  const std::string location = metadata.RequiredText("valueLocation");
  const std::string format =
      metadata.OneOf("format", {"json", "yaml", "prometheus", "xml"}, "json");
  if (format == "xml") metadata.Wrong("format", "xml is left out here: json, yaml or prometheus");
  options.json = format == "json";
  if (!metadata.Has("valueLocation")) return;
  absl::Status status;
  if (format == "prometheus") {
    absl::StatusOr<SampleSelector> sample = SampleSelector::Parse(location);
    status = sample.status();
    if (sample.ok()) options.sample = *std::move(sample);
  } else {
    absl::StatusOr<ValuePath> path = ValuePath::Parse(location);
    status = path.status();
    if (path.ok()) options.path = *std::move(path);
  }
  if (!status.ok()) metadata.Wrong("valueLocation", status.message());
}

}  // namespace

std::unique_ptr<Trigger> MakeMetricsApi(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  MetricsApiTrigger::Options options;
  options.source = HttpSource::Make(plan, "url");
  ReadLocation(metadata, options);
  options.metric = {
      .name = plan.MetricName(absl::StrCat("metric-api-", metadata.Text("valueLocation"))),
      .target_type = metadata.MetricType(),
      .target_milli = metadata.RequiredTarget("targetValue")};
  options.activation = metadata.Number("activationTargetValue", 0);
  if (metadata.Bool("aggregateFromKubeServiceEndpoints", false)) {
    metadata.Wrong("aggregateFromKubeServiceEndpoints",
                   "single endpoints are not asked here; use a prometheus trigger");
  }
  return std::make_unique<MetricsApiTrigger>(std::move(options));
}

}  // namespace flyball::scaler
