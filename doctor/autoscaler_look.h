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
#include "scaler/spec/own_spec.h"

namespace flyball::doctor {

// An autoscaler as the cluster holds it.
struct Listed {
  bool own = false;
  scaler::Autoscaler spec;
  scaler::OwnSpec beyond;  // of our own kind
  std::string error;       // what the parser refuses
};

// HPAs and, where the kind is defined, Autoscalers; `ns` "" is all namespaces. Sorted by namespace,
// HPAs first. An error is that of listing HPAs.
absl::StatusOr<std::vector<Listed>> ListAutoscalers(http::HttpTransport& server,
                                                    absl::string_view ns, absl::Duration timeout);

// Whether both write the scale of one object. `default_mode`: of Autoscalers that don't say theirs.
bool AreRivals(const Listed& a, const Listed& b, scaler::Mode default_mode);

class AutoscalerLooker {
 public:
  struct Deps {
    http::HttpTransport& server;
    kube::ApiClient& api;
    const kube::RestMapper& mapper;
    MetricLooker& metrics;
    scaler::Mode default_mode = scaler::Mode::kShadow;
    absl::Duration timeout = absl::Seconds(10);
  };

  explicit AutoscalerLooker(const Deps& deps) : deps_(deps) {}

  // `all`: every autoscaler that could be a rival.
  AutoscalerFacts Look(const Listed& one, const std::vector<Listed>& all);

 private:
  void LookAtTarget(AutoscalerFacts& facts);
  void LookAtPods(AutoscalerFacts& facts);

  const Deps deps_;
};

}  // namespace flyball::doctor
