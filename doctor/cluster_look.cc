#include "doctor/cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "doctor/certificate.h"
#include "doctor/listing.h"
#include "kube/objects/builtin_resources.h"

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
    facts.version = Get("/version", ReadVersion);
    if (!facts.version.ok()) return facts;
    facts.server_version = Get("/version", scaler::ParseServerVersion);
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
  // Reads the object at a path with the reader of its kind.
  template <typename T>
  absl::StatusOr<T> Get(const std::string& path, absl::StatusOr<T> (*read)(absl::string_view)) {
    ASSIGN_OR_RETURN(const std::string json, api_.Get(path));
    return read(json);
  }

  // All objects of a resource, in one namespace and with these labels unless these are "".
  template <typename T>
  absl::StatusOr<std::vector<T>> List(const kube::ResourceInfo& resource, const std::string& ns,
                                      const std::string& labels,
                                      absl::StatusOr<T> (*read)(absl::string_view)) {
    ASSIGN_OR_RETURN(const std::vector<std::string> objects,
                     ListObjects(server_, resource, ns, labels, options_.timeout));
    std::vector<T> all;
    for (const std::string& object : objects) {
      ASSIGN_OR_RETURN(T one, read(object));
      all.push_back(std::move(one));
    }
    return all;
  }

  absl::StatusOr<std::vector<ApiService>> ApiServices() {
    ASSIGN_OR_RETURN(
        std::vector<ApiService> found,
        List(kube::ResourceNamed("apiregistration.k8s.io", "v1", "apiservices", "APIService"), "",
             "", ReadApiService));
    std::erase_if(found, [](const ApiService& api) {
      return api.group != kCustomGroup && api.group != kExternalGroup &&
             api.group != kResourceGroup;
    });
    return found;
  }

  Backend LookBehind(const ApiService& api) {
    Backend backend;
    backend.ns = api.service_ns;
    backend.name = api.service_name;
    backend.port = api.port;
    backend.service =
        Get(kube::ObjectPath("", "v1", backend.ns, "services", backend.name), ReadService);
    if (!backend.service.ok()) return backend;
    backend.endpoints = EndpointsOf(backend);
    backend.pods = PodsOf(backend);
    backend.shown_pem = ShownBy(backend);
    return backend;
  }

  absl::StatusOr<Endpoints> EndpointsOf(const Backend& backend) {
    ASSIGN_OR_RETURN(
        const std::vector<Endpoints> slices,
        List(kube::ResourceNamed("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
             backend.ns, absl::StrCat("kubernetes.io/service-name=", backend.name), ReadEndpoints));
    Endpoints sum;
    for (const Endpoints& endpoints : slices) sum.ready += endpoints.ready;
    return sum;
  }

  absl::StatusOr<std::vector<ServerPod>> PodsOf(const Backend& backend) {
    if (backend.service->selector.empty()) return std::vector<ServerPod>();
    ASSIGN_OR_RETURN(std::vector<ServerPod> pods,
                     List(kube::ResourceNamed("", "v1", "pods", "Pod"), backend.ns,
                          backend.service->selector, ReadServerPod));
    std::erase_if(pods, [](const ServerPod& pod) { return pod.leaving; });
    return pods;
  }

  // Outside of the cluster its addresses lead to other machines, or nowhere.
  absl::StatusOr<std::string> ShownBy(const Backend& backend) {
    const Service& service = *backend.service;
    std::string host = service.external_name;
    if (service.type != "ExternalName") {
      if (!options_.in_cluster) return absl::UnavailableError("this is outside of the cluster");
      host = service.cluster_ip == "None" ? backend.tls_name() : service.cluster_ip;
    }
    return ShownCertificates(host, backend.port, backend.tls_name(),
                             std::min(kDialTimeout, options_.timeout));
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
    if (answer.allowed.ok() && !*answer.allowed && right.ns.empty() && right.verb == "list" &&
        !right.everywhere) {
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
