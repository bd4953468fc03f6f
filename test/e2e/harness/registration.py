"""Registers an adapter on this machine with the cluster's aggregator.

There is no kube-proxy, so the Service is of type ExternalName: the aggregator then dials that name with the port of
the APIService.
"""

from . import kube, wait
from .client import Client

GROUPS = {
    "v1beta1.custom.metrics.k8s.io": ("custom.metrics.k8s.io", "v1beta1", 100),
    "v1beta2.custom.metrics.k8s.io": ("custom.metrics.k8s.io", "v1beta2", 200),
    "v1beta1.external.metrics.k8s.io": ("external.metrics.k8s.io", "v1beta1", 100),
    "v1beta1.metrics.k8s.io": ("metrics.k8s.io", "v1beta1", 100),
}
# Beside them, of flyball alone.
STABLE_METRICS = "v1.metrics.k8s.io"
_ALL = {**GROUPS, STABLE_METRICS: ("metrics.k8s.io", "v1", 200)}
NAMESPACE = "monitoring"


def register(admin: Client, service: str, port: int, names=tuple(GROUPS), ca_bundle: str = ""):
    """Points the named APIServices at 127.0.0.1:port. `ca_bundle` is base64; without it TLS is not verified."""
    kube.namespace(admin, NAMESPACE)
    kube.apply(admin, kube.make("Service", service, NAMESPACE,
                                spec={"type": "ExternalName", "externalName": "127.0.0.1"}))
    for name in names:
        group, version, priority = _ALL[name]
        kube.apply(admin, kube.make("APIService", name, spec={
            "group": group, "version": version, "groupPriorityMinimum": 100, "versionPriority": priority,
            "service": {"name": service, "namespace": NAMESPACE, "port": port},
            **({"caBundle": ca_bundle} if ca_bundle else {"insecureSkipTLSVerify": True})}))


def available(admin: Client, name: str) -> bool:
    """The APIService's own opinion."""
    conditions = kube.get(admin, "APIService", None, name).get("status", {}).get("conditions", [])
    return any(c["type"] == "Available" and c["status"] == "True" for c in conditions)


def is_served(admin: Client, name: str) -> bool:
    """The aggregator passes requests on, which it may begin to do only after it has found the APIService available."""
    group, version, _ = _ALL[name]
    return admin.get(f"/apis/{group}/{version}").status == 200


def wait_available(admin: Client, names=tuple(GROUPS), timeout: float = 40.0):
    for name in names:
        wait.until(lambda n=name: available(admin, n) and is_served(admin, n), f"APIService {name} available", timeout, every=0.2)


def unregister(admin: Client, names=tuple(GROUPS)):
    for name in names:
        kube.delete(admin, "APIService", None, name)
