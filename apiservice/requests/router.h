// Turns method and raw target into a typed request: the endpoint with its parameters, the
// attributes for authorization, and the error if there is one.
//
// Pure: no I/O, no clock; it does not know which groups are switched on (handler.h does).
//
// Source:  the routes of custom-metrics-apiserver 1.30, and RequestInfo of k8s.io/apiserver 0.30
//          for the attributes.
// Differs: a decoded `/` inside a segment never matches; an external metric may be called `status`
//          or `finalize`. The old prefix `watch/` has no routes, but is used for the attributes.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "apiservice/requests/field_selector.h"
#include "apiservice/requests/url.h"
#include "apiservice/wire/status.h"
#include "kube/objects/selector.h"

namespace flyball::apiservice {

inline constexpr absl::string_view kCustomGroup = "custom.metrics.k8s.io";
inline constexpr absl::string_view kExternalGroup = "external.metrics.k8s.io";
inline constexpr absl::string_view kResourceGroup = "metrics.k8s.io";

enum class Endpoint {
  kUnknownPath,   // 404 with the index of paths
  kIndex,         // / and /index.html
  kGroupList,     // /apis
  kGroup,         // /apis/G
  kResourceList,  // /apis/G/V
  kCustomMetric,
  kExternalMetric,
  kPodMetrics,   // one if `name` is set, else a list
  kNodeMetrics,  // the same
  kOpenApiV2,
  kOpenApiV3Index,
  kOpenApiV3,  // `name` is the rest of the path: apis/G/V
  kHealth,     // /healthz, /livez, /readyz: `resource` is the first word, `name` the check
  kMetrics,
  kVersion,
  kDebugRules,
  kDebugDecisions,
  kPages,  // further pages (http/server/pages.h)
};

// The attributes of a SubjectAccessReview and of the text of a 403.
struct Attributes {
  bool unreadable = false;  // the path ends with a prefix like `watch/`: 500 before all else
  bool is_resource = false;
  std::string verb;
  std::string path;  // of non-resource requests
  std::string group, version, resource, subresource, ns, name;
  kube::Selector label_selector;  // of lists; empty: not sent
};

struct RoutedRequest {
  Endpoint endpoint = Endpoint::kUnknownPath;
  Attributes attributes;

  std::string group, version;
  std::string ns;                 // "" = root-scoped or all namespaces
  bool namespace_itself = false;  // custom: `name` is the namespace
  std::string resource, name, metric;

  std::optional<bool> pretty;  // ?pretty=
  absl::Duration timeout;      // of the whole request
  Query query;                 // for parameters of one endpoint: verbose, exclude, hash

  // Filled by ReadParameters.
  kube::Selector label_selector;
  kube::Selector metric_selector;
  FieldSelector field_selector;

  bool IsMetricList() const;  // takes the parameters of lists

  // Set once its handler answers, if it is one whose answers the original counts (self_metrics.h).
  bool handled = false;

  std::optional<wire::Status> early_error;  // returned before the user is determined
  bool only_timeout = false;                // early_error is about ?timeout= alone
  std::optional<wire::Status> error;        // returned once the user is allowed
};

// A longer selector is left out of the review of its list, since the review is made for every
// client, before it is known whether the user is allowed.
inline constexpr size_t kMaxReviewedSelectorBytes = 16 << 10;

// Reads what is cheap to read, before the user is known. `max_timeout` is the default and the
// maximum of ?timeout=. The result's `query` holds views of `target`, which must outlive it.
RoutedRequest Route(absl::string_view method, absl::string_view target, absl::Duration max_timeout);

// Reads the parameters of a list, a metric or a single pod or node for an allowed user: sets the
// selectors, or `error`.
void ReadParameters(size_t max_selector_bytes, RoutedRequest* routed);

}  // namespace flyball::apiservice
