#include "scaler/inputs/document_reader.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/spec/decode.h"

namespace flyball::scaler {
namespace {

// A pod as it is written. Its amounts are parsed after everything else has been found right.
struct WrittenResources {
  std::optional<Node> requests;
};
struct WrittenContainer {
  Container container;
  WrittenResources resources;
};
struct WrittenCondition {
  std::string type;
  std::string status;
  std::optional<absl::Time> time;
};
struct WrittenPod {
  Pod pod;
  std::string phase;
  std::vector<WrittenCondition> conditions;
  std::vector<WrittenContainer> containers;
  std::vector<WrittenContainer> init_containers;
  std::optional<WrittenResources> resources;
  std::optional<Node> overhead;
};

constexpr auto kResourcesFields = [](auto& field, WrittenResources& to) {
  field("requests", to.requests);
};
constexpr auto kContainerFields = [](auto& field, WrittenContainer& to) {
  field("name", to.container.name);
  field("resources", to.resources, kResourcesFields);
  std::string policy = to.container.restarts_always ? "Always" : "";
  field.OrElse("restartPolicy", policy, std::string());
  to.container.restarts_always = policy == "Always";
};
constexpr auto kMetadataFields = [](auto& field, Pod& to) {
  field("name", to.name);
  field("namespace", to.ns);
  field("labels", to.labels);
  field.template Presence<std::optional<absl::Time>>("deletionTimestamp", to.deleting);
};
constexpr auto kSpecFields = [](auto& field, WrittenPod& to) {
  field("containers", to.containers, kContainerFields);
  field("initContainers", to.init_containers, kContainerFields);
  field("resources", to.resources, kResourcesFields);
  field("overhead", to.overhead);
};
constexpr auto kStatusFields = [](auto& field, WrittenPod& to) {
  field("phase", to.phase);
  field("startTime", to.pod.start_time);
  field("conditions", to.conditions, [](auto& field, WrittenCondition& to) {
    field("type", to.type);
    field("status", to.status);
    field("lastTransitionTime", to.time);
  });
};
constexpr auto kPodFields = [](auto& field, WrittenPod& to) {
  field("metadata", to.pod, kMetadataFields);
  field("spec", to, kSpecFields);
  field("status", to, kStatusFields);
};

struct WrittenOwner {
  PodController controller;
  bool controls = false;
};
struct WrittenOwners {
  std::vector<WrittenOwner> list;
};
constexpr auto kOwnersFields = [](auto& field, WrittenOwners& to) {
  field("metadata", to, [](auto& field, WrittenOwners& to) {
    field("ownerReferences", to.list, [](auto& field, WrittenOwner& to) {
      field("kind", to.controller.kind);
      field("name", to.controller.name);
      field.OrElse("controller", to.controls, false);
    });
  });
};

struct WrittenUsage {
  std::string name;
  std::optional<Node> usage;
};

std::string Below(absl::string_view path, absl::string_view name) {
  return absl::StrCat(path, path.empty() ? "" : ".", name);
}

// A map of resource names to quantities, empty when absent; its errors begin with `path`.
absl::StatusOr<ResourceList> ReadResources(const std::optional<Node>& map, absl::string_view path) {
  ResourceList out;
  if (!map.has_value()) return out;
  if (!map->is_map()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected an object, got ", KindName(map->kind)));
  }
  for (const auto& [name, value] : map->members) {
    if (value.is_null()) continue;
    const bool written = value.kind == Node::Kind::kString || value.kind == Node::Kind::kNumber;
    const auto quantity = written ? kube::Quantity::Parse(value.text)
                                  : absl::InvalidArgumentError("expected a quantity like 500m");
    if (!quantity.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, "[", name, "]: ", quantity.status().message()));
    }
    out.emplace_back(name, *quantity);
  }
  return out;
}

absl::StatusOr<std::vector<Container>> ReadContainers(std::vector<WrittenContainer>& written,
                                                      absl::string_view path) {
  std::vector<Container> out;
  for (WrittenContainer& one : written) {
    ASSIGN_OR_RETURN(one.container.requests,
                     ReadResources(one.resources.requests,
                                   absl::StrCat(path, "[", out.size(), "].resources.requests")));
    out.push_back(std::move(one.container));
  }
  return out;
}

