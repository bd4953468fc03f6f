// The module that speaks gRPC. The program sees only the symbol at the end of this file.
#include <grpc/compression.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "external_scaler.grpc.pb.h"
#include "scaler/triggers/external/external_scaler.h"
#include "scaler/triggers/external/module.h"
#include "scaler/triggers/external/module/credentials.h"
#include "scaler/triggers/external/stream_backoff.h"

namespace flyball::scaler {
namespace {

namespace proto = externalscaler;

// An answer of empty entries is forty times its size once it is parsed.
constexpr int kMaxMessageBytes = 64 << 10;
// Messages with one bool have a smaller limit: an open stream keeps its last message in memory, and
// there may be thousands of streams.
constexpr char kServiceConfig[] = R"({"methodConfig": [{
  "name": [{"service": "externalscaler.ExternalScaler", "method": "IsActive"},
           {"service": "externalscaler.ExternalScaler", "method": "StreamIsActive"}],
  "maxResponseMessageBytes": 4096}]})";
// The pause after a message of a stream that says active, for which a decision is made; it is the
// shortest cadence. Others cost little, but a server may send as many as it likes.
constexpr absl::Duration kAfterActive = absl::Milliseconds(200);
constexpr absl::Duration kAfterInactive = absl::Milliseconds(50);
// What a server may send ahead on a stream that is not being read. Messages queue in that many
// bytes, which also bounds how old they are when a server sends too many.
constexpr int kReadAheadBytes = 1 << 10;

gpr_timespec In(absl::Duration duration) {
  const int64_t ms = std::max<int64_t>(absl::ToInt64Milliseconds(duration), 0);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

absl::string_view Meaning(grpc::StatusCode code, bool connected) {
  switch (code) {
    case grpc::StatusCode::UNAVAILABLE:
      return connected ? "the server is not available"
                       : "no connection: refused, no route to it, TLS failed, or the server "
                         "shows more than 8 KiB of certificates, 100 names, or 16 KiB of names of "
                         "authorities";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return connected ? "no answer in time" : "no connection in time";
    case grpc::StatusCode::CANCELLED: return "the call was ended";
    case grpc::StatusCode::UNIMPLEMENTED:
      return "the server does not speak the protocol of external scalers";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "the server refuses, or its answer is too large (64 KiB; 4 KiB for IsActive)";
    default: return "the server fails";
  }
}

// gRPC's own messages about an answer that it did not unpack: it refuses the encoding, or finds no
// message of the protocol. A server that sends the same text is told the same, which does no harm.
bool IsUnreadable(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
         (absl::StartsWith(status.error_message(), "Compression algorithm") ||
          absl::StartsWith(status.error_message(), "No message returned"));
}

// gRPC's codes have the same numbers as absl's.
absl::Status ToStatus(const grpc::Status& status, bool connected) {
  if (status.ok()) return absl::OkStatus();
  if (IsUnreadable(status)) {
    return absl::FailedPreconditionError(
        "the answer can't be read: it is compressed (only grpc-encoding identity is read), or it "
        "is not of the protocol of external scalers");
  }
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      Meaning(status.error_code(), connected));
}

// If the fraction is not above 0 the whole number counts, as in KEDA. A fraction that is NaN
// counts, so that the value is unknown instead of 0.
double ValueOf(const proto::MetricValue& value) {
  const double fraction = value.metricvaluefloat();
  return fraction > 0 || std::isnan(fraction) ? fraction : static_cast<double>(value.metricvalue());
}

proto::ScaledObjectRef ToProto(const ScaledObject& object) {
  proto::ScaledObjectRef out;
  out.set_name(object.name);
  out.set_namespace_(object.ns);
  for (const auto& [key, value] : object.metadata) (*out.mutable_scalermetadata())[key] = value;
  return out;
}

