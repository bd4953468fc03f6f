// A number in the answer of an HTTP server.
//
// Source:  KEDA 2.20 metrics-api.
// Differs: format xml and aggregateFromKubeServiceEndpoints are refused; value_path.h says which
//          part of gjson's paths there is; a value that is not finite is unknown; errors show
//          nothing of the answer's body.
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/triggers/parts/exposition.h"
#include "scaler/triggers/parts/http_source.h"
#include "scaler/triggers/parts/one_metric_trigger.h"
#include "scaler/triggers/parts/value_path.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

// The limit for a YAML document, which is in memory as a whole.
constexpr size_t kMaxValues = 10'000;

constexpr MetadataKey kKeys[] = {
    {"url", KeyKind::kUrl, kRequired, "URL that is asked, with GET"},
    {"valueLocation", KeyKind::kText, kRequired,
     "where the number stands in the answer: `queue.stats.0.depth`, or `jobs.#` for the length of "
     "a list; in the format `prometheus`, `depth{queue=\"a\"}`"},
    {"format", KeyKind::kOneOf, "json", "format of the answer; xml is not supported and refused",
     "json, yaml, prometheus, xml"},
    {"targetValue", KeyKind::kTarget, kRequired, "amount for each replica"},
    {"activationTargetValue", KeyKind::kNumber, "0", "the trigger is active above this value"},
    {"aggregateFromKubeServiceEndpoints", KeyKind::kBool, "false",
     "`true` is refused: the endpoints of a Service are not asked one by one"},
};

// Where the number is in an answer.
struct Location {
  absl::StatusOr<double> ValueIn(absl::string_view body) const {
    if (sample.has_value()) return FindSample(body, *sample);
    if (json) return path->ReadJson(body);
    const ParseLimits limits{.max_bytes = HttpSource::kMaxAnswerBytes, .max_nodes = kMaxValues};
    const absl::StatusOr<std::vector<Node>> documents = ParseDocuments(body, limits);
    // The parser's message is left out, since it may contain names from the document.
    if (!documents.ok()) return absl::FailedPreconditionError("the answer is not YAML");
    if (documents->size() != 1) {
      return absl::FailedPreconditionError(
          absl::StrCat("expected one YAML document, got ", documents->size()));
    }
    return path->Read(documents->front());
  }

  bool json = true;                      // with `path`: JSON, else YAML
  std::optional<ValuePath> path;         // format json and yaml
  std::optional<SampleSelector> sample;  // format prometheus
};

Location ReadLocation(Metadata& metadata, const std::string& location) {
  Location out;
  const std::string format = metadata.OneOf("format");
  if (format == "xml") metadata.Wrong("format", "xml is not supported: json, yaml or prometheus");
  out.json = format == "json";
  if (location.empty()) return out;
  absl::Status status;
  if (format == "prometheus") {
    absl::StatusOr<SampleSelector> sample = SampleSelector::Parse(location);
    status = sample.status();
    if (sample.ok()) out.sample = *std::move(sample);
  } else {
    absl::StatusOr<ValuePath> path = ValuePath::Parse(location);
    status = path.status();
    if (path.ok()) out.path = *std::move(path);
  }
  if (!status.ok()) metadata.Wrong("valueLocation", status.message());
  return out;
}

std::unique_ptr<Trigger> Make(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const std::shared_ptr<HttpSource> source = HttpSource::Make(plan, "url");
  source->set_unsafe_with_certificates();  // as in KEDA, where prometheus differs
  const std::string where = metadata.Text("valueLocation");
  const Location location = ReadLocation(metadata, where);
  OneMetric one{.metric = plan.Metric(absl::StrCat("metric-api-", where), "targetValue"),
                .activation = metadata.Number("activationTargetValue"),
                .server = source->origin(),
                .source = absl::StrCat("metrics-api ", source->origin()),
                .value = {}};
  one.value = [source, location](absl::Time, absl::Duration timeout) -> absl::StatusOr<double> {
    ASSIGN_OR_RETURN(const http::HttpAnswer answer, source->Get("", {}, timeout));
    if (answer.status != 200) return absl::UnavailableError(HttpSource::Describe(answer));
    return location.ValueIn(answer.body);
  };
  if (metadata.Bool("aggregateFromKubeServiceEndpoints")) {
    metadata.Wrong("aggregateFromKubeServiceEndpoints",
                   "single endpoints are not asked here; use a prometheus trigger");
  }
  return MakeOneMetricTrigger(std::move(one));
}

}  // namespace

extern constinit const TriggerType kMetricsApi{.name = "metrics-api",
                                               .says = "a number from the answer of an HTTP server",
                                               .keys = {kKeys, kHttpKeys},
                                               .make = Make};

}  // namespace flyball::scaler