// The first condition of type Ready.
std::optional<ReadyCondition> ReadReady(const std::vector<WrittenCondition>& conditions) {
  for (const WrittenCondition& condition : conditions) {
    if (condition.type != "Ready") continue;
    return ReadyCondition{.status = ConditionStatusOf(condition.status),
                          .last_transition_time = condition.time.value_or(kGoZeroTime)};
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Pod> ReadPod(const Node& node, absl::string_view path) {
  WrittenPod written;
  RETURN_IF_ERROR(Decode(node, KeyMatch::kExact, written, kPodFields, path));
  const std::string spec = Below(path, "spec.");
  Pod& pod = written.pod;
  pod.phase = PodPhaseOf(written.phase);
  pod.ready = ReadReady(written.conditions);
  ASSIGN_OR_RETURN(pod.containers, ReadContainers(written.containers, spec + "containers"));
  ASSIGN_OR_RETURN(pod.init_containers,
                   ReadContainers(written.init_containers, spec + "initContainers"));
  if (written.resources.has_value()) {
    ASSIGN_OR_RETURN(pod.pod_requests,
                     ReadResources(written.resources->requests, spec + "resources.requests"));
  }
  ASSIGN_OR_RETURN(pod.overhead, ReadResources(written.overhead, spec + "overhead"));
  return std::move(pod);
}

absl::StatusOr<PodController> ReadPodController(const Node& pod, absl::string_view path) {
  WrittenOwners owners;
  RETURN_IF_ERROR(Decode(pod, KeyMatch::kExact, owners, kOwnersFields, path));
  PodController out;
  for (WrittenOwner& owner : owners.list) {
    if (owner.controls) out = std::move(owner.controller);
  }
  return out;
}

absl::StatusOr<PodMetrics> ReadPodMetrics(const Node& node, absl::string_view path) {
  PodMetrics out;
  std::string window;
  std::vector<WrittenUsage> containers;
  RETURN_IF_ERROR(Decode(
      node, KeyMatch::kExact, out,
      [&](auto& field, PodMetrics& to) {
        field("metadata", to, [](auto& field, PodMetrics& to) { field("name", to.name); });
        field("timestamp", to.timestamp);
        field("window", window);
        field("containers", containers, [](auto& field, WrittenUsage& to) {
          field("name", to.name);
          field("usage", to.usage);
        });
      },
      path));
  if (!window.empty() && !absl::ParseDuration(window, &out.window)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Below(path, "window"), ": expected a duration like 30s, got \"", window, "\""));
  }
  for (WrittenUsage& written : containers) {
    PodMetrics::ContainerUsage& container = out.containers.emplace_back();
    container.name = std::move(written.name);
    ASSIGN_OR_RETURN(
        container.usage,
        ReadResources(written.usage, absl::StrCat(Below(path, "containers["),
                                                  out.containers.size() - 1, "].usage")));
  }
  return out;
}

absl::StatusOr<ObjectMetric> ReadObjectMetricValue(const Node& node, absl::string_view path) {
  ObjectMetric out;
  const int64_t absent = absl::ToInt64Seconds(out.window);
  int64_t window_seconds = absent;
  RETURN_IF_ERROR(Decode(
      node, KeyMatch::kExact, out,
      [&](auto& field, ObjectMetric& to) {
        field("describedObject", to,
              [](auto& field, ObjectMetric& to) { field("name", to.object_name); });
        field("timestamp", to.timestamp);
        field.OrElse("windowSeconds", window_seconds, absent);
        field("value", to.value);
      },
      path));
  out.window = absl::Seconds(window_seconds);
  return out;
}

absl::StatusOr<ExternalMetric> ReadExternalMetricValue(const Node& node, absl::string_view path) {
  ExternalMetric out;
  RETURN_IF_ERROR(Decode(
      node, KeyMatch::kExact, out,
      [](auto& field, ExternalMetric& to) {
        field("timestamp", to.timestamp);
        field("value", to.value);
      },
      path));
  return out;
}

}  // namespace flyball::scaler
