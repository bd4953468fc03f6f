#include "doctor/cluster_look.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "doctor/listing.h"
#include "doctor/tls_probe.h"

namespace flyball::doctor {
namespace {

constexpr char kReviews[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
constexpr absl::Duration kDialTimeout = absl::Seconds(3);
constexpr size_t kMaxNamespaces = 20;

class Looker {
 public:
  Looker(http::HttpTransport& server, Clock& clock, const LookOptions& options)
      : server_(server), options_(options), api_(server, clock, options.timeout) {}

  ClusterFacts Look() {
    ClusterFacts facts;
    facts.url = options_.url;
    facts.version = Version();
    if (!facts.version.ok()) return facts;
    facts.api_services = ApiServices();
    if (facts.api_services.ok()) {
      for (const ApiService& api : *facts.api_services) {
        if (api.service_name.empty() || facts.BackendOf(api) != nullptr) continue;
        facts.backends.push_back(LookBehind(api));
      }
    }
    facts.authentication = api_.Get(kube::ObjectPath("", "v1", "kube-system", "configmaps",
                                                     "extension-apiserver-authentication"))
                               .status();
    return facts;
  }

 private:
  ListQuery Query(absl::string_view group, absl::string_view resource, absl::string_view kind) {
    return {.resource = ResourceNamed(group, "v1", resource, kind), .timeout = options_.timeout};
  }

  absl::StatusOr<std::string> Version() {
    ASSIGN_OR_RETURN(const std::string json, api_.Get("/version"));
    return ReadVersion(json);
  }

  absl::StatusOr<std::vector<ApiService>> ApiServices() {
    ASSIGN_OR_RETURN(
        const std::vector<std::string> objects,
        ListObjects(server_, Query("apiregistration.k8s.io", "apiservices", "APIService")));
    std::vector<ApiService> found;
    for (const std::string& object : objects) {
      ASSIGN_OR_RETURN(ApiService api, ReadApiService(object));
      if (api.group == kCustomGroup || api.group == kExternalGroup || api.group == kResourceGroup) {
        found.push_back(std::move(api));
      }
    }
    return found;
  }

  Backend LookBehind(const ApiService& api) {
    Backend backend;
    backend.ns = api.service_ns;
    backend.name = api.service_name;
    backend.port = api.port;
    backend.service = ServiceOf(backend);
    if (!backend.service.ok()) return backend;
    backend.endpoints = EndpointsOf(backend);
    backend.pods = PodsOf(backend);
    backend.shown_pem = ShownBy(backend);
    return backend;
  }

  absl::StatusOr<Service> ServiceOf(const Backend& backend) {
    ASSIGN_OR_RETURN(const std::string json,
                     api_.Get(kube::ObjectPath("", "v1", backend.ns, "services", backend.name)));
    return ReadService(json);
  }

  absl::StatusOr<Endpoints> EndpointsOf(const Backend& backend) {
    ListQuery query = Query("discovery.k8s.io", "endpointslices", "EndpointSlice");
    query.ns = backend.ns;
    query.label_selector = absl::StrCat("kubernetes.io/service-name=", backend.name);
    ASSIGN_OR_RETURN(const std::vector<std::string> slices, ListObjects(server_, query));
    Endpoints sum;
    for (const std::string& slice : slices) {
      ASSIGN_OR_RETURN(const Endpoints endpoints, ReadEndpoints(slice));
      sum.ready += endpoints.ready;
      sum.unready += endpoints.unready;
    }
    return sum;
  }

  absl::StatusOr<std::vector<ServerPod>> PodsOf(const Backend& backend) {
    std::vector<ServerPod> pods;
    if (backend.service->selector.empty()) return pods;
    ListQuery query = Query("", "pods", "Pod");
    query.ns = backend.ns;
    query.label_selector = backend.service->selector;
    ASSIGN_OR_RETURN(const std::vector<std::string> objects, ListObjects(server_, query));
    for (const std::string& object : objects) {
      ASSIGN_OR_RETURN(ServerPod pod, ReadServerPod(object));
      if (!pod.leaving) pods.push_back(std::move(pod));
    }
    return pods;
  }

  // A cluster's addresses mean another machine, or none, outside of it.
  absl::StatusOr<std::string> ShownBy(const Backend& backend) {
    const Service& service = *backend.service;
    Address address = {.host = service.external_name, .port = backend.port};
    if (service.type != "ExternalName") {
      if (!options_.in_cluster) return absl::UnavailableError("this is outside of the cluster");
      address.host = service.cluster_ip == "None" ? backend.tls_name() : service.cluster_ip;
    }
    return ShownCertificates(address, backend.tls_name(), std::min(kDialTimeout, options_.timeout));
  }

  http::HttpTransport& server_;
  const LookOptions& options_;
  kube::ApiClient api_;
};

absl::StatusOr<bool> Ask(kube::ApiClient& api, const Right& right) {
  ASSIGN_OR_RETURN(const std::string answer, api.Create(kReviews, ReviewOf(right)));
  return ReadAllowed(answer);
}

}  // namespace

ClusterFacts LookAtCluster(http::HttpTransport& server, Clock& clock, const LookOptions& options) {
  return Looker(server, clock, options).Look();
}

std::vector<RightAnswer> AskRights(kube::ApiClient& api, const std::vector<Right>& rights,
                                   const std::vector<std::string>& namespaces) {
  std::vector<RightAnswer> answers;
  for (const Right& right : rights) {
    RightAnswer answer;
    answer.right = right;
    answer.allowed = Ask(api, right);
    if (answer.allowed.ok() && !*answer.allowed && right.ns.empty() && right.verb == "list") {
      for (const std::string& ns : namespaces) {
        if (answer.asked_in.size() == kMaxNamespaces) break;
        Right narrow = right;
        narrow.ns = ns;
        answer.asked_in.push_back(ns);
        answer.allowed_in += Ask(api, narrow).value_or(false);
      }
    }
    const bool asked = answer.allowed.ok();
    answers.push_back(std::move(answer));
    if (!asked) break;
  }
  return answers;
}

}  // namespace flyball::doctor
