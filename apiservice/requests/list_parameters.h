// The parameters that every list request of Kubernetes takes.
//
// Pure. Source: meta/v1 ListOptions and its validation, k8s.io/apimachinery 0.30.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "apiservice/requests/field_selector.h"
#include "apiservice/requests/url.h"
#include "apiservice/wire/status.h"
#include "kube/objects/selector.h"

namespace flyball::apiservice {

struct ListParameters {
  kube::Selector label_selector;
  FieldSelector field_selector;
};

// kInvalidArgument with the text of the first bad one, in upstream's order: timeoutSeconds, limit,
// labelSelector, fieldSelector (its form, not its fields). The first two, and `continue`, have no
// other effect. kResourceExhausted: a selector takes more than `max_selector_bytes`.
absl::StatusOr<ListParameters> ParseListParameters(const Query& query, size_t max_selector_bytes);

// The parameter `name` as a label selector; empty if it is absent. kInvalidArgument with the
// parser's text; kResourceExhausted: it takes more than `max_bytes`, where each key and value
// counts as its length plus 64 bytes. This is checked before anything is parsed.
absl::StatusOr<kube::Selector> ParseSelector(const Query& query, absl::string_view name,
                                             size_t max_bytes);

// 422 for combinations of resourceVersionMatch and sendInitialEvents that upstream refuses.
std::optional<wire::Status> CheckListOptions(const Query& query);

}  // namespace flyball::apiservice
