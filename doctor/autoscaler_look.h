// Gathers what autoscaler.h checks. Reads only.
//
// Blocking; each call ends within its timeout.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "doctor/autoscaler.h"
#include "doctor/metric_look.h"
#include "http/client/transport.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::doctor {

// HPAs and, where the kind is defined, Autoscalers; `ns` "" is all namespaces. Sorted by namespace,
// HPAs first. An error is that of listing HPAs.
absl::StatusOr<std::vector<ListedAutoscaler>> ListAutoscalers(http::HttpTransport& server,
                                                              absl::string_view ns,
                                                              absl::Duration timeout);

// Whether both write the scale of one object. `default_mode` is the mode of Autoscalers that do not
// name one.
bool AreRivals(const ListedAutoscaler& a, const ListedAutoscaler& b, scaler::Mode default_mode);

struct AutoscalerLookDeps {
  http::HttpTransport& server;
  kube::ApiClient& api;
  const kube::RestMapper& mapper;
  MetricLooker& metrics;
  scaler::Mode default_mode = scaler::Mode::kShadow;
  absl::Duration timeout = absl::Seconds(10);
};

// `all` are the autoscalers among which rivals are looked for.
AutoscalerFacts LookAtAutoscaler(const ListedAutoscaler& one,
                                 const std::vector<ListedAutoscaler>& all,
                                 const AutoscalerLookDeps& deps);

}  // namespace flyball::doctor
