#include "scaler/front/module/grpc/gate_service.h"

#include <utility>

#include "scaler/front/envoy/answers.h"
#include "scaler/front/envoy/names.h"
#include "scaler/front/module/grpc/front_time.h"
#include "scaler/front/module/grpc/peers.h"
#include "scaler/front/module/grpc/refused_call.h"

namespace flyball::front {

using GateReactor = grpc::ServerBidiReactor<envoy::ProcessingRequest, envoy::ProcessingResponse>;

// A call owns itself until OnDone, since the front may answer it while it ends. It ends when a read
// fails: the client is gone, or Envoy has nothing more to send about the request.
class GateService::Call : public GateReactor {
 public:
  Call(GateService& service, NodeId node, std::string name)
      : service_(service), node_(std::move(node)), name_(std::move(name)) {}

  static Call* Make(GateService& service, NodeId node, std::string name) {
    auto call = std::make_shared<Call>(service, std::move(node), std::move(name));
    call->self_ = call;
    if (service.MayRead(call.get())) call->Read();
    return call.get();
  }

  void Read() { StartRead(&incoming_); }

  // Sends the front's answer. `until_end`: the front wants to know when the request ends.
  void Answer(envoy::ProcessingResponse message, bool until_end) {
    absl::MutexLock lock(&mutex_);
    if (ended_ || std::exchange(answered_, true)) return;
    until_end_ = until_end;
    Write(std::move(message));
  }

 private:
  // Envoy waits for each answer before it sends more, so at most one message waits here.
  void Write(envoy::ProcessingResponse message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_) {
      next_ = std::move(message);
      return;
    }
    outgoing_ = std::move(message);
    writing_ = true;
    StartWrite(&outgoing_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return OnEnd();
    if (id_ == 0 && incoming_.has_request_headers()) {
      envoy::ProcessingRequest().Swap(&incoming_);  // it may be long, and the request may wait
      id_ = service_.Add(self_);
      service_.events_.OnRequest(id_, node_, name_, FrontTime(service_.clock_));
    } else if (auto pass = PassMessage(incoming_)) {
      absl::MutexLock lock(&mutex_);
      Write(std::move(*pass));
    }
    Read();
  }

  void OnEnd() {
    bool told = false, finish = false;
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;  // nothing is written from now on
      told = !answered_ || until_end_;
      finish = !writing_;
    }
    // This comes first, since another request may wait for the place of this one.
    if (id_ != 0) {
      service_.Drop(id_);
      if (told) service_.events_.OnRequestEnd(id_, FrontTime(service_.clock_));
    }
    if (finish) Finish(grpc::Status::OK);
  }

  void OnWriteDone(bool ok) override {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (ended_) {
      Finish(grpc::Status::OK);
    } else if (ok && next_) {
      Write(*std::exchange(next_, std::nullopt));
    }
  }

  void OnCancel() override {
    if (service_.StopWaiting(this)) Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override { const std::shared_ptr<Call> self = std::move(self_); }

  GateService& service_;
  const NodeId node_;
  const std::string name_;  // of the service
  std::shared_ptr<Call> self_;
  RequestId id_ = 0;  // this and the next are used by one read at a time
  envoy::ProcessingRequest incoming_;

  absl::Mutex mutex_;
  bool answered_ ABSL_GUARDED_BY(mutex_) = false;
  bool until_end_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  envoy::ProcessingResponse outgoing_;
  std::optional<envoy::ProcessingResponse> next_ ABSL_GUARDED_BY(mutex_);
};

namespace {

std::string HeaderOf(const grpc::CallbackServerContext& call, const char* name) {
  const auto found = call.client_metadata().find(name);
  if (found == call.client_metadata().end()) return "";
  return std::string(found->second.data(), found->second.size());
}

}  // namespace

GateReactor* GateService::Process(grpc::CallbackServerContext* call) {
  if (grpc::Status status = CheckPeer(*call, peer_name_); !status.ok()) {
    return new RefusedCall<GateReactor>(status);
  }
  std::string node = HeaderOf(*call, kNodeHeader);
  std::string name = HeaderOf(*call, kServiceHeader);
  if (node.empty() || name.empty()) {
    return new RefusedCall<GateReactor>(
        grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no service and node are named"));
  }
  return Call::Make(*this, std::move(node), std::move(name));
}

void GateService::Release(RequestId id, const std::optional<std::string>& pod) {
  if (const auto call = Find(id)) call->Answer(ReleaseMessage(pod), pod.has_value());
}

void GateService::Refuse(RequestId id, const Refusal& refusal) {
  if (const auto call = Find(id)) call->Answer(RefusalMessage(refusal), false);
}

void GateService::BeginServing() {
  absl::MutexLock lock(&mutex_);
  serving_ = true;
  for (Call* call : early_) call->Read();
  early_.clear();
}

bool GateService::MayRead(Call* call) {
  absl::MutexLock lock(&mutex_);
  if (!serving_) early_.insert(call);
  return serving_;
}

bool GateService::StopWaiting(Call* call) {
  absl::MutexLock lock(&mutex_);
  return early_.erase(call) > 0;
}

RequestId GateService::Add(std::shared_ptr<Call> call) {
  absl::MutexLock lock(&mutex_);
  calls_[++last_id_] = std::move(call);
  return last_id_;
}

void GateService::Drop(RequestId id) {
  absl::MutexLock lock(&mutex_);
  calls_.erase(id);
}

std::shared_ptr<GateService::Call> GateService::Find(RequestId id) {
  absl::MutexLock lock(&mutex_);
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : found->second;
}

}  // namespace flyball::front
