// Which autoscalers select which pods: two that share a pod must both stop.
//
// Pure. For worlds that are given whole; the pods of a cluster are in scaler/stores/pod_index.h.
//
// Source:  Kubernetes v1.34.4 pkg/controller/util/selectors/bimultimap.go as horizontal.go uses it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kube/objects/selector.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

// What each autoscaler selects, by its namespace and name; one whose selector is not known is not
// there.
using Selectors = std::map<std::pair<std::string, std::string>, kube::Selector>;

// "ns/name", sorted, of all autoscalers of `ns` that select one of the pods.
std::vector<std::string> Selecting(const Selectors& selectors, absl::string_view ns,
                                   absl::Span<const Pod* const> pods);

}  // namespace flyball::scaler
