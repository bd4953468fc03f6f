#include "doctor/cluster.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "doctor/certificate.h"

namespace flyball::doctor {
namespace {

constexpr absl::Duration kEndsSoon = absl::Hours(14 * 24);

std::string Text(const absl::Status& status) { return std::string(status.message()); }

std::string ChartValueOf(absl::string_view group) {
  if (group == kCustomGroup) return "rules.custom or rules.default";
  if (group == kExternalGroup) return "rules.external";
  return "rules.resource, or install metrics-server";
}

// What helps against the reasons that the aggregator gives.
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
    return "make caBundle the CA of the serving certificate: `helm upgrade` writes both";
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
  const std::string amount = days > 0 ? absl::StrCat(days, days == 1 ? " day" : " days")
                                      : absl::StrCat(absl::ToInt64Minutes(size), " minutes");
  return duration < absl::ZeroDuration() ? absl::StrCat(amount, " ago")
                                         : absl::StrCat("in ", amount);
}

void CheckApiService(const ApiService& api, Findings& findings) {
  if (api.service_name.empty()) {
    findings.Good("apiservice", absl::StrCat(api.name, " is served by the API server itself"));
    return;
  }
  const std::string held =
      absl::StrCat(api.name, " is held by Service ", api.service_ns, "/", api.service_name);
  if (api.available) {
    findings.Good("apiservice", absl::StrCat(held, " and Available"));
  } else if (!api.judged) {
    findings.Doubt("apiservice", absl::StrCat(held, "; the API server has not looked at it yet"),
                   "wait some seconds and run this again");
  } else {
    findings.Bad("apiservice",
                 absl::StrCat(held, " and not Available: ", api.reason, ": ", api.message),
                 FixOf(api));
  }
}

void CheckDates(const Certificate& certificate, const std::string& what, absl::Time now,
                Findings& findings) {
  constexpr char kRenew[] =
      "`helm upgrade` renews it; with cert-manager: kubectl describe certificate";
  if (now > certificate.not_after) {
    findings.Bad("certificate-dates",
                 absl::StrCat(what, " ended ", Within(certificate.not_after - now)), kRenew);
  } else if (now < certificate.not_before) {
    findings.Bad("certificate-dates",
                 absl::StrCat(what, " begins ", Within(certificate.not_before - now)),
                 "set the clocks of the machines right");
  } else if (certificate.not_after - now < kEndsSoon) {
    findings.Doubt("certificate-dates",
                   absl::StrCat(what, " ends ", Within(certificate.not_after - now)), kRenew);
  } else {
    findings.Good("certificate-dates",
                  absl::StrCat(what, " ends ", Within(certificate.not_after - now)));
  }
}

// "v1beta1.metrics.k8s.io has", "4 APIServices have".
std::string HaveThey(const std::vector<const ApiService*>& apis) {
  return apis.size() == 1 ? absl::StrCat(apis[0]->name, " has")
                          : absl::StrCat(apis.size(), " APIServices have");
}

// What the certificate is worth to the API server, by the APIServices that lead to it.
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
    findings.Bad(
        "certificate-trust",
        absl::StrCat(api->name, ": the API server refuses the certificate of ", backend.tls_name(),
                     ": ", why.ok() ? *why : absl::StrCat("caBundle: ", Text(why.status()))),
        "make spec.caBundle the CA of the serving certificate, which names that Service: "
        "`helm upgrade` writes both");
  }
  if (!trusting.empty()) {
    findings.Good("certificate-trust", absl::StrCat(HaveThey(trusting),
                                                    " a caBundle that vouches "
                                                    "for it as ",
                                                    backend.tls_name()));
  }
  if (!insecure.empty()) {
    findings.Doubt("certificate-trust",
                   absl::StrCat(HaveThey(insecure), " insecureSkipTLSVerify: whoever answers for ",
                                backend.full_name(), " is believed"),
                   "set certificates.verify=true, or spec.caBundle by hand");
  }
  if (!rootless.empty()) {
    findings.Doubt(
        "certificate-trust",
        absl::StrCat(HaveThey(rootless), " no caBundle: the API server's own roots decide"),
        "set spec.caBundle to the CA of the serving certificate");
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
    // While a new version replaces the last one there are pods of both: the new one is what is
    // wanted.
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

Findings CheckApiServer(const ClusterFacts& facts) {
  Findings findings;
  if (facts.version.ok()) {
    findings.Good("api-server", absl::StrCat("Kubernetes ", *facts.version, " at ", facts.url));
  } else {
    findings.Bad("api-server",
                 absl::StrCat("the API server at ", facts.url, ": ", Text(facts.version.status())),
                 "see that kubectl works with the same --kubeconfig");
  }
  return findings;
}

Findings CheckApiServices(const ClusterFacts& facts, const std::vector<Wanted>& wanted) {
  Findings findings;
  if (!facts.api_services.ok()) {
    findings.Doubt("apiservice", absl::StrCat("APIServices: ", Text(facts.api_services.status())),
                   MayLook("list", "apiservices.apiregistration.k8s.io"));
    return findings;
  }
  for (const ApiService& api : *facts.api_services) CheckApiService(api, findings);
  for (const Wanted& want : wanted) {
    const bool there = std::any_of(facts.api_services->begin(), facts.api_services->end(),
                                   [&](const ApiService& api) { return api.group == want.group; });
    if (there) continue;
    findings.Bad(
        "apiservice",
        absl::StrCat("no APIService for ", want.group, ", which is wanted by ", want.by),
        absl::StrCat("`helm upgrade` with apiServices.create=true and ", ChartValueOf(want.group)));
  }
  return findings;
}

Findings CheckBackend(const Backend& backend) {
  Findings findings;
  const std::string get = absl::StrCat("kubectl -n ", backend.ns, " ");
  if (absl::IsNotFound(backend.service.status())) {
    findings.Bad("service", absl::StrCat("Service ", backend.full_name(), " does not exist"),
                 "`helm upgrade` the release, or correct spec.service of the APIService");
    return findings;
  }
  if (!backend.service.ok()) {
    findings.Doubt(
        "service",
        absl::StrCat("Service ", backend.full_name(), ": ", Text(backend.service.status())),
        MayLook("get", "services"));
    return findings;
  }
  if (backend.pods.ok()) {
    for (const ServerPod& pod : *backend.pods) {
      if (pod.ready) continue;
      findings.Doubt("server-pod",
                     absl::StrCat("pod ", pod.ns, "/", pod.name,
                                  " is not ready: ", pod.trouble.empty() ? pod.phase : pod.trouble),
                     absl::StrCat(get, "logs ", pod.name, "; ", get, "describe pod ", pod.name));
    }
  }
  if (backend.service->type == "ExternalName") {
    findings.Good("service", absl::StrCat("Service ", backend.full_name(), " leads to ",
                                          backend.service->external_name));
    return findings;
  }
  if (!backend.endpoints.ok()) {
    findings.Doubt(
        "service",
        absl::StrCat("endpoints of ", backend.full_name(), ": ", Text(backend.endpoints.status())),
        MayLook("list", "endpointslices.discovery.k8s.io"));
  } else if (backend.endpoints->ready > 0) {
    findings.Good("service", absl::StrCat("Service ", backend.full_name(), " has ",
                                          Counted(static_cast<size_t>(backend.endpoints->ready),
                                                  "ready endpoint")));
  } else {
    const bool no_pods = backend.pods.ok() && backend.pods->empty();
    findings.Bad(
        "service",
        absl::StrCat(
            "Service ", backend.full_name(), " has no ready endpoint",
            no_pods ? absl::StrCat("; no pod has the labels ", backend.service->selector) : ""),
        no_pods
            ? absl::StrCat("make spec.selector of the Service the labels of the "
                           "server's pods: ",
                           get, "get pods --show-labels")
            : absl::StrCat("get a pod ready: ", get, "get pods -l ", backend.service->selector));
  }
  return findings;
}

Findings CheckCertificate(const ClusterFacts& facts, const Backend& backend, absl::Time now) {
  Findings findings;
  if (!facts.api_services.ok() || !backend.service.ok()) return findings;
  std::vector<const ApiService*> served;
  for (const ApiService& api : *facts.api_services) {
    if (facts.BackendOf(api) == &backend) served.push_back(&api);
  }
  if (!backend.shown_pem.ok()) {
    const bool accepted = std::all_of(served.begin(), served.end(),
                                      [](const ApiService* api) { return api->available; });
    if (accepted) {
      findings.Good("certificate",
                    absl::StrCat("the API server takes the certificate of ", backend.tls_name(),
                                 " (it can't be looked at from here)"));
    } else {
      findings.Doubt("certificate",
                     absl::StrCat("the certificate of ", backend.tls_name(),
                                  " can't be looked at: ", Text(backend.shown_pem.status())),
                     "once the server answers, run doctor in the cluster to see its certificate");
    }
    return findings;
  }
  const absl::StatusOr<std::vector<Certificate>> shown = ReadCertificates(*backend.shown_pem);
  if (!shown.ok()) {
    findings.Bad(
        "certificate",
        absl::StrCat("the certificate of ", backend.tls_name(), ": ", Text(shown.status())),
        "`helm upgrade` makes a new one");
    return findings;
  }
  CheckDates(shown->front(), absl::StrCat("the certificate of ", backend.tls_name()), now,
             findings);
  CheckTrust(served, *backend.shown_pem, backend, now, findings);
  return findings;
}

Findings CheckAuthentication(const ClusterFacts& facts) {
  Findings findings;
  constexpr char kMap[] = "ConfigMap kube-system/extension-apiserver-authentication";
  if (facts.authentication.ok()) {
    findings.Good("authentication",
                  absl::StrCat(kMap, " names the front proxy that is to be believed"));
  } else if (absl::IsPermissionDenied(facts.authentication)) {
    findings.Doubt("authentication", absl::StrCat(kMap, ": ", Text(facts.authentication)),
                   MayLook("get", "that ConfigMap"));
  } else {
    findings.Bad("authentication", absl::StrCat(kMap, ": ", Text(facts.authentication)),
                 "start kube-apiserver with --requestheader-client-ca-file: without it no "
                 "aggregated API works");
  }
  return findings;
}

}  // namespace flyball::doctor
