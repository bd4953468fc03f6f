#include "scaler/math/pods.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"
#include "base/status_macros.h"

namespace flyball::scaler {
namespace {

using kube::Quantity;

// The resources that a pod may request for all its containers together.
bool IsPodLevelResource(absl::string_view name) {
  return name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
}

bool StatesPodLevel(const Pod& pod) {
  return pod.pod_requests.has_value() &&
         std::any_of(pod.pod_requests->begin(), pod.pod_requests->end(),
                     [](const auto& entry) { return IsPodLevelResource(entry.first); });
}

// Adds to a sum that stays absent, not zero, while nothing was stated.
absl::Status Add(std::optional<Quantity>& sum, const Quantity* more) {
  if (more == nullptr) return absl::OkStatus();
  if (!sum.has_value()) {
    sum = *more;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(sum, sum->Plus(*more));
  return absl::OkStatus();
}

void RaiseTo(std::optional<Quantity>& highest, const std::optional<Quantity>& other) {
  if (!other.has_value()) return;
  if (!highest.has_value() || other->Compare(*highest) > 0) highest = other;
}

// What the scheduler reserves: the sum over all that runs at the same time, or the maximum during
// start-up if that is higher.
absl::StatusOr<std::optional<Quantity>> SchedulerSum(const Pod& pod, absl::string_view resource) {
  std::optional<Quantity> running;
  for (const Container& container : pod.containers) {
    RETURN_IF_ERROR(Add(running, FindAmount(container.requests, resource)));
  }
  std::optional<Quantity> sidecars;  // those that start before the present init container
  std::optional<Quantity> peak;
  for (const Container& container : pod.init_containers) {
    const Quantity* request = FindAmount(container.requests, resource);
    if (container.restarts_always) {
      RETURN_IF_ERROR(Add(running, request));
      RETURN_IF_ERROR(Add(sidecars, request));
      RaiseTo(peak, sidecars);
    } else {
      std::optional<Quantity> moment = sidecars;
      RETURN_IF_ERROR(Add(moment, request));
      RaiseTo(peak, moment);
    }
  }
  RaiseTo(running, peak);
  return running;
}

absl::StatusOr<std::optional<Quantity>> PodLevelSum(const Pod& pod, absl::string_view resource) {
  const Quantity* stated =
      IsPodLevelResource(resource) ? FindAmount(*pod.pod_requests, resource) : nullptr;
  std::optional<Quantity> request;
  if (stated != nullptr) {
    request = *stated;
  } else {
    ASSIGN_OR_RETURN(request, SchedulerSum(pod, resource));
  }
  RETURN_IF_ERROR(Add(request, FindAmount(pod.overhead, resource)));
  return request;
}

absl::StatusOr<int64_t> PodLevelRequest(const Pod& pod, absl::string_view resource) {
  const absl::StatusOr<std::optional<Quantity>> request = PodLevelSum(pod, resource);
  if (!request.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("pod-level request for ", resource, " in Pod ",
                                                   pod.name, ": ", request.status().message()));
  }
  if (!request->has_value()) {
    return absl::NotFoundError(
        absl::StrCat("missing pod-level request for ", resource, " in Pod ", pod.name));
  }
  return (*request)->MilliValue();
}

// The containers that run as long as the pod does.
std::vector<const Container*> LastingContainers(const Pod& pod) {
  std::vector<const Container*> out;
  for (const Container& container : pod.containers) out.push_back(&container);
  for (const Container& container : pod.init_containers) {
    if (container.restarts_always) out.push_back(&container);
  }
  return out;
}

}  // namespace

absl::StatusOr<int64_t> PodRequest(const Pod& pod, const RequestQuery& query) {
  if (query.rules.pod_level && query.container.empty() && StatesPodLevel(pod)) {
    return PodLevelRequest(pod, query.resource);
  }
  int64_t sum = 0;
  for (const Container* container : LastingContainers(pod)) {
    if (!query.container.empty() && query.container != container->name) continue;
    const Quantity* request = FindAmount(container->requests, query.resource);
    if (request == nullptr) {
      return absl::NotFoundError(absl::StrCat("missing request for ", query.resource,
                                              " in container ", container->name, " of Pod ",
                                              pod.name));
    }
    sum = WrapAdd(sum, request->MilliValue());
    if (query.rules.container_must_exist && query.container == container->name) return sum;
  }
  if (query.rules.container_must_exist && !query.container.empty()) {
    return absl::NotFoundError(
        absl::StrCat("container ", query.container, " not found in Pod ", pod.name));
  }
  return sum;
}

}  // namespace flyball::scaler
