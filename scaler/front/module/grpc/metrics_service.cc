#include "scaler/front/module/grpc/metrics_service.h"

#include "scaler/front/envoy/load_report.h"
#include "scaler/front/module/grpc/front_time.h"
#include "scaler/front/module/grpc/peers.h"
#include "scaler/front/module/grpc/refused_call.h"

namespace flyball::front {

using MetricsReactor = grpc::ServerReadReactor<envoy::StreamMetricsMessage>;

constexpr size_t kLongestNode = 512;  // bytes; a pod's name has no more than 253

// The first message names the node. It deletes itself.
class MetricsService::Stream : public MetricsReactor {
 public:
  explicit Stream(MetricsService& service) : service_(service) { StartRead(&report_); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    if (report_.has_identifier()) node_ = report_.identifier().node().id();
    if (!node_.empty() && node_.size() <= kLongestNode) {
      service_.events_.OnLoad(node_, LoadOf(report_), FrontTime(service_.clock_));
    }
    StartRead(&report_);
  }
  void OnDone() override { delete this; }

  MetricsService& service_;
  NodeId node_;
  envoy::StreamMetricsMessage report_;
};

MetricsReactor* MetricsService::StreamMetrics(grpc::CallbackServerContext* call,
                                              envoy::StreamMetricsResponse* /*response*/) {
  if (grpc::Status status = CheckPeer(*call, peer_name_); !status.ok()) {
    return new RefusedCall<MetricsReactor>(status);
  }
  return new Stream(*this);
}

}  // namespace flyball::front
