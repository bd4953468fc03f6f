// A server that speaks KEDA's protocol for external scalers. The type external polls it; with
// external-push it also pushes its activity.
//
// Source:  KEDA 2.20 external scaler.
// Differs: `…FromEnv` metadata are refused, since the target's environment is not read; a metric
//          without a target above zero is unknown, and one without a value asks for the replicas
//          that there are; IsActive is asked once, and counts although a metric is unknown;
//          streamed metric specs are not asked for.
#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "http/client/url.h"
#include "scaler/triggers/parts/clients.h"
#include "scaler/triggers/parts/metric_value.h"
#include "scaler/triggers/parts/secrets.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

constexpr MetadataKey kKeys[] = {
    {"scalerAddress", KeyKind::kText, kRequired, "the server: `host:port`"},
    {"enableTLS", KeyKind::kBool, "false",
     "whether TLS is used; with a `caCert` or a `tlsClientCert` it always is"},
    {"unsafeSsl", KeyKind::kBool, "false", "`true`: the server's certificate is not verified"},
    {"caCert", KeyKind::kSecret, "",
     "CA certificates (PEM) that the server's certificate is verified with"},
    {"tlsClientCert", KeyKind::kSecret, "", "the client's certificate (PEM)"},
    {"tlsClientKey", KeyKind::kSecret, "", "its key (PEM)"},
};

// For looking up the server's name before the first reading.
constexpr absl::Duration kSubscribeTimeout = absl::Seconds(5);
constexpr absl::Duration kLeftForEach = absl::Seconds(2);  // metric that is asked for later
constexpr size_t kMaxMetricName = 253;

struct ExternalOptions {
  bool push = false;
  size_t index = 0;
  TargetType target_type = TargetType::kAverageValue;
  ExternalAddress address = {};  // without CA, certificate and key, which come from Secrets
  ScaledObject object;
  std::shared_ptr<TriggerClients> clients;
  std::unique_ptr<Secrets> secrets;
};

class ExternalTrigger : public Trigger {
 public:
  explicit ExternalTrigger(ExternalOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration timeout) override {
    {
      absl::MutexLock lock(&mutex_);
      if (!known_.empty() && !ask_again_) return known_;
    }
    absl::StatusOr<std::vector<TriggerMetric>> asked = AskMetrics(timeout);
    absl::MutexLock lock(&mutex_);
    ask_again_ = !asked.ok();
    if (asked.ok()) known_ = *asked;
    if (known_.empty()) return Explained(asked.status());
    return known_;  // after a failure these stay, and the readings say what is wrong
  }

  std::string Server() const override { return options_.address.address; }

  std::vector<TriggerReading> Read(absl::Time now, absl::Duration timeout) override {
    const MonotonicTime deadline = Now() + timeout;
    // Activity that was pushed counts in one reading, whatever the server answers to the question.
    const bool pushed = pushed_.exchange(false);
    std::vector<TriggerReading> readings = Asked(now, deadline);
    for (TriggerReading& reading : readings) reading.active |= pushed;
    return readings;
  }

  void Subscribe(const std::function<void()>& on_active) override {
    if (!options_.push) return;
    {
      absl::MutexLock lock(&mutex_);
      on_active_ = [this, on_active] {
        pushed_ = true;
        on_active();
      };
      client_ = nullptr;  // so that Client opens a stream
    }
    (void)Client(kSubscribeTimeout);  // each reading tries again, and reports the error
  }

 private:
  MonotonicTime Now() const { return options_.clients->clock().MonotonicNow(); }

  std::vector<TriggerMetric> Known() {
    absl::MutexLock lock(&mutex_);
    return known_;
  }

  static TriggerReading Unknown(const absl::Status& status, absl::Time now) {
    return {.error = std::string(status.message()), .time = now};
  }

  absl::Status Explained(const absl::Status& status) const {
    return absl::Status(status.code(), absl::StrCat("external scaler ", options_.address.address,
                                                    ": ", absl::StatusCodeToString(status.code()),
                                                    ": ", status.message()));
  }

