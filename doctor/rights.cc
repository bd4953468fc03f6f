#include "doctor/rights.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace flyball::doctor {
namespace {

constexpr char kRoles[] = "the chart's rbac.create=true";
constexpr char kScalerRoles[] =
    "the chart's rbac.create=true with scaler.enabled, scaler.mode and front.enabled";

class RightList {
 public:
  void Add(std::vector<std::string> verbs, const Right& right) {
    for (std::string& verb : verbs) {
      Right one = right;
      one.verb = std::move(verb);
      const bool there = std::any_of(all_.begin(), all_.end(), [&](const Right& other) {
        return other.verb == one.verb && other.group == one.group &&
               other.resource == one.resource && other.ns == one.ns && other.name == one.name;
      });
      if (!there) all_.push_back(std::move(one));
    }
  }

  // `right.without`: what does not work if they can't be listed; "": nothing works.
  void AddObjects(Right right) {
    Add({"list"}, right);
    right.without = right.everywhere ? "changes are seen later"
                                     : "changes are seen later, and requests list them";
    Add({"watch"}, right);
  }

  std::vector<Right> Take() && { return std::move(all_); }

 private:
  std::vector<Right> all_;
};

void AddServing(const Duties& duties, RightList& list) {
  constexpr char kDelegator[] =
      "a ClusterRoleBinding to ClusterRole system:auth-delegator (the chart's rbac.create=true)";
  list.Add({"create"},
           {.group = "authentication.k8s.io", .resource = "tokenreviews", .grant = kDelegator});
  list.Add(
      {"create"},
      {.group = "authorization.k8s.io", .resource = "subjectaccessreviews", .grant = kDelegator});
  if (duties.reads_authentication) {
    list.Add({"list", "watch"},
             {.resource = "configmaps",
              .ns = "kube-system",
              .name = "extension-apiserver-authentication",
              .grant = "a RoleBinding in kube-system to Role "
                       "extension-apiserver-authentication-reader (the chart's rbac.create=true)"});
  }
}

// The rights for what the live source scrapes.
void AddScraping(const Duties& duties, RightList& list) {
  if (duties.annotated_pods) {
    list.AddObjects({.resource = "pods",
                     .grant = "the chart's rbac.create=true with live.scrapeAnnotatedPods and "
                              "without rbac.namespaces",
                     .everywhere = true});
  }
  if (duties.kubelets) {
    list.Add({"get"}, {.resource = "nodes/metrics",
                       .grant = "the chart's rbac.create=true with live.kubelets.scrapeInterval"});
  }
}

void AddObjects(const Duties& duties, RightList& list) {
  const bool resource = duties.resource || duties.kubelets;
  if (duties.custom || resource) list.AddObjects({.resource = "pods", .grant = kRoles});
  if (resource) list.AddObjects({.resource = "nodes", .grant = kRoles});
  if (duties.custom) {
    // Autoscalers ask for all pods of a selector, but for each other object by its name.
    for (const kube::GroupResource& object : duties.objects) {
      list.AddObjects({.group = object.group,
                       .resource = object.resource,
                       .grant = "the chart's rbac.objects",
                       .without = "questions for all (*) of them fail"});
    }
  }
  for (const auto& [group, resource] :
       {std::pair("apiextensions.k8s.io", "customresourcedefinitions"),
        std::pair("apiregistration.k8s.io", "apiservices")}) {
    list.Add({"list", "watch"}, {.group = group,
                                 .resource = resource,
                                 .grant = "the chart's rbac.watchKinds=true",
                                 .without = "new kinds are known minutes later"});
  }
}

// The rights to find out which autoscalers ask for an external metric whose source fails, and how
// many replicas their targets have.
void AddAskers(RightList& list) {
  const auto add = [&](const char* verb, const char* group, const char* resource) {
    list.Add({verb}, {.group = group,
                      .resource = resource,
                      .grant = "the chart's rbac.readAutoscalers=true",
                      .without = "an onFailure that asks for replicas holds"});
  };
  add("list", "autoscaling", "horizontalpodautoscalers");
  for (const char* resource : {"deployments/scale", "replicasets/scale", "statefulsets/scale"}) {
    add("get", "apps", resource);
  }
  add("get", "", "replicationcontrollers/scale");
}

// The rights for scaling itself, in one namespace or in all.
void AddScaling(const Duties& duties, const std::string& ns, RightList& list) {
  const auto add = [&](std::vector<std::string> verbs, const char* group, const char* resource) {
    list.Add(std::move(verbs),
             {.group = group, .resource = resource, .ns = ns, .grant = kScalerRoles});
  };
  const bool act = duties.scaler_mode == "act";
  // Before a write the API server is asked whether an autoscaler still exists, if its watch fails.
  const std::vector<std::string> look = act ? std::vector<std::string>{"get", "list", "watch"}
                                            : std::vector<std::string>{"list", "watch"};
  add(look, "autoscaling", "horizontalpodautoscalers");
  add(look, "flyball.dev", "autoscalers");
  for (const char* resource : {"pods", "replicationcontrollers"}) {
    add({"list", "watch"}, "", resource);
  }
  for (const char* resource : {"deployments", "replicasets", "statefulsets"}) {
    add({"list", "watch"}, "apps", resource);
  }
  if (act || duties.scaler_mode == "advise") {
    add({"patch"}, "flyball.dev", "autoscalers/status");
    add({"create", "patch"}, "", "events");
  }
  if (!act) return;
  for (const char* resource : {"deployments/scale", "replicasets/scale", "statefulsets/scale"}) {
    add({"get", "update"}, "apps", resource);
  }
  add({"get", "update"}, "", "replicationcontrollers/scale");
  if (duties.scaler_hpa) add({"patch"}, "autoscaling", "horizontalpodautoscalers/status");
  if (!duties.front) return;
  add({"get"}, "", "services");
  add({"get", "list", "create", "update"}, "discovery.k8s.io", "endpointslices");
}

// "list pods", "list, watch services.v1 in kube-system", one text for each resource.
std::vector<std::string> Named(const std::vector<const RightAnswer*>& answers) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_resource;
  for (const RightAnswer* answer : answers) {
    const Right& right = answer->right;
    std::string resource = right.resource;
    if (!right.group.empty()) absl::StrAppend(&resource, " of ", right.group);
    if (!right.name.empty()) absl::StrAppend(&resource, " ", right.name);
    if (!right.ns.empty()) absl::StrAppend(&resource, " in ", right.ns);
    const auto found = std::find_if(by_resource.begin(), by_resource.end(),
                                    [&](const auto& entry) { return entry.first == resource; });
    if (found == by_resource.end()) {
      by_resource.push_back({std::move(resource), {right.verb}});
    } else {
      found->second.push_back(right.verb);
    }
  }
  std::vector<std::string> names;
  for (const auto& [resource, verbs] : by_resource) {
    names.push_back(absl::StrCat(absl::StrJoin(verbs, ", "), " ", resource));
  }
  return names;
}

}  // namespace

