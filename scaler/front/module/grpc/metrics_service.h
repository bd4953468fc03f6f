// Receives the statistics that each Envoy sends a few times a second on one stream.
//
// Thread-safe; it keeps only the streams.
#pragma once

#include <string>

#include "base/clock.h"
#include "metrics.grpc.pb.h"
#include "scaler/front/data_path.h"

namespace flyball::front {

class MetricsService final : public ::envoy::service::metrics::v3::MetricsService::CallbackService {
 public:
  MetricsService(const Clock& clock, std::string peer_name, DataPathEvents& events)
      : clock_(clock), peer_name_(std::move(peer_name)), events_(events) {}

  grpc::ServerReadReactor<envoy::StreamMetricsMessage>* StreamMetrics(
      grpc::CallbackServerContext* call, envoy::StreamMetricsResponse* response) override;

 private:
  class Stream;

  const Clock& clock_;
  const std::string peer_name_;
  DataPathEvents& events_;
};

}  // namespace flyball::front