std::shared_ptr<grpc::Channel> Dial(const ExternalAddress& address) {
  grpc::ChannelArguments arguments;
  arguments.SetLoadBalancingPolicyName("round_robin");
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetServiceConfigJSON(kServiceConfig);
  // gRPC limits the size of a message before it unpacks it and not while it does, so that an answer
  // below the limit could take a thousand times as much. Requests say that no encoding is accepted,
  // and the answer of a server that uses one all the same is refused.
  arguments.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  arguments.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Otherwise equal channels would share a connection, even those of two namespaces.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 500);
  // How long an attempt to connect may take at least, by gRPC's definition.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 10'000);
  // The shortest interval that a server with gRPC's defaults tolerates is 5 minutes.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 310'000);
  // By its measurements gRPC would let a fast server send megabytes ahead.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kReadAheadBytes);
  // gRPC gets addresses and does not look up names, since the caller has looked up the name and
  // checked the addresses.
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, address.address);
  const bool v6 = !address.endpoints.empty() && address.endpoints[0][0] == '[';
  const std::string target =
      absl::StrCat(v6 ? "ipv6:" : "ipv4:", absl::StrJoin(address.endpoints, ","));
  return grpc::CreateCustomChannel(target, CredentialsFor(address), arguments);
}

class StreamLoop : public ActivityStream {
 public:
  StreamLoop(const std::shared_ptr<grpc::Channel>& channel, const ScaledObject& object,
             std::function<void()> on_active)
      : stub_(proto::ExternalScaler::NewStub(channel)),
        request_(ToProto(object)),
        on_active_(std::move(on_active)) {
    absl::MutexLock lock(&mutex_);
    Begin();
  }

  ~StreamLoop() override {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    if (attempt_ != nullptr) attempt_->Cancel();
    if (alarm_ != nullptr) alarm_->Cancel();
    mutex_.Await(absl::Condition(
        +[](StreamLoop* loop) ABSL_NO_THREAD_SAFETY_ANALYSIS { return !loop->running_; }, this));
  }

 private:
  // One call of StreamIsActive.
  class Attempt : public grpc::ClientReadReactor<proto::IsActiveResponse> {
   public:
    Attempt(StreamLoop& loop, proto::ExternalScaler::Stub& stub) : loop_(loop) {
      stub.async()->StreamIsActive(&context_, &loop.request_, this);
      StartRead(&response_);
      StartCall();
    }
    void Cancel() {
      context_.TryCancel();
      if (pause_ != nullptr) pause_->Cancel();
    }
    void ReadAfter(absl::Duration pause) {
      AddHold();  // or gRPC could end the call before the read has begun
      pause_ = std::make_unique<grpc::Alarm>();
      pause_->Set(In(pause), [this](bool) {
        StartRead(&response_);
        RemoveHold();
      });
    }

   private:
    void OnReadDone(bool ok) override {
      if (!ok) return;
      loop_.OnMessage(response_.result());
    }
    void OnDone(const grpc::Status&) override { loop_.OnEnd(); }

    StreamLoop& loop_;
    grpc::ClientContext context_;
    proto::IsActiveResponse response_;
    std::unique_ptr<grpc::Alarm> pause_;
  };

  void Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    attempt_ = std::make_unique<Attempt>(*this, *stub_);
  }

  void OnMessage(bool active) {
    {
      absl::MutexLock lock(&mutex_);
      failures_ = 0;
      if (stopped_) return;
    }
    if (active) on_active_();
    absl::MutexLock lock(&mutex_);
    if (!stopped_) attempt_->ReadAfter(active ? kAfterActive : kAfterInactive);
  }

  void OnEnd() {
    absl::MutexLock lock(&mutex_);
    // The attempt calls this, and gRPC allows to delete it here. That must happen before the
    // destructor goes on: the attempt's context holds the channel, whose last owner must not be one
    // of gRPC's own threads.
    attempt_.reset();
    if (stopped_) {
      running_ = false;
      return;
    }
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(In(StreamBackoff(failures_++, absl::Uniform(random_, 0.0, 1.0))),
                [this](bool) { OnAlarm(); });
  }

  void OnAlarm() {
    absl::MutexLock lock(&mutex_);
    if (stopped_) {
      running_ = false;
    } else {
      Begin();
    }
  }

  const std::unique_ptr<proto::ExternalScaler::Stub> stub_;
  const proto::ScaledObjectRef request_;
  const std::function<void()> on_active_;

  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool running_ ABSL_GUARDED_BY(mutex_) = true;  // an attempt or an alarm will still call back
  int failures_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::BitGen random_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Attempt> attempt_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mutex_);
};

class GrpcExternalScaler : public ExternalScaler {
 public:
  explicit GrpcExternalScaler(const ExternalAddress& address)
      : channel_(Dial(address)), stub_(proto::ExternalScaler::NewStub(channel_)) {}

