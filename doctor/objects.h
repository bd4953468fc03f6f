// What the doctor reads of a cluster's objects: bytes in, the few fields that a check looks at out.
//
// Pure. kInvalidArgument: the bytes are no such object. Fields that are absent or of another type
// are left at their default: an API server sends none, and the doctor must not fall over one.
#pragma once

#include <cstdint>
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
  bool judged = false;    // there is a condition Available
  bool available = false;
  std::string reason, message;  // of that condition
};
absl::StatusOr<ApiService> ReadApiService(absl::string_view json);

struct Service {
  std::string type = {};           // "ClusterIP", "ExternalName"
  std::string external_name = {};  // of that type
  std::string cluster_ip = {};     // "", "None"
  std::string selector = {};       // "app=web,tier=a"; "": none
};
absl::StatusOr<Service> ReadService(absl::string_view json);

// The addresses of one discovery.k8s.io/v1 EndpointSlice.
struct Endpoints {
  int ready = 0, unready = 0;
};
absl::StatusOr<Endpoints> ReadEndpoints(absl::string_view json);

// A pod behind the Service, and what its server was started with.
struct ServerPod {
  std::string ns, name;
  std::string created;  // as the API server writes times: the later, the greater
  std::string phase;
  bool leaving = false;  // it is being deleted
  bool ready = false;
  std::string service_account;
  std::vector<std::string> args;       // flags of the server, as given
  std::string config_map, config_key;  // where --config comes from; "": not from a ConfigMap
  std::string trouble;                 // "CrashLoopBackOff: back-off 5m0s …"
};
absl::StatusOr<ServerPod> ReadServerPod(absl::string_view json);

// One value of a ConfigMap's data. kNotFound: no such key.
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
  std::string object = {};  // "web-1" of custom and resource metrics, "" of external ones
  std::string value = {};   // a quantity as sent; of a pod's containers their amounts joined by "+"
  bool complete = true;     // of resource metrics: each container that was meant has the resource
  absl::Time at = absl::InfinitePast();
};
// Of custom.metrics.k8s.io and external.metrics.k8s.io.
absl::StatusOr<std::vector<MetricItem>> ReadMetricValues(absl::string_view json);
// Of metrics.k8s.io: the amounts of `resource`; `container` "" is all of them.
absl::StatusOr<std::vector<MetricItem>> ReadPodUsage(absl::string_view json,
                                                     absl::string_view resource,
                                                     absl::string_view container);

}  // namespace flyball::doctor
