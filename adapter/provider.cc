#include "adapter/provider.h"

#include <utility>

#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

// The standing request of providers that cannot tell whether an answer is the same as the last one.
class AskedOneByOne : public StandingExternal {
 public:
  AskedOneByOne(ExternalMetricsProvider& provider, std::vector<ExternalMetricRequest> requests)
      : provider_(provider), requests_(std::move(requests)) {}

  std::vector<absl::StatusOr<StandingAnswer<ExternalMetricList>>> Ask(
      absl::Duration timeout) override {
    std::vector<absl::StatusOr<StandingAnswer<ExternalMetricList>>> answers;
    for (ExternalMetricRequest& request : requests_) {
      request.timeout = timeout;
      auto list = provider_.Get(request);
      if (list.ok()) {
        answers.push_back(StandingAnswer<ExternalMetricList>{.list = *std::move(list)});
      } else {
        answers.push_back(list.status());
      }
    }
    return answers;
  }

 private:
  ExternalMetricsProvider& provider_;
  std::vector<ExternalMetricRequest> requests_;
};

class PodsAskedAnew : public StandingPods {
 public:
  PodsAskedAnew(ResourceMetricsProvider& provider, std::string ns, kube::Selector selector)
      : provider_(provider), ns_(std::move(ns)), selector_(std::move(selector)) {}

  absl::StatusOr<StandingAnswer<ResourceMetricList<PodMetrics>>> Ask(
      absl::Duration timeout) override {
    StandingAnswer<ResourceMetricList<PodMetrics>> answer;
    ASSIGN_OR_RETURN(answer.list,
                     provider_.Pods(ns_, "", {.labels = selector_, .others = nullptr}, timeout));
    return answer;
  }

 private:
  ResourceMetricsProvider& provider_;
  const std::string ns_;
  const kube::Selector selector_;
};

}  // namespace

std::unique_ptr<StandingExternal> ExternalMetricsProvider::Stand(
    std::vector<ExternalMetricRequest> requests) {
  return std::make_unique<AskedOneByOne>(*this, std::move(requests));
}

std::unique_ptr<StandingPods> ResourceMetricsProvider::StandPods(std::string ns,
                                                                 kube::Selector selector,
                                                                 PodAmounts /*wanted*/) {
  return std::make_unique<PodsAskedAnew>(*this, std::move(ns), std::move(selector));
}

}  // namespace flyball::adapter
