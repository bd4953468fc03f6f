// Reads the few fields of a cluster's objects that the doctor's checks need.
//
// Pure. kInvalidArgument: the bytes are no such object. A field that is absent or has another type
// keeps its default: no API server sends such a field, and it must not stop the doctor.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::doctor {

// apiregistration.k8s.io/v1 APIService.
struct ApiService {
  std::string name;                      // "v1beta1.custom.metrics.k8s.io"
  std::string group;                     // "custom.metrics.k8s.io"
  std::string service_ns, service_name;  // "": served by the API server itself
  int port = 443;
  bool insecure = false;  // insecureSkipTLSVerify
  std::string ca_bundle;  // PEM
  bool judged = false;    // whether it has the condition Available
  bool available = false;
  std::string reason, message;  // of that condition
};
absl::StatusOr<ApiService> ReadApiService(absl::string_view json);

struct Service {
  std::string type = {};           // "ClusterIP", "ExternalName"
  std::string external_name = {};  // if the type is ExternalName
  std::string cluster_ip = {};     // "", "None"
  std::string selector = {};       // "app=web,tier=a"; "": none
};
absl::StatusOr<Service> ReadService(absl::string_view json);

// The addresses of one discovery.k8s.io/v1 EndpointSlice.
struct Endpoints {
  int ready = 0;
};
absl::StatusOr<Endpoints> ReadEndpoints(absl::string_view json);

// A pod of the Service, and the arguments of its server.
struct ServerPod {
  std::string ns, name;
  std::string created;  // as the API server writes times, so that later ones compare greater
  std::string phase;
  bool leaving = false;  // it is being deleted
  bool ready = false;
  std::string service_account;
  std::vector<std::string> args;       // the server's flags as they are given
  std::string config_map, config_key;  // the source of --config; "": not a ConfigMap
  std::string trouble;                 // "CrashLoopBackOff: back-off 5m0s …"
};
absl::StatusOr<ServerPod> ReadServerPod(absl::string_view json);

// One value of a ConfigMap's data. kNotFound: it has no such key.
absl::StatusOr<std::string> ReadConfigKey(absl::string_view json, absl::string_view key);

// gitVersion of /version.
absl::StatusOr<std::string> ReadVersion(absl::string_view json);

// The preferred version of an APIGroup.
absl::StatusOr<std::string> ReadPreferredVersion(absl::string_view json);

// The names of an APIResourceList: "pods/http_requests".
absl::StatusOr<std::vector<std::string>> ReadResourceNames(absl::string_view json);

// status.allowed of an access review.
absl::StatusOr<bool> ReadAllowed(absl::string_view json);

// One item of a metrics API's list.
struct MetricItem {
  std::string object = {};  // "web-1" for custom and resource metrics, "" for external ones
  std::string value = {};   // a quantity as sent; those of several containers are joined by "+"
  bool complete = true;     // resource metrics: each container that is asked for has the resource
  absl::Time at = absl::InfinitePast();
};
// Reads answers of custom.metrics.k8s.io and external.metrics.k8s.io.
absl::StatusOr<std::vector<MetricItem>> ReadMetricValues(absl::string_view json);
// Reads the amounts of `resource` from answers of metrics.k8s.io; `container` "" means all.
absl::StatusOr<std::vector<MetricItem>> ReadPodUsage(absl::string_view json,
                                                     absl::string_view resource,
                                                     absl::string_view container);

}  // namespace flyball::doctor
