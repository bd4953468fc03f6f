// Finds the HorizontalPodAutoscalers that ask for an external metric through the API server: the
// HPAs of the request's namespace, and the scales of those that use the metric.
//
// Thread-safe; no threads of its own. Nothing is requested until a source fails. Nothing is cached:
// an answer must not be older than what the HPA's controller knows. Callers with the same question
// while a lookup is under way share the next lookup, which begins when that one has ended. Needs
// the rights to list HorizontalPodAutoscalers and to get their targets' scale.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "adapter/metric_askers.h"
#include "base/clock.h"
#include "base/single_flight.h"
#include "http/client/transport.h"
#include "http/server/room.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::serve {

class HpaAskers : public adapter::MetricAskers {
 public:
  // Limit for a question; a call that began within it may take as long again.
  static constexpr absl::Duration kTimeout = absl::Seconds(5);
  // Limit for one question; more are an error.
  static constexpr size_t kMaxAskers = 20;
  // Questions that are looked at at the same time; others wait. Each reads all HPAs of a namespace.
  static constexpr int kMaxLooks = 8;

  // `kinds`: those that the cluster has now. The clock outlives this.
  HpaAskers(std::unique_ptr<http::HttpTransport> server, Clock& clock,
            std::function<std::shared_ptr<const kube::RestMapper>()> kinds)
      : server_(std::move(server)),
        clock_(clock),
        client_(*server_, clock, kTimeout),
        kinds_(std::move(kinds)),
        looks_(clock, "look at HorizontalPodAutoscalers"),
        places_({.all = kMaxLooks}, clock) {}

  absl::StatusOr<std::vector<adapter::MetricAsker>> Of(
      const adapter::ExternalMetricRequest& request) override;
  // Ends the calls under way, and refuses new ones.
  void Shutdown();

 private:
  // The fields of an HPA that are needed here.
  struct Hpa {
    std::string name;
    scaler::ObjectReference target;
    int32_t min = 0, max = 0;
    struct Metric {
      std::string name, selector;
      std::optional<int64_t> average_milli, value_milli;
    };
    std::vector<Metric> external;
  };
  using AskersOr = absl::StatusOr<std::vector<adapter::MetricAsker>>;
  class Lister;
  // Callers with the same question. Guarded by mutex_.
  struct Line {
    int askers = 0;
    int64_t looks = 0;  // number of lookups that have begun
    bool idle = true;
  };

  absl::StatusOr<std::vector<Hpa>> List(const std::string& ns);
  AskersOr LookFor(const adapter::ExternalMetricRequest& request, MonotonicTime deadline);
  // Fills the replicas.
  absl::Status Look(const std::string& ns, const Hpa& hpa, adapter::MetricAsker& asker);

  const std::unique_ptr<http::HttpTransport> server_;
  Clock& clock_;
  kube::ApiClient client_;
  const std::function<std::shared_ptr<const kube::RestMapper>()> kinds_;
  SingleFlight<std::vector<adapter::MetricAsker>> looks_;
  http::Room places_;  // of looks
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<Line>> lines_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::serve
