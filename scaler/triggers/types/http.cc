// The requests of a service, which Envoy carries and Flyball counts and scales as Knative does.
//
// Source:  Knative Serving v0.51.0: names, defaults and checks of its annotations; a key takes the
//          same values as the annotation.
// Differs: all requests pass the front, whatever the burst capacity.
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "kube/objects/label_syntax.h"
#include "scaler/spec/knative/metadata.h"
#include "scaler/triggers/request_front.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

constexpr int64_t kLongestQueue = 10'000;
constexpr absl::Duration kLongestTimeout = absl::Hours(1);
// Envoy refuses a route whose timeout has more than 2^63 ns.
constexpr absl::Duration kLongestRequestTimeout = absl::Hours(8760);

constexpr MetadataKey kKeys[] = {
    {"service", KeyKind::kText, kRequired, "the Service that clients call; it has no selector"},
    {"targetPort", KeyKind::kText, kRequired, "the pods' port: its number or its name"},
    {"hosts", KeyKind::kText, "",
     "hosts whose requests it gets at the Envoys' port for hosts: `shop.example.com`, "
     "`*.example.com/api`, `*`, separated by commas"},
    {"pathPrefixes", KeyKind::kText, "/",
     "paths of those hosts that are given without one: `/api`, separated by commas"},
    {"headers", KeyKind::kText, "",
     "headers that requests by host must have: `x-tenant=acme`, or `x-tenant` for any value"},
    {"containerConcurrency", KeyKind::kInteger, "0",
     "most requests that a pod is given at once; 0: no limit"},
    {"activationTimeout", KeyKind::kDuration, "60s",
     "how long a request is held until a pod is ready, at most 1h"},
    {"requestTimeout", KeyKind::kText, "0s",
     "how long a request may take once a pod has it, also a websocket or a gRPC stream; at most "
     "8760h; 0s: no limit"},
    {"queue", KeyKind::kInteger, "2000", "most requests that are held at once, at most 10000"},
    {"metric", KeyKind::kText, "concurrency", "`concurrency` or `rps`"},
    {"target", KeyKind::kText, "100",
     "how much of that metric one pod can take; with `rps` 200 when absent"},
    {"targetUtilizationPercentage", KeyKind::kText, "70",
     "percentage of `target` to aim for, 1 to 100"},
    {"window", KeyKind::kText, "60s", "time over which the metric is averaged, 6s to 1h"},
    {"panicWindowPercentage", KeyKind::kText, "10",
     "length of the panic window, as a percentage of `window`"},
    {"panicThresholdPercentage", KeyKind::kText, "200",
     "panic mode begins at this percentage of what the ready pods can take, 110 to 1000"},
    {"scaleDownDelay", KeyKind::kText, "0s",
     "how long fewer pods must have been enough before any is taken away, at most 1h"},
    {"scaleToZeroPodRetentionPeriod", KeyKind::kText, "0s",
     "how long the last pod stays without requests, at most 1h"},
    {"progressDeadline", KeyKind::kText, "600s",
     "how long a start from zero may take before its pods are given up, 30s later; a second or "
     "more"},
    {"activationScale", KeyKind::kText, "", "fewest replicas to start from zero with, 2 or more"},
    {"initialScale", KeyKind::kText, "1",
     "checked only: the target's own replicas say how many there are until the first is ready"},
    {"metricAggregationAlgorithm", KeyKind::kText, "linear",
     "how the window is averaged: `linear`, or `weighted-exponential`, where the newest seconds "
     "count most"},
    {"targetBurstCapacity", KeyKind::kText, "211",
     "checked and shown; all requests go through the Envoys whatever it says"},
};

class HttpTrigger : public Trigger {
 public:
  HttpTrigger(TriggerMetric metric, CarriedService service, std::shared_ptr<RequestFront> front)
      : metric_(std::move(metric)), service_(std::move(service)), front_(std::move(front)) {}

  absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration) override {
    return std::vector<TriggerMetric>{metric_};
  }

  std::vector<TriggerReading> Read(absl::Time now, absl::Duration) override {
    const RequestDemand demand = Demand();
    TriggerReading reading{.error = demand.error, .time = now, .front = demand.front};
    if (!demand.error.empty()) return {reading};
    reading.value_milli = int64_t{demand.replicas} * 1000;
    reading.active = demand.active;
    reading.replicas = demand.replicas;
    return {reading};
  }

  bool AnswersAtOnce() const override { return true; }

  void Subscribe(const std::function<void()>& on_change) override {
    if (front_ == nullptr) return;
    std::unique_ptr<RequestFront::Carried> carried = front_->Carry(service_, on_change);
    absl::MutexLock lock(&mutex_);
    carried_ = std::move(carried);
  }

 private:
  RequestDemand Demand() const {
    if (front_ == nullptr) {
      const std::string error = "no Envoy can carry its requests: the server needs --front-listen";
      return {.error = error,
              .front = FrontReadiness{.ready = false, .reason = "NotCarried", .message = error}};
    }
    absl::MutexLock lock(&mutex_);
    if (carried_ == nullptr) return {.error = "no Envoy carries its requests yet"};
    return carried_->Demand();
  }

  const TriggerMetric metric_;
  const CarriedService service_;
  const std::shared_ptr<RequestFront> front_;
  mutable absl::Mutex mutex_;
  std::unique_ptr<RequestFront::Carried> carried_ ABSL_GUARDED_BY(mutex_);
};

