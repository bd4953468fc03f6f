#include "scaler/front/module/grpc/ads_service.h"

#include <optional>
#include <utility>

#include "scaler/front/module/grpc/front_time.h"
#include "scaler/front/module/grpc/late_verdicts.h"
#include "scaler/front/module/grpc/peers.h"
#include "scaler/front/module/grpc/refused_call.h"

namespace flyball::front {

using AdsReactor =
    grpc::ServerBidiReactor<envoy::DeltaDiscoveryRequest, envoy::DeltaDiscoveryResponse>;

// All fields but the message that is read are guarded by the service's lock. A stream ends when a
// read fails, as every stream does at some time, and deletes itself.
class AdsService::Stream : public AdsReactor {
 public:
  Stream(AdsService& service, bool ipv6)
      : service_(service),
        delta_(service.table_, ipv6),
        late_(std::in_place, [this](const DeltaStream::Verdict& verdict) {
          service_.Tell(*this, node_, /*first=*/false, /*returning=*/false, verdict);
        }) {
    absl::MutexLock lock(&service_.mutex_);
    service_.streams_.insert(this);
    if (service_.serving_) Read();
  }

  // Tells the compiler's thread-safety analysis that the stream's service is the one whose lock is
  // held.
  void AssertLocked() const ABSL_ASSERT_EXCLUSIVE_LOCK(service_.mutex_) {
    service_.mutex_.AssertHeld();
  }

  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(service_.mutex_) {
    if (ended_) return;
    reading_ = true;
    StartRead(&request_);
  }

  void OnChange(ResourceKind kind, const std::string& name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(service_.mutex_) {
    delta_.OnChange(kind, name);
    WriteNext();
  }

 private:
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(service_.mutex_) {
    if (writing_ || ended_) return;
    auto next = delta_.Next();
    if (!next) return;
    response_ = std::move(*next);
    writing_ = true;
    StartWrite(&response_);
  }

  void End(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(service_.mutex_) {
    if (ended_) return;
    ended_ = true;
    status_ = status;
    if (!writing_) Finish(status_);
  }

  void OnReadDone(bool ok) override {
    DeltaStream::Verdict verdict;
    bool first = false;
    {
      absl::MutexLock lock(&service_.mutex_);
      if (!ok) return End(grpc::Status::OK);
      first = delta_.node().empty();
      verdict = delta_.OnRequest(request_);
      if (delta_.node().empty()) {
        return End(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "the node has no id"));
      }
      node_ = delta_.node();
      WriteNext();
    }
    if (!first && verdict.kind == ResourceKind::kEndpoints) {
      late_->Add(std::move(verdict));
    } else {
      service_.Tell(*this, node_, first, delta_.returning(), verdict);
    }
    absl::MutexLock lock(&service_.mutex_);
    Read();
  }

  void OnWriteDone(bool ok) override {
    absl::MutexLock lock(&service_.mutex_);
    writing_ = false;
    if (ended_) {
      Finish(status_);
    } else if (ok) {
      WriteNext();
    }
  }

  // A stream that waits for BeginServing has no read under way that could fail.
  void OnCancel() override {
    absl::MutexLock lock(&service_.mutex_);
    if (!reading_) End(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    late_.reset();
    {
      absl::MutexLock lock(&service_.mutex_);
      service_.streams_.erase(this);
    }
    if (!node_.empty()) service_.TellGone(*this, node_);
    delete this;
  }

  AdsService& service_;
  DeltaStream delta_;
  std::optional<LateVerdicts> late_;
  std::string node_;  // written by the first read, before anyone else reads it
  bool reading_ = false;
  bool writing_ = false;
  bool ended_ = false;
  grpc::Status status_;
  envoy::DeltaDiscoveryRequest request_;
  envoy::DeltaDiscoveryResponse response_;
};

AdsReactor* AdsService::DeltaAggregatedResources(grpc::CallbackServerContext* call) {
  if (grpc::Status status = CheckPeer(*call, peer_name_); !status.ok()) {
    return new RefusedCall<AdsReactor>(status);
  }
  return new Stream(*this, CameByIpv6(*call));
}

void AdsService::Put(Resource resource, uint64_t version) {
  const ResourceKind kind = KindOf(resource);
  const std::string service = ServiceOf(resource);
  absl::MutexLock lock(&mutex_);
  table_.Put(std::move(resource), version);
  OnChange(kind, service);
}

void AdsService::Remove(ResourceKind kind, const std::string& service) {
  absl::MutexLock lock(&mutex_);
  table_.Remove(kind, service);
  OnChange(kind, service);
}

void AdsService::OnChange(ResourceKind kind, const std::string& service) {
  for (Stream* stream : streams_) {
    stream->AssertLocked();
    stream->OnChange(kind, service);
  }
}

void AdsService::BeginServing(const std::vector<std::string>& kept) {
  absl::MutexLock lock(&mutex_);
  if (std::exchange(serving_, true)) return;
  for (const std::string& service : kept) table_.Keep(service);
  for (Stream* stream : streams_) {
    stream->AssertLocked();
    stream->Read();
  }
}

void AdsService::Tell(const Stream& stream, const std::string& node, bool first, bool returning,
                      const DeltaStream::Verdict& verdict) {
  absl::MutexLock lock(&telling_);
  const absl::Time now = FrontTime(clock_);
  if (first) {
    newest_[node] = &stream;
    events_.OnEnvoy(node, returning, now);
  }
  if (newest_[node] != &stream) return;
  for (const auto& [service, version] : verdict.accepted) {
    events_.OnAck(node, verdict.kind, service, version, now);
  }
  if (!verdict.refused.empty()) {
    events_.OnNack(node, verdict.kind, verdict.refused, verdict.why_refused, now);
  }
}

void AdsService::TellGone(const Stream& stream, const std::string& node) {
  absl::MutexLock lock(&telling_);
  const auto newest = newest_.find(node);
  if (newest == newest_.end() || newest->second != &stream) return;
  newest_.erase(newest);
  events_.OnEnvoyGone(node, FrontTime(clock_));
}

}  // namespace flyball::front
