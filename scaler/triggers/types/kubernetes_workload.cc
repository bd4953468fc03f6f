// The number of pods of another workload in the namespace. Source: KEDA 2.20 kubernetes-workload.
#include "absl/strings/str_cat.h"
#include "scaler/triggers/parts/one_metric_trigger.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

constexpr MetadataKey kKeys[] = {
    {"podSelector", KeyKind::kText, kRequired,
     "which pods are counted: a label selector such as `app=worker,tier in (a,b)`"},
    {"value", KeyKind::kTarget, kRequired, "number of these pods for each replica"},
    {"groupByNode", KeyKind::kBool, "false", "`true`: the nodes of these pods are counted instead"},
    {"activationValue", KeyKind::kNumber, "0", "the trigger is active above this number"},
};

// Each of its terms is compared with the labels of all pods of the namespace.
constexpr size_t kLongestSelector = 4096;

std::unique_ptr<Trigger> Make(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const std::string& ns = plan.context.ns;
  const std::string text = metadata.Text("podSelector");
  const absl::StatusOr<kube::Selector> selector =
      text.size() <= kLongestSelector ? kube::Selector::Parse(text)
                                      : absl::InvalidArgumentError(absl::StrCat(
                                            "it is longer than ", kLongestSelector, " bytes"));
  if (!selector.ok()) metadata.Wrong("podSelector", selector.status().message());
  OneMetric one{.metric = plan.Metric(absl::StrCat("workload-", ns), "value"), .value = {}};
  const bool by_node = metadata.Bool("groupByNode");
  one.activation = metadata.Number("activationValue");
  if (!plan.context.count_pods) metadata.Wrong("", "pods are not known here");
  if (!metadata.status().ok()) return nullptr;
  one.source = absl::StrCat("pods of ", selector->ToString());
  one.value = [ns, selector = *selector, by_node, count_pods = plan.context.count_pods](
                  absl::Time, absl::Duration) -> absl::StatusOr<double> {
    return count_pods(ns, selector, by_node);
  };
  return MakeOneMetricTrigger(std::move(one));
}

}  // namespace

extern constinit const TriggerType kKubernetesWorkload{
    .name = "kubernetes-workload",
    .says = "the number of another workload's pods",
    .keys = {kKeys},
    .make = Make};

}  // namespace flyball::scaler
