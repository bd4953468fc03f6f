#include "doctor/cluster.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "doctor/certificate.h"
#include "http/client/url.h"

namespace flyball::doctor {
namespace {

constexpr absl::Duration kEndsSoon = absl::Hours(14 * 24);

std::string ChartValueOf(absl::string_view group) {
  if (group == kCustomGroup) return "rules.custom or rules.default";
  if (group == kExternalGroup) {
    return "rules.external, or apiServices.external=true for what Autoscalers in mode Advise "
           "publish under scaler.mode=act";
  }
  return "rules.resource, or install metrics-server";
}

// The remedies for the reasons that the aggregator gives.
std::string FixOf(const ApiService& api) {
  const std::string service = absl::StrCat(api.service_ns, " get service,endpointslices ");
  if (api.reason == "ServiceNotFound") {
    return absl::StrCat(
        "point spec.service of the APIService to the Service of the metrics "
        "server, or `helm upgrade` its release; kubectl -n ",
        service, api.service_name);
  }
  if (api.reason == "MissingEndpoints" || api.reason == "EndpointsNotFound") {
    return absl::StrCat("get a pod ready behind it: kubectl -n ", service, api.service_name,
                        " and kubectl -n ", api.service_ns, " get pods");
  }
  if (absl::StrContains(api.message, "x509") || absl::StrContains(api.message, "certificate")) {
    return "set caBundle to the CA of the serving certificate: `helm upgrade` writes both";
  }
  if (absl::StrContains(api.message, "refused") || absl::StrContains(api.message, "timeout") ||
      absl::StrContains(api.message, "deadline") || absl::StrContains(api.message, "no route")) {
    return "let the control plane reach the pods' port (NetworkPolicy, firewall), or set "
           "hostNetwork.enabled";
  }
  return absl::StrCat("look at the log: kubectl -n ", api.service_ns,
                      " logs -l app.kubernetes.io/name=flyball");
}

// "in 3 days", "2 hours ago".
std::string Within(absl::Duration duration) {
  const absl::Duration size = absl::AbsDuration(duration);
  const int64_t days = absl::ToInt64Hours(size) / 24;
  const int64_t minutes = absl::ToInt64Minutes(size);
  const std::string amount = days > 0
                                 ? absl::StrCat(days, days == 1 ? " day" : " days")
                                 : absl::StrCat(minutes, minutes == 1 ? " minute" : " minutes");
  return duration < absl::ZeroDuration() ? absl::StrCat(amount, " ago")
                                         : absl::StrCat("in ", amount);
}

Finding CheckApiService(const ApiService& api) {
  if (api.service_name.empty()) {
    return Good("apiservice", absl::StrCat(api.name, " is served by the API server itself"));
  }
  const std::string held =
      absl::StrCat(api.name, " is held by Service ", api.service_ns, "/", api.service_name);
  if (api.available) return Good("apiservice", absl::StrCat(held, " and Available"));
  if (!api.judged) {
    return Doubt("apiservice", absl::StrCat(held, "; the API server has not looked at it yet"),
                 "wait some seconds and run this again");
  }
  return Bad("apiservice",
             absl::StrCat(held, " and not Available: ", api.reason, ": ", api.message), FixOf(api));
}

Finding CheckDates(const Validity& validity, const std::string& what, absl::Time now) {
  constexpr char kRenew[] =
      "`helm upgrade` renews it; with cert-manager: kubectl describe certificate";
  const std::string end = Within(validity.not_after - now);
  if (now > validity.not_after) {
    return Bad("certificate-dates", absl::StrCat(what, " ended ", end), kRenew);
  }
  if (now < validity.not_before) {
    return Bad("certificate-dates",
               absl::StrCat(what, " begins ", Within(validity.not_before - now)),
               "set the clocks of the machines right");
  }
  const std::string text = absl::StrCat(what, " ends ", end);
  return validity.not_after - now < kEndsSoon ? Doubt("certificate-dates", text, kRenew)
                                              : Good("certificate-dates", text);
}

Finding CheckService(const Backend& backend) {
  const std::string name = absl::StrCat("Service ", backend.full_name());
  const std::string get = absl::StrCat("kubectl -n ", backend.ns, " get pods ");
  if (absl::IsNotFound(backend.service.status())) {
    return Bad("service", absl::StrCat(name, " does not exist"),
               "`helm upgrade` the release, or correct spec.service of the APIService");
  }
  if (!backend.service.ok()) {
    return Doubt("service", absl::StrCat(name, ": ", backend.service.status().message()),
                 MayLook("get", "services"));
  }
  if (backend.service->type == "ExternalName") {
    return Good("service", absl::StrCat(name, " leads to ", backend.service->external_name));
  }
  if (!backend.endpoints.ok()) {
    return Doubt("service",
                 absl::StrCat("endpoints of ", backend.full_name(), ": ",
                              backend.endpoints.status().message()),
                 MayLook("list", "endpointslices.discovery.k8s.io"));
  }
  if (backend.endpoints->ready > 0) {
    const size_t ready = static_cast<size_t>(backend.endpoints->ready);
    return Good("service", absl::StrCat(name, " has ", Counted(ready, "ready endpoint")));
  }
  const std::string& selector = backend.service->selector;
  if (backend.pods.ok() && backend.pods->empty()) {
    return Bad(
        "service", absl::StrCat(name, " has no ready endpoint; no pod has the labels ", selector),
        absl::StrCat("make spec.selector of the Service the labels of the server's pods: ", get,
                     "--show-labels"));
  }
  return Bad("service", absl::StrCat(name, " has no ready endpoint"),
             absl::StrCat("get a pod ready: ", get, "-l ", selector));
}

// "v1beta1.metrics.k8s.io has", "4 APIServices have".
std::string HaveThey(const std::vector<const ApiService*>& apis) {
  return apis.size() == 1 ? absl::StrCat(apis[0]->name, " has")
                          : absl::StrCat(apis.size(), " APIServices have");
}

// Whether the API server trusts the certificate, for each of the APIServices that lead to it.
void CheckTrust(const std::vector<const ApiService*>& apis, const std::string& shown_pem,
                const Backend& backend, absl::Time now, Findings& findings) {
  std::vector<const ApiService*> trusting, insecure, rootless;
  for (const ApiService* api : apis) {
    if (api->insecure) {
      insecure.push_back(api);
      continue;
    }
    if (api->ca_bundle.empty()) {
      rootless.push_back(api);
      continue;
    }
    const absl::StatusOr<std::string> why =
        WhyNotTrusted(shown_pem, api->ca_bundle, backend.tls_name(), now);
    if (why.ok() && why->empty()) {
      trusting.push_back(api);
      continue;
    }
    findings.push_back(Bad(
        "certificate-trust",
        absl::StrCat(api->name, ": the API server refuses the certificate of ", backend.tls_name(),
                     ": ", why.ok() ? *why : absl::StrCat("caBundle: ", why.status().message())),
        "set spec.caBundle to the CA of a serving certificate that names this Service: "
        "`helm upgrade` writes both"));
  }
  if (!trusting.empty()) {
    findings.push_back(Good("certificate-trust",
                            absl::StrCat(HaveThey(trusting), " a caBundle that vouches for it as ",
                                         backend.tls_name())));
  }
  if (!insecure.empty()) {
    findings.push_back(
        Doubt("certificate-trust",
              absl::StrCat(HaveThey(insecure),
                           " insecureSkipTLSVerify: the API server trusts whoever answers for ",
                           backend.full_name()),
              "set certificates.verify=true, or spec.caBundle by hand"));
  }
  if (!rootless.empty()) {
    findings.push_back(
        Doubt("certificate-trust",
              absl::StrCat(HaveThey(rootless), " no caBundle: the API server's own roots decide"),
              "set spec.caBundle to the CA of the serving certificate"));
  }
}

}  // namespace

std::string MayLook(absl::string_view verb, absl::string_view what) {
  return absl::StrCat("run doctor as someone who may ", verb, " ", what, " (--kubeconfig)");
}

const ServerPod* Backend::server() const {
  if (!pods.ok()) return nullptr;
  const ServerPod* chosen = nullptr;
  for (const ServerPod& pod : *pods) {
    const bool serves = std::any_of(pod.args.begin(), pod.args.end(), [](const std::string& arg) {
      return absl::StartsWith(arg, "--config");
    });
    if (!serves) continue;
    // During a rollout there are pods of two versions; the newer one counts.
    if (chosen == nullptr ||
        std::tie(pod.ready, pod.created) > std::tie(chosen->ready, chosen->created)) {
      chosen = &pod;
    }
  }
  return chosen;
}

const Backend* ClusterFacts::BackendOf(const ApiService& api) const {
  for (const Backend& backend : backends) {
    if (backend.ns == api.service_ns && backend.name == api.service_name) return &backend;
  }
  return nullptr;
}

const Backend* ClusterFacts::RuleServer() const {
  for (const Backend& backend : backends) {
    if (backend.server() != nullptr) return &backend;
  }
  return nullptr;
}

Finding CheckApiServer(const ClusterFacts& facts) {
  if (facts.version.ok()) {
    return Good("api-server", absl::StrCat("Kubernetes ", *facts.version, " at ", facts.url));
  }
  return Bad("api-server",
             absl::StrCat("the API server at ", facts.url, ": ",
                          http::WithoutOrigin(facts.version.status().message(), facts.url)),
             "see that kubectl works with the same --kubeconfig");
}

Findings CheckApiServices(const ClusterFacts& facts, const std::vector<Wanted>& wanted) {
  Findings findings;
  if (!facts.api_services.ok()) {
    return {Doubt("apiservice",
                  absl::StrCat("APIServices: ", facts.api_services.status().message()),
                  MayLook("list", "apiservices.apiregistration.k8s.io"))};
  }
  for (const ApiService& api : *facts.api_services) findings.push_back(CheckApiService(api));
  for (const Wanted& want : wanted) {
    const bool there = std::any_of(facts.api_services->begin(), facts.api_services->end(),
                                   [&](const ApiService& api) { return api.group == want.group; });
    if (there) continue;
    findings.push_back(
        Bad("apiservice",
            absl::StrCat("no APIService for ", want.group, ", which is wanted by ", want.by),
            absl::StrCat("`helm upgrade` with apiServices.create=true and ",
                         ChartValueOf(want.group))));
  }
  return findings;
}

Findings CheckBackend(const Backend& backend) {
  Findings findings;
  const std::vector<ServerPod> none;
  for (const ServerPod& pod : backend.pods.ok() ? *backend.pods : none) {
    if (pod.ready) continue;
    findings.push_back(
        Doubt("server-pod",
              absl::StrCat("pod ", pod.ns, "/", pod.name,
                           " is not ready: ", pod.trouble.empty() ? pod.phase : pod.trouble),
              absl::StrCat("kubectl -n ", backend.ns, " logs ", pod.name, "; kubectl -n ",
                           backend.ns, " describe pod ", pod.name)));
  }
  findings.push_back(CheckService(backend));
  return findings;
}

Findings CheckCertificate(const ClusterFacts& facts, const Backend& backend, absl::Time now) {
  if (!facts.api_services.ok() || !backend.service.ok()) return {};
  std::vector<const ApiService*> served;
  for (const ApiService& api : *facts.api_services) {
    if (facts.BackendOf(api) == &backend) served.push_back(&api);
  }
  const std::string what = absl::StrCat("the certificate of ", backend.tls_name());
  if (!backend.shown_pem.ok()) {
    if (std::all_of(served.begin(), served.end(), [](const auto* api) { return api->available; })) {
      return {Good("certificate", absl::StrCat("the API server takes ", what,
                                               " (it can't be looked at from here)"))};
    }
    return {Doubt("certificate",
                  absl::StrCat(what, " can't be looked at: ", backend.shown_pem.status().message()),
                  "once the server answers, run doctor in the cluster to see its certificate")};
  }
  const absl::StatusOr<Validity> shown = ReadValidity(*backend.shown_pem);
  if (!shown.ok()) {
    return {Bad("certificate", absl::StrCat(what, ": ", shown.status().message()),
                "`helm upgrade` makes a new one")};
  }
  Findings findings = {CheckDates(*shown, what, now)};
  CheckTrust(served, *backend.shown_pem, backend, now, findings);
  return findings;
}

Finding CheckAuthentication(const ClusterFacts& facts) {
  constexpr char kMap[] = "ConfigMap kube-system/extension-apiserver-authentication";
  if (facts.authentication.ok()) {
    return Good("authentication",
                absl::StrCat(kMap, " names the front proxy that servers have to trust"));
  }
  const std::string text = absl::StrCat(kMap, ": ", facts.authentication.message());
  if (absl::IsPermissionDenied(facts.authentication)) {
    return Doubt("authentication", text, MayLook("get", "that ConfigMap"));
  }
  return Bad("authentication", text,
             "start kube-apiserver with --requestheader-client-ca-file: without it no aggregated "
             "API works");
}

}  // namespace flyball::doctor