std::vector<Right> WantedRights(const Duties& duties) {
  RightList list;
  AddServing(duties, list);
  AddScraping(duties, list);
  AddObjects(duties, list);
  if (duties.asks_for_replicas) AddAskers(list);
  if (!duties.scaler) return std::move(list).Take();
  if (duties.scaler_namespaces.empty()) AddScaling(duties, "", list);
  for (const std::string& ns : duties.scaler_namespaces) AddScaling(duties, ns, list);
  for (const std::string& ns : duties.secrets_in) {
    list.Add({"get"}, {.resource = "secrets",
                       .ns = ns,
                       .grant = "the chart's rbac.create=true with scaler.triggerSecrets",
                       .without = "triggers that name a Secret are unknown"});
  }
  if (duties.leader_elect) {
    list.Add({"get", "create", "update"}, {.group = "coordination.k8s.io",
                                           .resource = "leases",
                                           .ns = duties.ns,
                                           .grant = kScalerRoles});
  }
  // The Envoys' pods are in the server's namespace.
  if (duties.front && !duties.scaler_namespaces.empty()) {
    list.Add({"list", "watch"}, {.resource = "pods", .ns = duties.ns, .grant = kScalerRoles});
  }
  list.Add({"get", "create", "update"},
           {.resource = "configmaps", .ns = duties.ns, .grant = kScalerRoles});
  return std::move(list).Take();
}

std::string ReviewOf(const Right& right) {
  const std::pair<std::string, std::string> resource =
      absl::StrSplit(right.resource, absl::MaxSplits('/', 1));
  nlohmann::json attributes = {
      {"verb", right.verb}, {"group", right.group}, {"resource", resource.first}};
  if (!resource.second.empty()) attributes["subresource"] = resource.second;
  if (!right.ns.empty()) attributes["namespace"] = right.ns;
  if (!right.name.empty()) attributes["name"] = right.name;
  const nlohmann::json review = {{"apiVersion", "authorization.k8s.io/v1"},
                                 {"kind", "SelfSubjectAccessReview"},
                                 {"spec", {{"resourceAttributes", std::move(attributes)}}}};
  return review.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Findings CheckRights(absl::string_view account, const std::vector<RightAnswer>& answers) {
  Findings findings;
  // Grouped by remedy, so that one forgotten binding gives one finding.
  std::map<std::pair<std::string, std::string>, std::vector<const RightAnswer*>> missing;
  size_t granted = 0, narrowed = 0;
  for (const RightAnswer& answer : answers) {
    if (!answer.allowed.ok()) {
      return {Doubt("rights",
                    absl::StrCat("the rights of ", account,
                                 " can't be asked for: ", answer.allowed.status().message()),
                    "run doctor as someone who may `impersonate` that account, or in its pod")};
    }
    if (*answer.allowed) {
      ++granted;
    } else if (!answer.asked_in.empty() && answer.allowed_in == answer.asked_in.size()) {
      ++narrowed;
    } else {
      missing[{answer.right.without, answer.right.grant}].push_back(&answer);
    }
  }
  for (const auto& [key, denied] : missing) {
    const auto& [without, grant] = key;
    std::string text = absl::StrCat(account, " may not ", absl::StrJoin(Named(denied), "; nor "),
                                    without.empty() ? "" : ": ", without);
    findings.push_back({without.empty() ? Level::kBad : Level::kDoubtful, "rights", std::move(text),
                        absl::StrCat("grant it by ", grant)});
  }
  if (missing.empty()) {
    findings.push_back(Good(
        "rights", absl::StrCat(account, " has the ", granted + narrowed, " rights that it needs",
                               narrowed == 0 ? "" : ", some of them by namespace")));
  }
  return findings;
}

}  // namespace flyball::doctor