  absl::StatusOr<bool> IsActive(const ScaledObject& object, absl::Duration timeout) override {
    proto::IsActiveResponse response;
    RETURN_IF_ERROR(Call(timeout, [&](grpc::ClientContext& context) {
      return stub_->IsActive(&context, ToProto(object), &response);
    }));
    return response.result();
  }

  absl::StatusOr<std::vector<ExternalMetricTarget>> GetMetricSpec(const ScaledObject& object,
                                                                  absl::Duration timeout) override {
    proto::GetMetricSpecResponse response;
    RETURN_IF_ERROR(Call(timeout, [&](grpc::ClientContext& context) {
      return stub_->GetMetricSpec(&context, ToProto(object), &response);
    }));
    if (response.metricspecs_size() > kMaxExternalMetrics) {
      return absl::FailedPreconditionError(absl::StrCat("it names ", response.metricspecs_size(),
                                                        " metrics, expected 1 to ",
                                                        kMaxExternalMetrics));
    }
    std::vector<ExternalMetricTarget> out;
    for (const proto::MetricSpec& spec : response.metricspecs()) {
      out.push_back({.name = spec.metricname(),
                     .target = spec.targetsizefloat() > 0
                                   ? spec.targetsizefloat()
                                   : static_cast<double>(spec.targetsize())});
    }
    return out;
  }

  absl::StatusOr<std::vector<double>> GetMetrics(const ScaledObject& object,
                                                 const std::string& metric,
                                                 absl::Duration timeout) override {
    proto::GetMetricsRequest request;
    *request.mutable_scaledobjectref() = ToProto(object);
    request.set_metricname(metric);
    proto::GetMetricsResponse response;
    RETURN_IF_ERROR(Call(timeout, [&](grpc::ClientContext& context) {
      return stub_->GetMetrics(&context, request, &response);
    }));
    if (response.metricvalues_size() > kMaxExternalValues) {
      return absl::FailedPreconditionError(absl::StrCat("it gives ", response.metricvalues_size(),
                                                        " values of one metric, expected 1 to ",
                                                        kMaxExternalValues));
    }
    std::vector<double> out;
    for (const proto::MetricValue& value : response.metricvalues()) out.push_back(ValueOf(value));
    return out;
  }

  std::unique_ptr<ActivityStream> StreamIsActive(const ScaledObject& object,
                                                 std::function<void()> on_active) override {
    return std::make_unique<StreamLoop>(channel_, object, std::move(on_active));
  }

  void Shutdown() override {
    absl::MutexLock lock(&mutex_);
    shut_ = true;
    for (grpc::ClientContext* context : under_way_) context->TryCancel();
  }

 private:
  template <typename F>
  absl::Status Call(absl::Duration timeout, F call) {
    grpc::ClientContext context;
    context.set_deadline(In(timeout));
    {
      absl::MutexLock lock(&mutex_);
      if (shut_) return absl::CancelledError("shutting down");
      under_way_.insert(&context);
    }
    const grpc::Status answered = call(context);
    const bool connected = channel_->GetState(false) == GRPC_CHANNEL_READY;
    absl::Status status = ToStatus(answered, connected);
    absl::MutexLock lock(&mutex_);
    under_way_.erase(&context);
    return status;
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<proto::ExternalScaler::Stub> stub_;
  absl::Mutex mutex_;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> under_way_ ABSL_GUARDED_BY(mutex_);
};

std::shared_ptr<ExternalScaler> Make(const ExternalAddress& address) {
  return std::make_shared<GrpcExternalScaler>(address);
}

// gRPC's function for its log has no argument of ours.
std::atomic<void (*)(absl::string_view)> log_function = nullptr;

void LogTo(void (*log)(absl::string_view message)) {
  log_function = log;
  gpr_set_log_function([](gpr_log_func_args* line) { log_function.load()(line->message); });
}

}  // namespace
}  // namespace flyball::scaler

extern "C" {
extern __attribute__((visibility("default")))
const flyball::scaler::ExternalModule flyball_external_module;
const flyball::scaler::ExternalModule flyball_external_module = {
    .interface = FLYBALL_EXTERNAL_INTERFACE,
    .make = flyball::scaler::Make,
    .log_to = flyball::scaler::LogTo};
}