bool IsPort(absl::string_view text) {
  int32_t number = 0;
  if (absl::SimpleAtoi(text, &number)) return number >= 1 && number <= 65535;
  return text.size() <= 15 && kube::DnsLabelProblems(text).empty();
}

int32_t Limited(Metadata& metadata, absl::string_view key, int64_t least, int64_t most) {
  const int64_t number = metadata.Integer(key);
  if (number < least || number > most) {
    metadata.Wrong(key, absl::StrCat("must be from ", least, " to ", most));
    return 0;
  }
  return static_cast<int32_t>(number);
}

absl::Duration RequestTimeout(Metadata& metadata) {
  const std::string text = metadata.Text("requestTimeout");
  absl::Duration timeout;
  if (text.empty()) return timeout;
  if (!absl::ParseDuration(text, &timeout) || timeout < absl::ZeroDuration()) {
    metadata.Wrong("requestTimeout", "must be a duration like 30s, or 0s");
  } else if (timeout > kLongestRequestTimeout) {
    metadata.Wrong("requestTimeout", "must be at most 8760h; 0s is no limit");
  }
  return timeout;
}

RequestSettings ReadSettings(const TriggerPlan& plan, int32_t container_concurrency) {
  absl::StatusOr<RequestSettings> settings =
      knative::ReadRequestSettings(plan.spec.metadata, container_concurrency);
  if (settings.ok()) return *std::move(settings);
  for (const absl::string_view line : absl::StrSplit(settings.status().message(), '\n')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    plan.metadata.Wrong(parts.first, parts.second);
  }
  return {};
}

front::HostRoutes ReadHosts(Metadata& metadata) {
  absl::StatusOr<front::HostRoutes> routes = front::ReadHostRoutes(
      metadata.Text("hosts"), metadata.Text("pathPrefixes"), metadata.Text("headers"));
  if (routes.ok()) return *std::move(routes);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(routes.status().message(), absl::MaxSplits(": ", 1));
  metadata.Wrong(parts.first, parts.second);
  return {};
}

front::HttpService ReadService(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const TriggerContext& context = plan.context;
  front::HttpService out;
  out.name = absl::StrCat(context.ns, "/", context.autoscaler);
  out.front_service = metadata.Text("service");
  if (!out.front_service.empty() && !kube::DnsLabelProblems(out.front_service).empty()) {
    metadata.Wrong("service", "must be the name of a Service in the same namespace");
  }
  out.target_port = metadata.Text("targetPort");
  if (!out.target_port.empty() && !IsPort(out.target_port)) {
    metadata.Wrong("targetPort", "must be a port from 1 to 65535, or the name of a pod's port");
  }
  out.hosts = ReadHosts(metadata);
  out.container_concurrency = Limited(metadata, "containerConcurrency", 0, 1'000'000);
  out.queue = Limited(metadata, "queue", 1, kLongestQueue);
  out.activation_timeout = metadata.Duration("activationTimeout");
  if (out.activation_timeout > kLongestTimeout) {
    metadata.Wrong("activationTimeout", "must be at most 1h");
  }
  out.request_timeout = RequestTimeout(metadata);
  out.settings = ReadSettings(plan, out.container_concurrency);
  out.settings.min_scale = context.min_replicas;
  out.settings.max_scale = context.max_replicas;
  return out;
}

std::unique_ptr<Trigger> Make(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const TriggerContext& context = plan.context;
  CarriedService service{.ns = context.ns,
                         .autoscaler = context.autoscaler,
                         .target = context.target,
                         .http = ReadService(plan)};
  if (metadata.MetricType() == TargetType::kValue) {
    metadata.Wrong("", "metricType Value has no meaning here: leave it out");
  }
  TriggerMetric metric{.name = plan.MetricName(absl::StrCat("http-", service.http.front_service)),
                       .target_type = TargetType::kAverageValue,
                       .target_milli = 1000,
                       .exact = true};
  return std::make_unique<HttpTrigger>(std::move(metric), std::move(service), context.front);
}

}  // namespace

extern constinit const TriggerType kHttp{
    .name = kHttpTrigger,
    .says =
        "as many replicas as the requests to a service need, from zero up, by Knative's rules; "
        "Envoy carries the requests",
    .keys = {kKeys},
    .make = Make};

}  // namespace flyball::scaler
