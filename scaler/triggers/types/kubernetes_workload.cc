// The number of pods of another workload in the namespace. Source: KEDA 2.20 kubernetes-workload.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/triggers/parts/one_metric_trigger.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

constexpr MetadataKey kKeys[] = {
    {"podSelector", KeyKind::kText, kRequired,
     "which pods are counted: a label selector such as `app=worker,tier in (a,b)`, of at most 32 "
     "requirements and 100 values"},
    {"value", KeyKind::kTarget, kRequired, "number of these pods for each replica"},
    {"groupByNode", KeyKind::kBool, "false", "`true`: the nodes of these pods are counted instead"},
    {"activationValue", KeyKind::kNumber, "0", "the trigger is active above this number"},
};

// Each term of a selector is compared with the labels of all pods of the namespace at each reading.
constexpr size_t kLongestSelector = 4096;
constexpr size_t kMostRequirements = 32;
constexpr size_t kMostValues = 100;

// Counting takes longer the more pods there are, so a namespace gets only some of the threads for
// it. No address of a server has a space.
constexpr char kLane[] = "pods in memory";

absl::StatusOr<kube::Selector> ReadSelector(const std::string& text) {
  if (text.size() > kLongestSelector) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is longer than ", kLongestSelector, " bytes"));
  }
  ASSIGN_OR_RETURN(kube::Selector selector, kube::Selector::Parse(text));
  size_t values = 0;
  for (const kube::Requirement& each : selector.requirements()) values += each.values.size();
  if (selector.requirements().size() > kMostRequirements || values > kMostValues) {
    return absl::InvalidArgumentError(absl::StrCat("it has more than ", kMostRequirements,
                                                   " requirements or ", kMostValues, " values"));
  }
  return selector;
}

std::unique_ptr<Trigger> Make(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const std::string& ns = plan.context.ns;
  const std::string text = metadata.Text("podSelector");
  const absl::StatusOr<kube::Selector> selector = ReadSelector(text);
  if (!selector.ok()) metadata.Wrong("podSelector", selector.status().message());
  OneMetric one{
      .metric = plan.Metric(absl::StrCat("workload-", ns), "value"), .server = kLane, .value = {}};
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
