"""One target of each kind that the scaler knows by itself, as a restricted namespace takes it."""

from harness import kube

TARGETS = {"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "ReplicationController": "v1"}
POD = {"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}, "containers": [{
    "name": "main", "image": "none.invalid/none",
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}

for _kind, _version in TARGETS.items():
    kube.register_kind(_kind, _version, _kind.lower() + "s", True)
kube.register_kind("Autoscaler", "flyball.dev/v1alpha1", "autoscalers", True)


def workload(kind: str, name: str = "") -> dict:
    """With one replica, named after its kind."""
    name = name or kind.lower()
    labels = {"app": name}
    selector = labels if kind == "ReplicationController" else {"matchLabels": labels}
    return kube.make(kind, name, "shop", spec={"replicas": 1, "selector": selector, "template": {
        "metadata": {"labels": labels}, "spec": POD}, **({"serviceName": "none"} if kind == "StatefulSet" else {})})