  // The client with the current Secrets. If they have changed, or if the last call failed and the
  // name now has other addresses, this is a new client, and the stream is opened anew on it.
  absl::StatusOr<std::shared_ptr<ExternalScaler>> Client(absl::Duration timeout) {
    ExternalAddress address = options_.address;
    ASSIGN_OR_RETURN(address.ca, options_.secrets->ReadPem("caCert"));
    ASSIGN_OR_RETURN(address.cert, options_.secrets->ReadPem("tlsClientCert"));
    ASSIGN_OR_RETURN(address.key, options_.secrets->ReadPem("tlsClientKey"));
    address.tls |= !address.ca.empty() || !address.cert.empty();
    {
      absl::MutexLock lock(&mutex_);
      if (client_ != nullptr && !ask_again_ && address == address_) return client_;
    }
    absl::StatusOr<std::shared_ptr<ExternalScaler>> client =
        options_.clients->External(options_.object.ns, address, timeout);
    // Both are ended outside the lock, as the stream waits for its callback.
    std::shared_ptr<ExternalScaler> old_client;
    std::unique_ptr<ActivityStream> old;
    absl::MutexLock lock(&mutex_);
    if (absl::IsResourceExhausted(client.status())) {
      // The old one counts against the limit, which the next attempt may need.
      old_client = std::move(client_);
      old = std::move(stream_);
    }
    RETURN_IF_ERROR(client.status());
    address_ = address;
    if (*client != client_) {
      old_client = std::exchange(client_, *client);
      old = std::move(stream_);
      if (on_active_) stream_ = client_->StreamIsActive(options_.object, on_active_);
    }
    return client;
  }

  absl::StatusOr<std::vector<TriggerMetric>> AskMetrics(absl::Duration timeout) {
    const MonotonicTime deadline = Now() + timeout;
    ASSIGN_OR_RETURN(const std::shared_ptr<ExternalScaler> client, Client(timeout));
    ASSIGN_OR_RETURN(const std::vector<ExternalMetricTarget> specs,
                     client->GetMetricSpec(options_.object, deadline - Now()));
    if (specs.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("it names 0 metrics, expected 1 to ", kMaxExternalMetrics));
    }
    std::vector<TriggerMetric> out;
    for (const ExternalMetricTarget& spec : specs) {
      if (spec.name.empty() || spec.name.size() > kMaxMetricName) {
        return absl::FailedPreconditionError("it gives a metric no name, or one that is too long");
      }
      const absl::StatusOr<int64_t> target = TargetMilli(spec.target);
      if (!target.ok()) {
        return absl::FailedPreconditionError(
            absl::StrCat("its target for metric ", out.size() + 1, " ", target.status().message()));
      }
      out.push_back({.name = absl::StrCat("s", options_.index, "-", spec.name),
                     .target_type = options_.target_type,
                     .target_milli = *target});
    }
    return out;
  }

  // The server's answers.
  std::vector<TriggerReading> Asked(absl::Time now, MonotonicTime deadline) {
    const auto left = [this, deadline] { return deadline - Now(); };
    // Those that Metrics returned last: if the server named others only now, their values would be
    // taken for values of the earlier ones.
    absl::StatusOr<std::vector<TriggerMetric>> metrics = Known();
    if (metrics->empty()) metrics = Metrics(left());
    if (!metrics.ok()) return {Unknown(metrics.status(), now)};
    const absl::StatusOr<std::shared_ptr<ExternalScaler>> client = Client(left());
    const absl::StatusOr<bool> active = client.ok() ? (*client)->IsActive(options_.object, left())
                                                    : absl::StatusOr<bool>(client.status());
    std::vector<TriggerReading> readings;
    bool failed = false;
    for (size_t i = 0; i < metrics->size(); ++i) {
      TriggerReading& reading = readings.emplace_back(TriggerReading{.time = now});
      // A call that hangs leaves some time for each call after it.
      const auto after = static_cast<int64_t>(metrics->size() - i - 1);
      const absl::Duration share = left() - after * std::min(kLeftForEach, left() / (after + 1));
      const absl::Status status =
          active.ok() ? ReadValue(**client, *metrics, i, share, reading) : active.status();
      if (!status.ok()) reading.error = std::string(Explained(status).message());
      failed |= !status.ok();  // without a value the metric may have another name by now
      reading.active = active.ok() && *active;
    }
    if (failed) {
      absl::MutexLock lock(&mutex_);
      ask_again_ = true;
    }
    return readings;
  }

  absl::Status ReadValue(ExternalScaler& client, const std::vector<TriggerMetric>& metrics,
                         size_t index, absl::Duration timeout, TriggerReading& reading) {
    const std::string& full = metrics[index].name;
    const std::string name = full.substr(full.find('-') + 1);
    ASSIGN_OR_RETURN(const std::vector<double> values,
                     client.GetMetrics(options_.object, name, timeout));
    reading.activity_only = values.empty();
    if (values.empty()) {
      return absl::FailedPreconditionError(absl::StrCat("it gives no value of metric ", index + 1));
    }
    double sum = 0;
    for (const double value : values) sum += value < 0 ? 0 : value;  // each by itself, as in KEDA
    ASSIGN_OR_RETURN(reading.value_milli, ValueMilli(sum));
    return absl::OkStatus();
  }

  const ExternalOptions options_;
  std::atomic<bool> pushed_{false};  // activity was pushed since the last reading
  absl::Mutex mutex_;
  std::shared_ptr<ExternalScaler> client_ ABSL_GUARDED_BY(mutex_);
  ExternalAddress address_ ABSL_GUARDED_BY(mutex_);  // the one that client_ was made for
  std::vector<TriggerMetric> known_ ABSL_GUARDED_BY(mutex_);
  bool ask_again_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_active_ ABSL_GUARDED_BY(mutex_);
  // Last, so that it is destroyed before everything that its callback uses.
  std::unique_ptr<ActivityStream> stream_ ABSL_GUARDED_BY(mutex_);
};

