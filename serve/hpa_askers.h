// Who asks for an external metric, as the API server tells: the HorizontalPodAutoscalers of the
// request's namespace, and the scales of those that ask.
//
// Thread-safe; no threads of its own. Nothing is asked until a source fails. A list of HPAs is kept
// for kKeepList, and asked for once for all who need it at the same time; scales are asked for each
// time, since somebody else may have changed them. Needs the rights to list
// HorizontalPodAutoscalers and to get their targets' scale.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapter/metric_askers.h"
#include "base/clock.h"
#include "base/expiring_cache.h"
#include "base/single_flight.h"
#include "http/client/transport.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::serve {

class HpaAskers : public adapter::MetricAskers {
 public:
  static constexpr absl::Duration kKeepList = absl::Seconds(5);
  static constexpr absl::Duration kTimeout = absl::Seconds(5);  // of each call
  // Of one question; more are an error.
  static constexpr size_t kMaxAskers = 20;

  // `kinds`: what the cluster knows now. The clock outlives this.
  HpaAskers(std::unique_ptr<http::HttpTransport> server, Clock& clock,
            std::function<std::shared_ptr<const kube::RestMapper>()> kinds)
      : server_(std::move(server)),
        clock_(clock),
        client_(*server_, clock, kTimeout),
        kinds_(std::move(kinds)),
        lists_(clock, "list of HorizontalPodAutoscalers") {}

  absl::StatusOr<std::vector<adapter::MetricAsker>> Of(
      const adapter::ExternalMetricRequest& request) override;
  // Ends the calls under way, and lets no others begin.
  void Shutdown();

 private:
  // An HPA, without what is not asked for here.
  struct Hpa {
    std::string name;
    scaler::ObjectReference target;
    int32_t min = 0, max = 0;
    struct Metric {
      std::string name, selector;
      std::optional<int64_t> average_milli;
    };
    std::vector<Metric> external;
  };
  using HpasPtr = std::shared_ptr<const std::vector<Hpa>>;
  class Lister;

  absl::StatusOr<HpasPtr> HpasOf(const std::string& ns);
  absl::StatusOr<HpasPtr> List(const std::string& ns);
  // Fills the replicas.
  absl::Status Look(const std::string& ns, const Hpa& hpa, adapter::MetricAsker& asker);

  const std::unique_ptr<http::HttpTransport> server_;
  Clock& clock_;
  kube::ApiClient client_;
  const std::function<std::shared_ptr<const kube::RestMapper>()> kinds_;
  SingleFlight<HpasPtr> lists_;
  ExpiringCache<HpasPtr> kept_{/*max_entries=*/1000, /*max_bytes=*/32 << 20};
};

}  // namespace flyball::serve
