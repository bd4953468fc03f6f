// The parameters that every list request of Kubernetes takes.
//
// Pure. Source: meta/v1 ListOptions and its validation, k8s.io/apimachinery 0.30.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "apiservice/field_selector.h"
#include "apiservice/url.h"
#include "apiservice/wire/status.h"
#include "kube/selector.h"

namespace flyball::apiservice {

struct ListParameters {
  kube::Selector label_selector;
  FieldSelector field_selector;
};

// kInvalidArgument with the text of the first bad one, in upstream's order: timeoutSeconds, limit,
// labelSelector, fieldSelector. Their values have no effect here beyond that (`limit`, `continue`).
absl::StatusOr<ListParameters> ParseListParameters(const Query& query);

// 422 for combinations of resourceVersionMatch and sendInitialEvents that upstream refuses.
std::optional<wire::Status> CheckListOptions(const Query& query);

}  // namespace flyball::apiservice