// Reads host:port, with the default port 443 and an optional `dns:///` before it. The other kinds
// of addresses that gRPC knows are refused, since sockets of this machine are among them.
void ReadAddress(Metadata& metadata, ExternalAddress& address) {
  const std::string text = metadata.Text("scalerAddress");
  if (text.empty()) return;
  address.address = std::string(absl::StripPrefix(text, "dns:///"));
  const absl::StatusOr<http::Url> url = http::Url::Parse(absl::StrCat("https://", address.address));
  if (!url.ok() || address.address.find_first_of("/?#@") != std::string::npos) {
    return metadata.Wrong("scalerAddress", "expected host:port");
  }
  address.host = url->host;
  address.port = static_cast<uint16_t>(url->port);
}

std::unique_ptr<Trigger> Make(const TriggerPlan& plan, bool push) {
  Metadata& metadata = plan.metadata;
  ExternalOptions options{.push = push,
                          .index = plan.context.index,
                          .target_type = metadata.MetricType(),
                          .object = {.name = plan.context.autoscaler,
                                     .ns = plan.context.ns,
                                     .metadata = plan.spec.metadata},
                          .clients = plan.context.clients,
                          .secrets = nullptr};
  ReadAddress(metadata, options.address);
  options.secrets = std::make_unique<Secrets>(plan, options.address.host, options.address.port);
  options.address.tls = metadata.Bool("enableTLS");
  options.address.skip_verify = metadata.Bool("unsafeSsl");
  if (options.secrets->Has("tlsClientCert") != options.secrets->Has("tlsClientKey")) {
    metadata.Wrong("", "tlsClientCert and tlsClientKey must be given together");
  }
  for (const auto& [key, value] : plan.spec.metadata) {
    if (absl::EndsWith(key, "FromEnv")) {
      metadata.Wrong(key, "the target's environment is not read; write the value");
    }
  }
  return std::make_unique<ExternalTrigger>(std::move(options));
}

}  // namespace

extern constinit const TriggerType kExternal{
    .name = "external",
    .says = "the values of a KEDA external scaler (gRPC); other keys are handed to it",
    .keys = {kKeys},
    .make = [](const TriggerPlan& plan) { return Make(plan, false); }};
extern constinit const TriggerType kExternalPush{
    .name = "external-push",
    .says =
        "the values of a KEDA external scaler that also pushes its activity, which is acted on at "
        "once",
    .keys = {kKeys},
    .make = [](const TriggerPlan& plan) { return Make(plan, true); }};

}  // namespace flyball::scaler
