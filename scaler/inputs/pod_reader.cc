#include "scaler/inputs/pod_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/inputs/fields.h"
#include "scaler/spec/shape.h"

namespace flyball::scaler {
namespace {

const Shape kRequestsShape{.fields = {{"requests", &kAnyShape, true}}};
const Shape kContainerShape{.fields = {{"name", &kStringShape},
                                       {"resources", &kRequestsShape},
                                       {"restartPolicy", &kStringShape, true}}};
const Shape kContainersShape{.type = Shape::Type::kList, .item = &kContainerShape};
const Shape kConditionShape{.fields = {{"type", &kStringShape},
                                       {"status", &kStringShape},
                                       {"lastTransitionTime", &kTimeShape}}};
const Shape kConditionsShape{.type = Shape::Type::kList, .item = &kConditionShape};
const Shape kMetadataShape{.fields = {{"name", &kStringShape},
                                      {"namespace", &kStringShape},
                                      {"labels", &kStringMapShape},
                                      {"deletionTimestamp", &kTimeShape, true}}};
const Shape kSpecShape{.fields = {{"containers", &kContainersShape},
                                  {"initContainers", &kContainersShape},
                                  {"resources", &kRequestsShape, true},
                                  {"overhead", &kAnyShape, true}}};
const Shape kStatusShape{.fields = {{"phase", &kStringShape},
                                    {"startTime", &kTimeShape, true},
                                    {"conditions", &kConditionsShape}}};
const Shape kPodShape{
    .fields = {{"metadata", &kMetadataShape}, {"spec", &kSpecShape}, {"status", &kStatusShape}}};

// The time that a missing transition stands for: Go's zero time, 1 January of the year 1.
constexpr absl::Time kZeroTime = absl::FromUnixSeconds(-62135596800);

PodPhase ReadPhase(absl::string_view text) {
  if (text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

absl::StatusOr<std::vector<Container>> ReadContainers(const Node& spec, absl::string_view key,
                                                      absl::string_view path) {
  std::vector<Container> out;
  const std::vector<Node>& items = ItemsOf(spec, key);
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string at = absl::StrCat(path, "spec.", key, "[", i, "].resources");
    Container container;
    container.name = std::string(items[i].FindText("name"));
    container.restarts_always = items[i].FindText("restartPolicy") == "Always";
    ASSIGN_OR_RETURN(container.requests,
                     ResourcesOf(ObjectOf(items[i], "resources"), "requests", at));
    out.push_back(std::move(container));
  }
  return out;
}

// The first condition of type Ready.
std::optional<ReadyCondition> ReadReady(const Node& status) {
  for (const Node& condition : ItemsOf(status, "conditions")) {
    if (condition.FindText("type") != "Ready") continue;
    const absl::string_view value = condition.FindText("status");
    ReadyCondition out;
    if (value == "True") out.status = ConditionStatus::kTrue;
    if (value == "False") out.status = ConditionStatus::kFalse;
    out.last_transition_time = TimeOf(condition, "lastTransitionTime").value_or(kZeroTime);
    return out;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Pod> ReadPod(const Node& node, absl::string_view path) {
  ASSIGN_OR_RETURN(const Node shaped, Conform(node, kPodShape, KeyMatch::kExact, path));
  const std::string at = path.empty() ? "" : absl::StrCat(path, ".");
  const Node& metadata = ObjectOf(shaped, "metadata");
  const Node& spec = ObjectOf(shaped, "spec");
  const Node& status = ObjectOf(shaped, "status");

  Pod pod;
  pod.ns = std::string(metadata.FindText("namespace"));
  pod.name = std::string(metadata.FindText("name"));
  pod.labels = LabelsOf(metadata, "labels");
  pod.deleting = metadata.Find("deletionTimestamp") != nullptr;
  pod.phase = ReadPhase(status.FindText("phase"));
  pod.start_time = TimeOf(status, "startTime");
  pod.ready = ReadReady(status);
  ASSIGN_OR_RETURN(pod.containers, ReadContainers(spec, "containers", at));
  ASSIGN_OR_RETURN(pod.init_containers, ReadContainers(spec, "initContainers", at));
  if (const Node* resources = spec.Find("resources")) {
    ASSIGN_OR_RETURN(pod.pod_requests,
                     ResourcesOf(*resources, "requests", absl::StrCat(at, "spec.resources")));
  }
  ASSIGN_OR_RETURN(pod.overhead, ResourcesOf(spec, "overhead", absl::StrCat(at, "spec")));
  return pod;
}

}  // namespace flyball::scaler
