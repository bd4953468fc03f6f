// The number of pods of another workload in the namespace. Source: KEDA 2.20 kubernetes-workload.
#include "absl/strings/str_cat.h"
#include "scaler/triggers/makers.h"
#include "scaler/triggers/metric_value.h"

namespace flyball::scaler {
namespace {

class KubernetesWorkloadTrigger : public Trigger {
 public:
  struct Options {
    TriggerMetric metric;
    std::string ns;
    kube::Selector selector;
    bool by_node = false;
    double activation = 0;
    decltype(TriggerContext::count_pods) count_pods;
  };

  explicit KubernetesWorkloadTrigger(Options options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<TriggerMetric>> Metrics(absl::Duration) override {
    return std::vector<TriggerMetric>{options_.metric};
  }

  std::vector<TriggerReading> Read(absl::Time now, absl::Duration) override {
    const absl::StatusOr<int64_t> count =
        options_.count_pods(options_.ns, options_.selector, options_.by_node);
    if (!count.ok()) {
      return {{.error = absl::StrCat("pods of ", options_.selector.ToString(), ": ",
                                     count.status().message()),
               .time = now}};
    }
    return {{.value_milli = *count * 1000,
             .active = static_cast<double>(*count) > options_.activation,
             .time = now}};
  }

 private:
  const Options options_;
};

}  // namespace

std::unique_ptr<Trigger> MakeKubernetesWorkload(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const std::string selector_text = metadata.RequiredText("podSelector");
  const absl::StatusOr<kube::Selector> selector = kube::Selector::Parse(selector_text);
  if (!selector.ok()) metadata.Wrong("podSelector", selector.status().message());
  KubernetesWorkloadTrigger::Options options{
      .metric = {.name = plan.MetricName(absl::StrCat("workload-", plan.context.ns)),
                 .target_type = metadata.MetricType(),
                 .target_milli = metadata.RequiredTarget("value")},
      .ns = plan.context.ns,
      .selector = selector.value_or(kube::Selector()),
      .by_node = metadata.Bool("groupByNode", false),
      .activation = metadata.Number("activationValue", 0),
      .count_pods = plan.context.count_pods};
  if (!options.count_pods) metadata.Wrong("", "pods are not known here");
  return std::make_unique<KubernetesWorkloadTrigger>(std::move(options));
}

}  // namespace flyball::scaler
