#include "kube/objects/builtin_resources.h"

namespace flyball::kube {
namespace {

struct Row {
  absl::string_view group, version, plural, kind;
  bool namespaced;
};

constexpr bool kNamespaced = true;
constexpr bool kCluster = false;

constexpr Row kRows[] = {
    {"", "v1", "bindings", "Binding", kNamespaced},
    {"", "v1", "componentstatuses", "ComponentStatus", kCluster},
    {"", "v1", "configmaps", "ConfigMap", kNamespaced},
    {"", "v1", "endpoints", "Endpoints", kNamespaced},
    {"", "v1", "events", "Event", kNamespaced},
    {"", "v1", "limitranges", "LimitRange", kNamespaced},
    {"", "v1", "namespaces", "Namespace", kCluster},
    {"", "v1", "nodes", "Node", kCluster},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", kNamespaced},
    {"", "v1", "persistentvolumes", "PersistentVolume", kCluster},
    {"", "v1", "pods", "Pod", kNamespaced},
    {"", "v1", "podtemplates", "PodTemplate", kNamespaced},
    {"", "v1", "replicationcontrollers", "ReplicationController", kNamespaced},
    {"", "v1", "resourcequotas", "ResourceQuota", kNamespaced},
    {"", "v1", "secrets", "Secret", kNamespaced},
    {"", "v1", "serviceaccounts", "ServiceAccount", kNamespaced},
    {"", "v1", "services", "Service", kNamespaced},
    {"apiregistration.k8s.io", "v1", "apiservices", "APIService", kCluster},
    {"apps", "v1", "controllerrevisions", "ControllerRevision", kNamespaced},
    {"apps", "v1", "daemonsets", "DaemonSet", kNamespaced},
    {"apps", "v1", "deployments", "Deployment", kNamespaced},
    {"apps", "v1", "replicasets", "ReplicaSet", kNamespaced},
    {"apps", "v1", "statefulsets", "StatefulSet", kNamespaced},
    {"events.k8s.io", "v1", "events", "Event", kNamespaced},
    {"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", kCluster},
    {"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", kCluster},
    {"authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview",
     kNamespaced},
    {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", kCluster},
    {"authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", kCluster},
    {"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", kCluster},
    {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", kNamespaced},
    {"batch", "v1", "cronjobs", "CronJob", kNamespaced},
    {"batch", "v1", "jobs", "Job", kNamespaced},
    {"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest",
     kCluster},
    {"networking.k8s.io", "v1", "ingressclasses", "IngressClass", kCluster},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", kNamespaced},
    {"networking.k8s.io", "v1", "ipaddresses", "IPAddress", kCluster},
    {"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", kNamespaced},
    {"networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", kCluster},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", kNamespaced},
    {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", kCluster},
    {"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", kCluster},
    {"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", kNamespaced},
    {"rbac.authorization.k8s.io", "v1", "roles", "Role", kNamespaced},
    {"storage.k8s.io", "v1", "csidrivers", "CSIDriver", kCluster},
    {"storage.k8s.io", "v1", "csinodes", "CSINode", kCluster},
    {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", kNamespaced},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass", kCluster},
    {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", kCluster},
    {"storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", kCluster},
    {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
     "MutatingWebhookConfiguration", kCluster},
    {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
     "ValidatingAdmissionPolicy", kCluster},
    {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
     "ValidatingAdmissionPolicyBinding", kCluster},
    {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
     "ValidatingWebhookConfiguration", kCluster},
    {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
     kCluster},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", kCluster},
    {"coordination.k8s.io", "v1", "leases", "Lease", kNamespaced},
    {"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", kCluster},
    {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", kNamespaced},
    {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass", kCluster},
    {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", kNamespaced},
    {"resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", kNamespaced},
    {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice", kCluster},
    {"flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", kCluster},
    {"flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations",
     "PriorityLevelConfiguration", kCluster},
};

}  // namespace

std::vector<ResourceInfo> BuiltinResources() {
  std::vector<ResourceInfo> resources;
  for (const Row& row : kRows) {
    resources.push_back(ResourceNamed(row.group, row.version, row.plural, row.kind));
    resources.back().namespaced = row.namespaced;
  }
  return resources;
}

ResourceInfo ResourceNamed(absl::string_view group, absl::string_view version,
                           absl::string_view resource, absl::string_view kind) {
  return {.name = {std::string(group), std::string(resource)},
          .version = std::string(version),
          .kind = std::string(kind),
          .singular = {}};
}

}  // namespace flyball::kube
