"""Objects in the cluster: written through the REST API, idempotent, so that suites can share one cluster."""

import json

from .client import Answer, Client

_PLURAL = {
    "Namespace": ("v1", "namespaces", False), "Pod": ("v1", "pods", True), "Node": ("v1", "nodes", False),
    "Service": ("v1", "services", True), "ServiceAccount": ("v1", "serviceaccounts", True),
    "ConfigMap": ("v1", "configmaps", True),
    "Event": ("v1", "events", True), "Secret": ("v1", "secrets", True),
    "Lease": ("coordination.k8s.io/v1", "leases", True),
    "ReplicaSet": ("apps/v1", "replicasets", True),
    "Deployment": ("apps/v1", "deployments", True), "StatefulSet": ("apps/v1", "statefulsets", True), "Job": ("batch/v1", "jobs", True),
    "Ingress": ("networking.k8s.io/v1", "ingresses", True),
    "HorizontalPodAutoscaler": ("autoscaling/v2", "horizontalpodautoscalers", True),
    "APIService": ("apiregistration.k8s.io/v1", "apiservices", False),
    "CustomResourceDefinition": ("apiextensions.k8s.io/v1", "customresourcedefinitions", False),
    "ClusterRole": ("rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
    "Role": ("rbac.authorization.k8s.io/v1", "roles", True),
    "RoleBinding": ("rbac.authorization.k8s.io/v1", "rolebindings", True),
}


def register_kind(kind: str, api_version: str, plural: str, namespaced: bool):
    """Teaches this module a custom resource."""
    _PLURAL[kind] = (api_version, plural, namespaced)


def path(kind: str, namespace: str = None, name: str = None, subresource: str = None) -> str:
    version, plural, namespaced = _PLURAL[kind]
    parts = ["/api/v1" if version == "v1" else "/apis/" + version]
    if namespaced:
        parts.append("namespaces/" + namespace)
    parts += [p for p in (plural, name, subresource) if p]
    return "/".join(parts)


def make(kind: str, name: str, namespace: str = None, **fields) -> dict:
    """An object: kind, name and the rest as given (labels= goes into metadata)."""
    metadata = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if "labels" in fields:
        metadata["labels"] = fields.pop("labels")
    return {"apiVersion": _PLURAL[kind][0], "kind": kind, "metadata": metadata, **fields}


def expect(answer: Answer, *codes: int) -> dict:
    if answer.status not in codes:
        raise AssertionError(f"expected {codes}, got {answer}")
    return answer.json()


def apply(client: Client, item: dict) -> dict:
    """Creates the object or, when it is there, lays ours over it (server-side apply)."""
    meta = item["metadata"]
    where = path(item["kind"], meta.get("namespace"), meta["name"]) + "?fieldManager=e2e&force=true"
    return expect(client.request("PATCH", where, item, [("Content-Type", "application/apply-patch+yaml")]), 200, 201)


def patch(client: Client, kind: str, namespace: str, name: str, change: dict, subresource: str = None) -> dict:
    """A JSON merge patch."""
    return expect(client.request("PATCH", path(kind, namespace, name, subresource), json.dumps(change).encode(),
                                 [("Content-Type", "application/merge-patch+json")]), 200)


def get(client: Client, kind: str, namespace: str, name: str, subresource: str = None) -> dict:
    return expect(client.get(path(kind, namespace, name, subresource)), 200)


def listed(client: Client, kind: str, namespace: str = None, selector: str = "") -> list:
    query = f"?labelSelector={selector}" if selector else ""
    return expect(client.get(path(kind, namespace) + query), 200)["items"]


def delete(client: Client, kind: str, namespace: str, name: str):
    expect(client.request("DELETE", path(kind, namespace, name) + "?gracePeriodSeconds=0"), 200, 202, 404)


def namespace(client: Client, name: str):
    apply(client, make("Namespace", name))


def pod(client: Client, namespace_name: str, name: str, labels: dict):
    """A pod that claims to run: there is no node, so nobody contradicts."""
    apply(client, make("Pod", name, namespace_name, labels=labels,
                       spec={"containers": [{"name": "main", "image": "none.invalid/none"}]}))
    run_pod(client, namespace_name, name)


def run_pod(client: Client, namespace_name: str, name: str, address: str = ""):
    """Running and ready since a minute ago, as a kubelet would have written it, perhaps with an address."""
    since = "2026-01-01T00:00:00Z"
    patch(client, "Pod", namespace_name, name, {"status": {
        "phase": "Running", "startTime": since, **({"podIP": address, "podIPs": [{"ip": address}]} if address else {}),
        "conditions": [{"type": t, "status": "True", "lastTransitionTime": since}
                       for t in ("Initialized", "ContainersReady", "Ready", "PodScheduled")],
    }}, "status")


def node(client: Client, name: str, labels: dict = None):
    apply(client, make("Node", name, labels=labels or {}))


def crd(client: Client, group: str, plural: str, kind: str, scope: str, subresources: dict = None):
    more = {"subresources": subresources} if subresources else {}
    apply(client, make("CustomResourceDefinition", f"{plural}.{group}", spec={
        "group": group, "scope": scope,
        "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"},
        "versions": [{"name": "v1", "served": True, "storage": True, **more, "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}))
    register_kind(kind, f"{group}/v1", plural, scope == "Namespaced")


def service_account_token(client: Client, namespace_name: str, name: str, audiences=()) -> str:
    apply(client, make("ServiceAccount", name, namespace_name))
    spec = {"expirationSeconds": 7200}
    if audiences:
        spec["audiences"] = list(audiences)
    answer = client.request("POST", path("ServiceAccount", namespace_name, name, "token"),
                            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
    return expect(answer, 201)["status"]["token"]


def grant(client: Client, name: str, subjects: list, rules: list):
    """A ClusterRole with these rules, bound to these subjects."""
    apply(client, make("ClusterRole", name, rules=rules))
    bind(client, name, name, subjects)


def bind(client: Client, name: str, role: str, subjects: list):
    apply(client, make("ClusterRoleBinding", name, subjects=subjects, roleRef={
        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}))


def account(namespace_name: str, name: str) -> dict:
    return {"kind": "ServiceAccount", "namespace": namespace_name, "name": name}


def user(name: str) -> dict:
    return {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}
